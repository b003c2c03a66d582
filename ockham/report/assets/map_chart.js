// Two inputs: class probabilities, or the mean, as a map. The colour of the class is laid over the page's own background, so that
// the map follows the theme by itself.
const LEVELS = 12;

function mapChart(report, index) {
  const map = report.maps[index];
  const columns = map.x1.length,
    rows = map.x2.length,
    classes = map.values.length;
  const [least, most] = finiteExtent(map.values[0]);
  let view = "all";
  const value = (surface, i1, i2) => map.values[surface][i2 * columns + i1];

  // Which colour a cell has, and how strong in 0 .. 1.
  function paintOf(i1, i2) {
    if (!map.probabilities) return [0, (value(0, i1, i2) - least) / (most - least || 1) || 0];
    if (view !== "all") return [Number(view), value(Number(view), i1, i2) || 0];
    const winner = winnerAt(i1, i2);
    return [winner, Math.max(0, (value(winner, i1, i2) - 1 / classes) / (1 - 1 / classes) || 0)];
  }
  function winnerAt(i1, i2) {
    let winner = 0;
    for (let c = 1; c < classes; ++c) if (value(c, i1, i2) > value(winner, i1, i2)) winner = c;
    return winner;
  }
  const edges = (grid) =>
    grid
      .map((v, i) => (i ? (v + grid[i - 1]) / 2 : v - (grid.length > 1 ? (grid[1] - v) / 2 : 0.5)))
      .concat([grid[grid.length - 1] + (grid.length > 1 ? (grid[grid.length - 1] - grid[grid.length - 2]) / 2 : 0.5)]);

  function draw(svg, width) {
    const e1 = edges(map.x1),
      e2 = edges(map.x2); // of the cells; at whole pixels, or seams show
    const frame = drawFrame(svg, width, {
      x: { domain: [e1[0], e1[columns]], label: map.input1 },
      y: { domain: [e2[0], e2[rows]], label: map.input2 },
      height: Math.max(300, Math.min(540, width * 0.62)),
    });
    const left = (i1) => Math.round(frame.x(e1[i1])),
      bottom = (i2) => Math.round(frame.y(e2[i2]));
    const cells = element("g", { class: "map", "shape-rendering": "crispEdges" });
    for (let i2 = 0; i2 < rows; ++i2) {
      const y = bottom(i2 + 1),
        height = bottom(i2) - y;
      for (let from = 0, to; from < columns; from = to) {
        const level = (i1) => {
          const [colour, strength] = paintOf(i1, i2);
          return colour * 100 + Math.round(LEVELS * strength);
        };
        for (to = from + 1; to < columns && level(to) === level(from); ++to);
        const [colour, strength] = paintOf(from, i2);
        cells.append(
          element("rect", {
            class: seriesClass(colour),
            x: left(from),
            y,
            width: left(to) - left(from),
            height,
            "fill-opacity": ((0.62 * Math.round(LEVELS * strength)) / LEVELS).toFixed(3),
          }),
        );
      }
    }
    frame.body.append(cells);
    if (map.probabilities) drawBoundaries(frame);
    drawData(frame);
    const marks = [];
    for (let i2 = rows - 1; i2 >= 0; --i2)
      for (let i1 = 0; i1 < columns; ++i1) {
        marks.push({
          x: frame.x(map.x1[i1]),
          y: frame.y(map.x2[i2]),
          box: [left(i1), bottom(i2 + 1), left(i1 + 1) - left(i1), bottom(i2) - bottom(i2 + 1)],
          title: map.probabilities ? map.surfaces[winnerAt(i1, i2)] : map.surfaces[0],
          rows: readings(i1, i2),
        });
      }
    return marks;
  }

  function readings(i1, i2) {
    const place = [
      [shorten(map.input1, 150), formatNumber(map.x1[i1])],
      [shorten(map.input2, 150), formatNumber(map.x2[i2])],
    ];
    if (!map.probabilities) return place.concat([["mean", formatNumber(value(0, i1, i2))]]);
    const likely = map.surfaces.map((name, c) => [name, value(c, i1, i2)]).sort((a, b) => b[1] - a[1]);
    return place.concat(likely.slice(0, 6).map(([name, p]) => ["p(" + shorten(name, 150) + ")", formatPercent(p)]));
  }

  // Marching squares, on the lead of a class over the best of the others.
  function drawBoundaries(frame) {
    let path = "";
    const shownClasses = classes === 2 ? [1] : map.surfaces.map((_, c) => c);
    for (const c of shownClasses) {
      const lead = (i1, i2) =>
        value(c, i1, i2) - Math.max(...map.values.map((_, other) => (other === c ? -1 : value(other, i1, i2))));
      for (let i2 = 0; i2 + 1 < rows; ++i2)
        for (let i1 = 0; i1 + 1 < columns; ++i1) {
          const corners = [
            [i1, i2],
            [i1 + 1, i2],
            [i1 + 1, i2 + 1],
            [i1, i2 + 1],
          ];
          const leads = corners.map(([a, b]) => lead(a, b)),
            crossings = [];
          for (let k = 0; k < 4; ++k) {
            const l = (k + 1) % 4;
            if (leads[k] > 0 === leads[l] > 0) continue;
            const t = leads[k] / (leads[k] - leads[l]);
            const between = (grid, axis) => grid[corners[k][axis]] * (1 - t) + grid[corners[l][axis]] * t;
            crossings.push([frame.x(between(map.x1, 0)), frame.y(between(map.x2, 1))]);
          }
          for (let k = 0; k + 1 < crossings.length; k += 2) path += linePath([crossings[k], crossings[k + 1]]);
        }
    }
    frame.body.append(element("path", { class: "boundary", d: path }));
  }

  function drawData(frame) {
    for (const [split, series] of SPLITS) {
      const points = map[split],
        groups = new Map();
      points.x1.forEach((x1, i) => {
        const group = map.probabilities ? points.target[i] : 0;
        if (isNumber(x1) && isNumber(points.x2[i]))
          groups.set(group, (groups.get(group) || []).concat([[frame.x(x1), frame.y(points.x2[i])]]));
      });
      for (const [group, at] of groups)
        frame.body.append(
          element("path", {
            class: "samples " + (map.probabilities ? seriesClass(group || 0) : "data"),
            d: (series ? diamondPath : dotPath)(
              at,
              (series ? 4.2 : 3) * Math.min(1, (frame.right - frame.left) / 500 + 0.2),
            ),
          }),
        );
    }
  }

  const options = [["all", "the most probable class"]].concat(
    map.surfaces.map((name, c) => [String(c), "probability of " + name]),
  );
  return {
    label: map.probabilities
      ? "Class probabilities over " + map.input1 + " and " + map.input2
      : "Prediction over " + map.input1 + " and " + map.input2,
    draw,
    columns: () => columns,
    controls: map.probabilities
      ? [
          {
            label: "Show",
            value: view,
            options,
            choose: (chosen) => {
              view = chosen;
            },
          },
        ]
      : undefined,
    legend: () =>
      (map.probabilities
        ? map.surfaces.map((name, c) => ({ name, series: c, kind: "band" }))
        : [
            { name: formatNumber(least), kind: "outer", series: 0 },
            { name: formatNumber(most), kind: "band", series: 0 },
          ]
      ).concat(
        map.train.x1.length ? [{ name: "training data", kind: "dot data" }] : [],
        map.test.x1.length ? [{ name: "test data", kind: "diamond data" }] : [],
      ),
    table: () => ({
      head: [map.input1, map.input2].concat(map.surfaces),
      rows: map.x2.flatMap((x2, i2) =>
        map.x1.map((x1, i1) => [x1, x2].concat(map.surfaces.map((_, c) => value(c, i1, i2)))),
      ),
    }),
  };
}
