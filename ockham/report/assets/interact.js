// What a chart answers to the pointer and to the keyboard: the mark nearest to it, in a tooltip.
function answerPointerAndKeys(chart, state, { svg, plot, tooltip, spoken }) {
  let pointed = null;

  function show(mark, speak) {
    pointed = mark;
    svg.querySelectorAll(".halo").forEach((old) => old.remove());
    if (mark.box) {
      const [x, y, width, height] = mark.box;
      svg.append(element("rect", { class: "halo", x, y, width, height, rx: 2 }));
    } else {
      svg.append(element("circle", { class: "halo", cx: mark.x, cy: mark.y, r: 6 }));
    }
    const rows = mark.rows.map(([name, value]) =>
      element("tr", {}, [element("th", {}, name), element("td", {}, value)]),
    );
    tooltip.replaceChildren(element("strong", {}, mark.title), element("table", {}, rows));
    tooltip.hidden = false;
    placeTooltip(mark);
    if (speak) spoken.textContent = mark.title + ": " + mark.rows.map((row) => row.join(" ")).join(", ");
  }

  function placeTooltip(mark) {
    const scale = svg.clientWidth / state.width || 1;
    const x = mark.x * scale,
      y = mark.y * scale;
    const width = tooltip.offsetWidth,
      height = tooltip.offsetHeight;
    const left = x + 14 + width <= plot.clientWidth ? x + 14 : x - 14 - width;
    tooltip.style.left = Math.max(0, Math.min(left, plot.clientWidth - width)) + "px";
    const top = chart.nearest === "y" ? y + 16 : y - height - 10; // names stand above their rows: not over them
    tooltip.style.top = Math.max(-height / 2, top) + "px";
  }

  function hide() {
    pointed = null;
    tooltip.hidden = true;
    svg.querySelectorAll(".halo").forEach((old) => old.remove());
  }

  function nearest(event) {
    const box = svg.getBoundingClientRect();
    const scale = state.width / box.width;
    const x = (event.clientX - box.left) * scale,
      y = (event.clientY - box.top) * scale;
    const inside = state.marks.find(
      (m) => m.box && x >= m.box[0] && x <= m.box[0] + m.box[2] && y >= m.box[1] && y <= m.box[1] + m.box[3],
    );
    if (inside) return inside;
    const weight = { x: [1, 0.001], y: [0.001, 1], xy: [1, 1] }[chart.nearest || "xy"];
    let best = null,
      least = Infinity;
    for (const mark of state.marks) {
      const distance = weight[0] * (mark.x - x) ** 2 + weight[1] * (mark.y - y) ** 2;
      if (distance < least) {
        least = distance;
        best = mark;
      }
    }
    return best;
  }

  function answerPointer(event) {
    const mark = nearest(event);
    if (mark && mark !== pointed) show(mark, false);
  }
  svg.addEventListener("pointermove", answerPointer);
  svg.addEventListener("pointerdown", answerPointer);
  svg.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "touch") return;
    if (document.activeElement === svg && state.focusMark) show(state.focusMark, false);
    else hide();
  });
  svg.addEventListener("focus", () => {
    if (!svg.matches(":focus-visible")) return;
    state.focusMark = state.focusMark || state.marks[0];
    if (state.focusMark) show(state.focusMark, true);
  });
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return hide();
    const target =
      state.marks.length && stepMark(chart, state.marks, pointed || state.focusMark || state.marks[0], event.key);
    if (!target) return;
    event.preventDefault();
    state.focusMark = target;
    show(target, true);
  });
}

// The mark that a key leads to; undefined when the key means nothing here.
function stepMark(chart, marks, from, key) {
  const clamp = (list, index) => list[Math.max(0, Math.min(list.length - 1, index))];
  if (chart.columns) {
    const at = marks.indexOf(from),
      columns = chart.columns(),
      column = at % columns;
    if (key === "ArrowRight") return column + 1 < columns ? marks[at + 1] : from;
    if (key === "ArrowLeft") return column > 0 ? marks[at - 1] : from;
    if (key === "ArrowUp") return marks[at - columns] || from;
    if (key === "ArrowDown") return marks[at + columns] || from;
  }
  const same = marks.filter((mark) => mark.series === from.series),
    at = same.indexOf(from);
  const along = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10 };
  if (chart.nearest === "y") Object.assign(along, { ArrowDown: 1, ArrowUp: -1 });
  if (key in along) return clamp(same, at + along[key]);
  if (key === "Home") return same[0];
  if (key === "End") return same[same.length - 1];
  if (key !== "ArrowUp" && key !== "ArrowDown") return undefined;
  const series = [...new Set(marks.map((mark) => mark.series))];
  const wanted = clamp(series, series.indexOf(from.series) + (key === "ArrowDown" ? 1 : -1));
  return wanted === from.series
    ? from
    : marks
        .filter((mark) => mark.series === wanted)
        .reduce((best, mark) => (Math.abs(mark.x - from.x) < Math.abs(best.x - from.x) ? mark : best));
}
