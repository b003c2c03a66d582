// A chart in its figure: controls, legend, the drawing, tooltip, and the table behind it.
// chart: { label, draw(svg, width) -> marks, table() -> { head, rows }, legend, controls, nearest, columns }
// mark: { x, y, title, rows: [[name, value]], series, box: [x, y, width, height] }
function mountChart(figure, chart) {
  const plot = element("div", { class: "plot" });
  const svg = element("svg", { tabindex: 0, role: "img", "aria-roledescription": "interactive chart" });
  svg.setAttribute(
    "aria-label",
    chart.label + ". Use the arrow keys to read the values; the table below has them all.",
  );
  const tooltip = element("div", { class: "tooltip", hidden: "" });
  const spoken = element("p", { class: "unseen", role: "status" });
  plot.append(svg, tooltip, spoken);

  const legend = element("ul", { class: "legend" });
  const details = element("details", {}, [
    element("summary", {}, "Data table"),
    element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Data table of " + chart.label }),
  ]);
  const state = { marks: [], width: 0 };

  function draw(given) {
    const width = given || Math.round(plot.clientWidth);
    if (width < 50) return;
    state.width = width;
    svg.replaceChildren();
    state.marks = chart.draw(svg, width);
    legend.replaceChildren(...(chart.legend ? chart.legend() : []).map(legendEntry));
    legend.hidden = !legend.childElementCount;
    state.focusMark = null;
    tooltip.hidden = true;
    if (details.open) fillTable(details.lastChild, chart.table());
  }
  if (chart.controls)
    figure.append(
      element(
        "div",
        { class: "controls" },
        chart.controls.map((control) => makeControl(control, () => draw())),
      ),
    );
  figure.append(legend, plot, details);
  details.addEventListener("toggle", () => {
    if (details.open) fillTable(details.lastChild, chart.table());
  });
  answerPointerAndKeys(chart, state, { svg, plot, tooltip, spoken });
  draw();
  new ResizeObserver(() => {
    if (!state.printing && Math.round(plot.clientWidth) !== state.width) requestAnimationFrame(() => draw());
  }).observe(plot);
  // Paper is narrower: drawn for its width, or the text would shrink with the chart.
  addEventListener("beforeprint", () => {
    state.printing = true;
    draw(figure.classList.contains("wide") ? 700 : 340);
  });
  addEventListener("afterprint", () => {
    state.printing = false;
    draw();
  });
}

// kind: the shape, and maybe a class that changes its looks: "line", "dot data", "diamond hollow", "band", ...
function legendEntry({ name, series, kind, dash }) {
  const shape = kind.split(" ")[0];
  const swatch = element("svg", {
    class: seriesClass(series || 0) + " swatch " + kind,
    viewBox: "0 0 22 12",
    "aria-hidden": "true",
  });
  if (shape === "line") swatch.append(element("line", { x1: 1, x2: 21, y1: 6, y2: 6, "stroke-dasharray": dash }));
  else if (shape === "dot") swatch.append(element("path", { d: dotPath([[11, 6]], 4) }));
  else if (shape === "diamond") swatch.append(element("path", { d: diamondPath([[11, 6]], 5) }));
  else swatch.append(element("rect", { x: 1, y: 1, width: 20, height: 10, rx: 2 }));
  return element("li", {}, [swatch, element("span", {}, name)]);
}

// control: { label, options: [[value, text]], value, choose(value) }
function makeControl(control, draw) {
  const select = element(
    "select",
    {},
    control.options.map(([value, text]) => element("option", { value }, text)),
  );
  select.value = control.value;
  select.addEventListener("change", () => {
    control.choose(select.value);
    draw();
  });
  return element("label", {}, [control.label + " ", select]);
}

function fillTable(place, { head, rows }) {
  const cell = (value) =>
    typeof value === "number" || value === null || value === undefined ? formatNumber(value) : value;
  const header = element(
    "tr",
    {},
    head.map((name) => element("th", { scope: "col" }, name)),
  );
  const body = rows.map((row) =>
    element(
      "tr",
      {},
      row.map((value, i) =>
        element("td", { class: i > 0 || typeof value === "number" ? "number" : null }, cell(value)),
      ),
    ),
  );
  place.replaceChildren(element("table", {}, [element("thead", {}, header), element("tbody", {}, body)]));
}
