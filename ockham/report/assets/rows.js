// Rows under an axis, one per name. Names stand above their rows, so that long ones fit.
const ROW = 42;

// rows: [{ name, value }]; paint(row, group, x, middle) draws one and gives its mark.
function drawRows(svg, width, rows, axis, paint) {
  const left = 10,
    right = width - 18,
    top = 6,
    bottom = top + rows.length * ROW + 4,
    height = bottom + 42;
  const x = makeScale(axis.domain, [left, right], axis.log);
  svg.setAttribute("viewBox", "0 0 " + width + " " + height);
  const grid = element("g", { class: "grid-lines", "aria-hidden": "true" });
  const labels = element("g", { class: "ticks", "aria-hidden": "true" });
  let taken = -Infinity;
  for (const tick of x.ticks(Math.max(2, Math.floor((right - left) / 90)))) {
    const at = x(tick.value),
      half = textWidth(tick.text) / 2;
    grid.append(element("line", { x1: at, x2: at, y1: top, y2: bottom, class: "faint" }));
    const centre = Math.max(half, Math.min(at, width - half));
    if (centre - half < taken + 10) continue;
    labels.append(element("text", { x: centre, y: bottom + 15, "text-anchor": "middle" }, tick.text));
    taken = centre + half;
  }
  grid.append(element("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "base" }));
  labels.append(
    element(
      "text",
      { x: (left + right) / 2, y: height - 6, "text-anchor": "middle", class: "axis" },
      shorten(axis.label, right - left),
    ),
  );
  svg.append(grid, labels);
  return rows.map((row, i) => {
    const middle = top + i * ROW + 28;
    const value = textWidth(row.value) + 16;
    labels.append(
      element(
        "text",
        { x: left, y: middle - 13, class: i === 0 && axis.stressFirst ? "name strong" : "name" },
        shorten(row.name, right - left - value),
      ),
    );
    labels.append(element("text", { x: right, y: middle - 13, "text-anchor": "end", class: "value" }, row.value));
    const group = element("g", { class: "row " + seriesClass(0) });
    svg.append(group);
    const mark = paint(row, group, x, middle);
    if (isNumber(mark.end) && mark.end < left)
      group.append(element("path", { class: "beyond", d: `M3 ${middle}l9 -6v12z` }));
    return { ...mark, title: row.name, box: [2, top + i * ROW + 2, width - 4, ROW - 2], y: middle };
  });
}
