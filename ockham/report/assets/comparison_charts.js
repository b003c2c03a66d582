// Charts that compare with what is promised or done otherwise: calibration, the baseline.
function calibrationChart(report, index) {
  const regression = report.regressions[index];
  const series = ["train", "test"]
    .map((split) => ({ split, points: regression[split + "_coverage"] }))
    .filter(({ points }) => points.level.length)
    .map(({ split, points }) => ({
      name: split,
      index: split === "train" ? 0 : 1,
      dots: true,
      dash: split === "train" ? null : "7 3",
      points: points.level.map((level, i) => ({
        x: level,
        y: points.coverage[i],
        title: split,
        rows: [
          ["interval", formatPercent(level)],
          ["targets inside", formatPercent(points.coverage[i])],
        ],
      })),
    }));
  const axis = { domain: [0, 1] };
  return {
    label: "Calibration of " + regression.target,
    legend: () => lineLegend(series),
    draw: (svg, width) =>
      drawLines(svg, width, series, {
        x: { ...axis, label: "promised share" },
        y: { ...axis, label: "share of targets inside" },
        diagonal: true,
        square: true,
      }),
    table: () => linesTable(series, "Interval", "Targets inside", "Data"),
  };
}

function baselineChart(report, index) {
  const { rows, score, network, chosen_precision } = report.baselines[index];
  const name = score || "validation score";
  const series = [
    {
      name,
      index: 0,
      dots: true,
      points: rows.precision.map((precision, i) => ({
        x: precision,
        y: rows.validation[i],
        title: "precision " + formatNumber(precision),
        rows: [
          [name, formatNumber(rows.validation[i])],
          ["time", formatSeconds(rows.seconds[i])],
        ],
      })),
    },
  ];
  return {
    label: "Cross-validated grid search of " + network,
    nearest: "x",
    legend: () => [
      { name, series: 0, kind: "line" },
      { name: "chosen: " + formatNumber(chosen_precision), kind: "line reference" },
    ],
    draw: (svg, width) =>
      drawLines(svg, width, series, {
        x: { label: "prior precision", log: true },
        y: { label: "validation score" },
        rule: chosen_precision,
      }),
    table: () => ({
      head: ["Prior precision", name, "Seconds"],
      rows: rows.precision.map((precision, i) => [precision, rows.validation[i], rows.seconds[i]]),
    }),
  };
}
