// Regression: predictions against targets, residuals, and how far they are from the standard normal.
const SPLITS = [
  ["train", 0],
  ["test", 1],
];

function splitLegend(counts) {
  return SPLITS.filter(([split]) => counts[split]).map(([split, series]) => ({
    name: split,
    series,
    kind: series ? "diamond" : "dot",
  }));
}

// points: { train: [{ x, y, title, rows }], test: [...] }; reference: two points of a line
function drawPoints(svg, width, points, axes, reference) {
  const all = SPLITS.flatMap(([split]) => points[split] || []);
  const domain = (key) => padExtent(finiteExtent(all.map((p) => p[key])), 0.04);
  const both = axes.same ? padExtent(finiteExtent(all.flatMap((p) => [p.x, p.y])), 0.04) : null;
  const frame = drawFrame(svg, width, {
    x: { domain: both || domain("x"), label: axes.x },
    y: { domain: both || domain("y"), label: axes.y },
    square: true,
  });
  const ends = both || domain("x");
  frame.body.append(
    element("path", { class: "reference", d: linePath(ends.map((v) => [frame.x(v), frame.y(reference(v))])) }),
  );
  const marks = [];
  for (const [split, series] of SPLITS) {
    const placed = (points[split] || [])
      .map((p) => ({ ...p, x: frame.x(p.x), y: frame.y(p.y), series }))
      .filter((p) => isNumber(p.x) && isNumber(p.y));
    const radius = placed.length > 600 ? 2 : 3;
    const shape = series ? diamondPath : dotPath;
    frame.body.append(
      element("path", {
        class: "points " + seriesClass(series),
        d: shape(
          placed.map((p) => [p.x, p.y]),
          series ? radius + 0.8 : radius,
        ),
      }),
    );
    marks.push(...placed.sort((a, b) => a.x - b.x));
  }
  return marks;
}

function predictionRows(predictions, i) {
  const target = predictions.target[i],
    mean = predictions.mean[i],
    sd = predictions.sd[i];
  return [
    ["target", formatNumber(target)],
    ["prediction", formatNumber(mean)],
    ["sd", formatNumber(sd)],
    ["residual", formatNumber(target - mean)],
    ["in sds", formatNumber(sd > 0 ? (target - mean) / sd : NaN)],
  ];
}

function predictionPoints(regression, xOf, yOf) {
  const points = {};
  for (const [split] of SPLITS) {
    const p = regression[split];
    points[split] = p.target.map((target, i) => ({
      x: xOf(target, p.mean[i]),
      y: yOf(target, p.mean[i]),
      title: split,
      rows: predictionRows(p, i),
    }));
  }
  return points;
}

function predictionsTable(regression) {
  const row = (split, p, i) => [split, p.target[i], p.mean[i], p.sd[i], p.target[i] - p.mean[i]];
  return {
    head: ["Data", "Target", "Prediction", "SD", "Residual"],
    rows: SPLITS.flatMap(([split]) => regression[split].target.map((_, i) => row(split, regression[split], i))),
  };
}

function countsOf(regression) {
  return { train: regression.train.target.length, test: regression.test.target.length };
}

function predictedChart(report, index) {
  const regression = report.regressions[index];
  const points = predictionPoints(
    regression,
    (target, mean) => mean,
    (target) => target,
  );
  const axes = { x: "prediction of " + regression.target, y: regression.target, same: true };
  return {
    label: "Predictions against targets of " + regression.target,
    legend: () => splitLegend(countsOf(regression)),
    draw: (svg, width) => drawPoints(svg, width, points, axes, (v) => v),
    table: () => predictionsTable(regression),
  };
}

function residualsChart(report, index) {
  const regression = report.regressions[index];
  const points = predictionPoints(
    regression,
    (target, mean) => mean,
    (target, mean) => target - mean,
  );
  const axes = { x: "prediction of " + regression.target, y: "residual" };
  return {
    label: "Residuals of " + regression.target,
    legend: () => splitLegend(countsOf(regression)),
    draw: (svg, width) => drawPoints(svg, width, points, axes, () => 0),
    table: () => predictionsTable(regression),
  };
}

// Densities in bins of half a standard deviation; what is beyond four goes to the last ones.
function residualDensity(predictions) {
  const bins = new Array(16).fill(0);
  let total = 0;
  predictions.target.forEach((target, i) => {
    const z = (target - predictions.mean[i]) / predictions.sd[i];
    if (!Number.isFinite(z)) return;
    bins[Math.max(0, Math.min(15, Math.floor(2 * (z + 4))))] += 1;
    total += 1;
  });
  return { counts: bins, total, density: bins.map((count) => (total ? (2 * count) / total : 0)) };
}

function standardisedChart(report, index) {
  const regression = report.regressions[index];
  const splits = SPLITS.map(([split, series]) => ({ split, series, ...residualDensity(regression[split]) })).filter(
    ({ total }) => total,
  );
  const normal = (z) => Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  const low = (bin) => bin / 2 - 4;
  const range = (bin) =>
    bin === 0
      ? "below " + MINUS + "3.5"
      : bin === 15
        ? "above 3.5"
        : formatFixed(low(bin), 1) + " to " + formatFixed(low(bin) + 0.5, 1);
  function draw(svg, width) {
    const most = Math.max(0.42, ...splits.flatMap(({ density }) => density));
    const frame = drawFrame(svg, width, {
      x: { domain: [-4, 4], label: "standardised residual" },
      y: { domain: [0, most * 1.06], label: "density" },
      square: true,
    });
    const marks = [];
    splits.forEach(({ split, series, density, counts, total }, k) => {
      const share = (frame.x(0.5) - frame.x(0) - 2) / splits.length;
      const group = element("g", { class: "bars " + seriesClass(series) });
      density.forEach((value, bin) => {
        const x = frame.x(low(bin)) + 1 + k * share,
          y = frame.y(value);
        group.append(element("rect", { x, y, width: share, height: frame.bottom - y }));
        marks.push({
          x: x + share / 2,
          y,
          series,
          title: split + ", " + range(bin),
          rows: [
            ["examples", formatFixed(counts[bin], 0)],
            ["share", formatPercent(counts[bin] / total)],
            ["density", formatNumber(value)],
          ],
        });
      });
      frame.body.append(group);
    });
    const curve = Array.from({ length: 81 }, (_, i) => i / 10 - 4);
    frame.body.append(
      element("path", { class: "expected", d: linePath(curve.map((z) => [frame.x(z), frame.y(normal(z))])) }),
    );
    return marks;
  }
  return {
    label: "Standardised residuals of " + regression.target,
    draw,
    nearest: "x",
    legend: () =>
      splits
        .map(({ split, series }) => ({ name: split, series, kind: "band" }))
        .concat([{ name: "standard normal", kind: "line expected" }]),
    table: () => ({
      head: ["Data", "Standardised residual", "Examples", "Density"],
      rows: splits.flatMap(({ split, counts, density }) =>
        counts.map((count, bin) => [split, range(bin), count, density[bin]]),
      ),
    }),
  };
}
