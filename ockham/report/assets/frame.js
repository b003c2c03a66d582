// SVG elements, axes and grid.
const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes, children) {
  const svg = element.svg.has(name);
  const node = svg ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {}))
    if (value !== undefined && value !== null) node.setAttribute(key, value);
  for (const child of [].concat(children === undefined ? [] : children)) node.append(child);
  return node;
}
element.svg = new Set(["svg", "g", "path", "line", "rect", "circle", "text", "title", "clipPath", "defs"]);

let clipCount = 0;
const measuring = document.createElement("canvas").getContext("2d");

function textWidth(text, size) {
  measuring.font = (size || 12) + "px system-ui, sans-serif";
  return measuring.measureText(text).width;
}

function shorten(text, room, size) {
  if (textWidth(text, size) <= room) return text;
  let kept = [...text];
  while (kept.length > 1 && textWidth(kept.join("") + "\u2026", size) > room) kept.pop();
  return kept.join("") + "\u2026";
}

function seriesClass(index) {
  return "s" + (index % 8);
}

// Lines and dots beyond the eighth differ by their dashes too, and the later ones of the eight for good measure.
function seriesDash(index) {
  return [null, "7 3", "2 3", "9 3 2 3"][Math.floor((index % 16) / 4)];
}

// Draws axes, and gives { x, y, left, right, top, bottom, body }: scales, edges in pixels and the clipped group for marks.
// axes: { x: { domain, label, log }, y: { ... }, height, square }
function drawFrame(svg, width, axes) {
  const top = 10,
    right = width - 14;
  let height = axes.square
    ? Math.min(width, 460)
    : axes.height || Math.round(Math.min(360, Math.max(240, width * 0.6)));
  const bottom = height - 44;
  const yTicks = makeScale(axes.y.domain, [bottom, top], axes.y.log).ticks(
    Math.max(3, Math.floor((bottom - top) / 44)),
  );
  const left = Math.ceil(Math.max(...yTicks.map((tick) => textWidth(tick.text)), 10)) + 32;
  const x = makeScale(axes.x.domain, [left, right], axes.x.log);
  const y = makeScale(axes.y.domain, [bottom, top], axes.y.log);
  svg.setAttribute("viewBox", "0 0 " + width + " " + height);

  const grid = element("g", { class: "grid-lines", "aria-hidden": "true" });
  const labels = element("g", { class: "ticks", "aria-hidden": "true" });
  for (const tick of yTicks) {
    const at = y(tick.value);
    grid.append(element("line", { x1: left, x2: right, y1: at, y2: at }));
    labels.append(element("text", { x: left - 7, y: at + 4, "text-anchor": "end" }, tick.text));
  }
  let taken = -Infinity;
  const room = Math.max(3, Math.floor((right - left) / 70));
  for (const tick of x.ticks(room)) {
    const at = x(tick.value),
      half = textWidth(tick.text) / 2;
    grid.append(element("line", { x1: at, x2: at, y1: top, y2: bottom, class: "faint" }));
    const centre = Math.min(at, width - half - 1);
    if (centre - half < taken + 8) continue;
    labels.append(element("text", { x: centre, y: bottom + 17, "text-anchor": "middle" }, tick.text));
    taken = centre + half;
  }
  grid.append(element("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "base" }));
  const xLabel = shorten(axes.x.label, right - left),
    yLabel = shorten(axes.y.label, bottom - top);
  labels.append(
    element("text", { x: (left + right) / 2, y: height - 7, "text-anchor": "middle", class: "axis" }, xLabel),
  );
  const turn = "translate(12," + (top + bottom) / 2 + ") rotate(-90)";
  labels.append(element("text", { transform: turn, "text-anchor": "middle", class: "axis" }, yLabel));
  const clip = "clip" + ++clipCount;
  const box = element("rect", { x: left, y: top - 4, width: Math.max(0, right - left + 4), height: bottom - top + 8 });
  const body = element("g", { "clip-path": "url(#" + clip + ")" });
  svg.append(element("defs", {}, element("clipPath", { id: clip }, box)), grid, labels, body);
  return { x, y, left, right, top, bottom, height, body };
}

// A path through the points that are numbers; gaps elsewhere.
function linePath(points) {
  let path = "",
    pen = "M";
  for (const [px, py] of points) {
    if (!isNumber(px) || !isNumber(py)) {
      pen = "M";
      continue;
    }
    path += pen + px.toFixed(1) + " " + py.toFixed(1);
    pen = "L";
  }
  return path;
}

function dotPath(points, radius) {
  const r = radius;
  return points
    .map(
      ([px, py]) =>
        "M" +
        (px - r).toFixed(1) +
        " " +
        py.toFixed(1) +
        "a" +
        r +
        " " +
        r +
        " 0 1 0 " +
        2 * r +
        " 0a" +
        r +
        " " +
        r +
        " 0 1 0 " +
        -2 * r +
        " 0",
    )
    .join("");
}

function diamondPath(points, radius) {
  const r = radius;
  return points
    .map(
      ([px, py]) =>
        "M" +
        (px - r).toFixed(1) +
        " " +
        py.toFixed(1) +
        "l" +
        r +
        " " +
        -r +
        "l" +
        r +
        " " +
        r +
        "l" +
        -r +
        " " +
        r +
        "z",
    )
    .join("");
}
