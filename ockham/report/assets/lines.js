// Lines in a frame, with a mark at every point.

// series: [{ name, index, points: [{ x, y, title, rows }], dots }]; options: { x, y: axes, diagonal, square, rule: { x, name } }
function drawLines(svg, width, series, options) {
  const all = series.flatMap((line) => line.points);
  const usable = (value, log) => isNumber(value) && (!log || value > 0);
  const domainOf = (axis, key) =>
    axis.domain ||
    padExtent(
      finiteExtent(all.map((p) => p[key]).filter((v) => usable(v, axis.log))),
      axis.pad === undefined ? 0.05 : axis.pad,
      axis.log,
    );
  const axes = {
    x: { ...options.x, domain: domainOf(options.x, "x") },
    y: { ...options.y, domain: domainOf(options.y, "y") },
  };
  const frame = drawFrame(svg, width, { ...axes, square: options.square });
  if (options.diagonal)
    frame.body.append(
      element("path", { class: "reference", d: linePath([0, 1].map((v) => [frame.x(v), frame.y(v)])) }),
    );
  if (options.rule && usable(options.rule, axes.x.log)) {
    const at = frame.x(options.rule);
    frame.body.append(element("line", { class: "reference", x1: at, x2: at, y1: frame.top, y2: frame.bottom }));
  }
  const marks = [];
  // The first series is the selected one: drawn last, on top.
  for (const line of [...series].reverse()) {
    const at = line.points.map((p) =>
      usable(p.x, axes.x.log) && usable(p.y, axes.y.log) ? [frame.x(p.x), frame.y(p.y)] : [NaN, NaN],
    );
    const group = element("g", { class: "line " + seriesClass(line.index) + (line.index === 0 ? " strong" : "") });
    group.append(
      element("path", {
        d: linePath(at),
        "stroke-dasharray": line.dash === undefined ? seriesDash(line.index) : line.dash,
      }),
    );
    const drawn = at.filter(([px, py]) => isNumber(px) && isNumber(py));
    if (line.dots || drawn.length === 1) group.append(element("path", { class: "dots", d: dotPath(drawn, 3) }));
    frame.body.append(group);
  }
  for (const line of series)
    for (const p of line.points)
      if (usable(p.x, axes.x.log) && usable(p.y, axes.y.log)) {
        const x = frame.x(p.x),
          y = frame.y(p.y);
        if (y <= frame.bottom + 1 && y >= frame.top - 5)
          marks.push({ x, y, title: p.title, rows: p.rows, series: line.index });
      }
  return marks;
}

function lineLegend(series) {
  return series.map((line) => ({
    name: line.name,
    series: line.index,
    kind: "line",
    dash: line.dash === undefined ? seriesDash(line.index) : line.dash,
  }));
}

function linesTable(series, xName, yName, first) {
  return {
    head: [first || "Network", xName, yName],
    rows: series.flatMap((line) => line.points.map((p) => [line.name, p.x, p.y])),
  };
}
