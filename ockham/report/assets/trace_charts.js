// Evidence and hyperparameters over the epochs.
function traced(candidates) {
  return candidates
    .map((candidate, index) => ({ candidate, index }))
    .filter(({ candidate }) => candidate.trace.rows.epoch.length);
}

// One line per candidate of a column of the trace.
function candidateLines(candidates, valueName, valueOf, format) {
  return traced(candidates)
    .map(({ candidate, index }) => ({
      name: candidate.network,
      index,
      points: candidate.trace.rows.epoch.map((epoch, i) => ({
        x: epoch,
        y: valueOf(candidate.trace.rows, i),
        title: candidate.network,
        rows: [
          ["epoch", formatFixed(epoch, 0)],
          [valueName, (format || formatNumber)(valueOf(candidate.trace.rows, i))],
        ],
      })),
    }))
    .filter((line) => line.points.some((p) => isNumber(p.y)));
}

// Early epochs and hopeless networks are far below: the view of the top leaves them out.
function evidenceDomain(series, view, near) {
  const later = (line) => line.points.slice(Math.floor(line.points.length / 4)).map((p) => p.y);
  const top = series.slice(0, near);
  const [, high] = finiteExtent(series.flatMap((line) => line.points.map((p) => p.y)));
  const [low] = finiteExtent(
    view === "top" ? top.flatMap(later) : series.flatMap((line) => line.points.map((p) => p.y)),
  );
  return padExtent([low, high], 0.05);
}

function evidenceChart(report) {
  const series = candidateLines(
    report.candidates,
    "log evidence",
    (rows, i) => rows.log_evidence[i],
    (value) => formatFixed(value, 2),
  );
  const near = nearTheBest(report.candidates.filter((c) => !c.failure && isNumber(c.log_evidence)));
  let view = "top";
  return {
    label: "Log evidence over the epochs",
    controls: [
      {
        label: "Show",
        value: view,
        options: [
          ["top", "the best networks, later epochs"],
          ["all", "everything"],
        ],
        choose: (value) => {
          view = value;
        },
      },
    ],
    legend: () => lineLegend(series),
    draw: (svg, width) =>
      drawLines(svg, width, series, {
        x: { label: "epoch", pad: 0.01 },
        y: { label: "log evidence (nats)", domain: evidenceDomain(series, view, near) },
      }),
    table: () => linesTable(series, "Epoch", "Log evidence"),
  };
}

// A chart of one candidate at a time, chosen in a list, with one line per name.
function chosenChart(report, label, yLabel, namesOf, valueOf) {
  const choices = traced(report.candidates).filter(({ candidate }) => namesOf(candidate).length);
  let chosen = choices[0].candidate;
  const lines = () =>
    namesOf(chosen).map((name, index) => ({
      name,
      index,
      points: chosen.trace.rows.epoch.map((epoch, i) => ({
        x: epoch,
        y: valueOf(chosen.trace.rows, i, index),
        title: name,
        rows: [
          ["epoch", formatFixed(epoch, 0)],
          [yLabel, formatNumber(valueOf(chosen.trace.rows, i, index))],
        ],
      })),
    }));
  return {
    label,
    controls:
      choices.length > 1
        ? [
            {
              label: "Network",
              value: "0",
              options: choices.map(({ candidate }, i) => [String(i), candidate.network]),
              choose: (i) => {
                chosen = choices[i].candidate;
              },
            },
          ]
        : undefined,
    legend: () => lineLegend(lines()),
    draw: (svg, width) =>
      drawLines(svg, width, lines(), { x: { label: "epoch", pad: 0.01 }, y: { label: yLabel, log: true } }),
    table: () => linesTable(lines(), "Epoch", yLabel, "Group"),
  };
}

function precisionsChart(report) {
  return chosenChart(
    report,
    "Prior precisions over the epochs",
    "prior precision",
    (c) => c.trace.groups,
    (rows, i, k) => rows.precisions[i][k],
  );
}

function noiseChart(report) {
  const targets = (c) =>
    (c.trace.rows.noise[0] || []).map((_, k) =>
      report.regressions[k] ? report.regressions[k].target : "output " + (k + 1),
    );
  if (report.candidates.some((c) => targets(c).length > 1))
    return chosenChart(report, "Noise over the epochs", "noise \u03c3", targets, (rows, i, k) => rows.noise[i][k]);
  return perCandidate(report, "Noise over the epochs", "noise \u03c3", (rows, i) => rows.noise[i][0], true);
}

function perCandidate(report, label, yLabel, valueOf, log) {
  const series = candidateLines(report.candidates, yLabel, valueOf);
  return {
    label,
    legend: () => lineLegend(series),
    draw: (svg, width) =>
      drawLines(svg, width, series, { x: { label: "epoch", pad: 0.01 }, y: { label: yLabel, log } }),
    table: () => linesTable(series, "Epoch", yLabel),
  };
}

function temperatureChart(report) {
  return perCandidate(report, "Temperature over the epochs", "temperature", (rows, i) => rows.temperature[i], true);
}

function lossChart(report) {
  return perCandidate(report, "Training loss over the epochs", "loss", (rows, i) => rows.loss[i], false);
}
