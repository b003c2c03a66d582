// Candidates by evidence and test accuracy.
function scatterChart(report) {
  const metric = (candidate, name) => {
    const found = candidate.test.find((value) => value.name === name);
    return found ? found.value : NaN;
  };
  const kindOf = (network) => (/\.pt$/.test(network) ? "TorchScript" : network.split(":")[0]);
  const points = report.candidates
    .map((candidate) => ({
      network: candidate.network,
      kind: kindOf(candidate.network),
      parameters: candidate.parameters,
      evidence: candidate.log_evidence_best / report.examples,
      accuracy: metric(candidate, "accuracy"),
    }))
    .filter((point) => isNumber(point.evidence) && isNumber(point.accuracy));
  const kinds = [...new Set(points.map((point) => point.kind))];
  const most = Math.max(...points.map((point) => point.parameters), 1);
  const radius = (point) => 4 + 5 * Math.sqrt(point.parameters / most);
  const shape = (kind) => (kinds.indexOf(kind) % 2 ? diamondPath : dotPath);
  function draw(svg, width) {
    const frame = drawFrame(svg, width, {
      x: { domain: padExtent(finiteExtent(points.map((point) => point.evidence)), 0.06), label: "log evidence per example" },
      y: { domain: padExtent(finiteExtent(points.map((point) => 100 * point.accuracy)), 0.08), label: "test accuracy in %" },
    });
    const marks = points.map((point) => ({
      x: frame.x(point.evidence),
      y: frame.y(100 * point.accuracy),
      series: 0,
      title: point.network,
      rows: [
        ["log evidence per example", formatNumber(point.evidence)],
        ["test accuracy", formatPercent(point.accuracy)],
        ["parameters", formatFixed(point.parameters, 0)],
      ],
    }));
    marks.forEach((mark, i) => {
      const point = points[i];
      const grow = point.kind !== kinds[0] && kinds.indexOf(point.kind) % 2 ? 1.2 : 1;
      frame.body.append(
        element("path", {
          class: "points " + seriesClass(kinds.indexOf(point.kind)),
          d: shape(point.kind)([[mark.x, mark.y]], radius(point) * grow),
        }),
      );
    });
    return marks.sort((a, b) => a.x - b.x);
  }
  return {
    label: "Evidence against test accuracy",
    draw,
    legend: () =>
      kinds.map((kind, series) => ({ name: kind, series, kind: series % 2 ? "diamond" : "dot" })),
    table: () => ({
      head: ["Network", "Parameters", "Log evidence per example", "Test accuracy"],
      rows: points.map((point) => [
        point.network,
        formatFixed(point.parameters, 0),
        point.evidence,
        formatPercent(point.accuracy),
      ]),
    }),
  };
}
