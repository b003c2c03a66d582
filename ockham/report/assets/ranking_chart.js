// The ranking: evidence, fit and the Occam term between them.
// How many of the ranked candidates a chart can show together: a hopeless one would squeeze the others.
function nearTheBest(ranked) {
  const high = finiteExtent(ranked.flatMap((c) => [c.log_evidence, c.log_likelihood]))[1];
  let count = Math.min(2, ranked.length);
  while (count < ranked.length && high - ranked[count].log_evidence <= 2.5 * (high - ranked[count - 1].log_evidence))
    ++count;
  return count;
}

function rankingChart(report) {
  const ranked = report.candidates.filter((c) => !c.failure && isNumber(c.log_evidence));
  const best = (c) => (isNumber(c.log_evidence_best) ? c.log_evidence_best : c.log_evidence);
  const occam = (c) => (isNumber(c.log_likelihood) ? best(c) - c.log_likelihood : NaN);
  const rows = ranked.map((c) => ({ name: c.network, value: formatFixed(c.log_evidence, 2), candidate: c }));
  const spread = (c) => (isNumber(c.spread) && c.restarts > 1 ? c.spread : 0);
  const ends = (some) => some.flatMap((c) => [best(c), c.log_evidence - spread(c), c.log_evidence + spread(c)]);
  const extent = (some) =>
    padExtent(
      finiteExtent(
        ends(some).concat(ranked.map((c) => c.log_likelihood).filter((fit) => fit >= best(some[some.length - 1]))),
      ),
      0.04,
    );
  const near = nearTheBest(ranked),
    squeezed = near < ranked.length;
  const views = { all: extent(ranked), best: extent(ranked.slice(0, near)) };
  let view = squeezed ? "best" : "all";
  const paint = ({ candidate: c }, group, x, middle) => {
    const evidence = x(best(c));
    if (isNumber(c.log_likelihood)) {
      const fit = x(c.log_likelihood);
      group.append(
        element("rect", {
          class: "occam",
          x: Math.min(fit, evidence),
          y: middle - 5,
          width: Math.abs(fit - evidence),
          height: 10,
          rx: 2,
        }),
      );
      group.append(element("path", { class: "fit", d: diamondPath([[fit, middle]], 6) }));
    }
    if (spread(c)) {
      const low = x(c.log_evidence - spread(c)),
        high = x(c.log_evidence + spread(c));
      const y0 = middle - 4,
        y1 = middle + 4;
      group.append(
        element("path", { class: "whisker", d: `M${low} ${y0}V${y1}M${low} ${middle}H${high}M${high} ${y0}V${y1}` }),
      );
    }
    group.append(element("circle", { class: "evidence", cx: evidence, cy: middle, r: 5.5 }));
    const lines = [
      ["log evidence", formatFixed(c.log_evidence, 2) + (spread(c) ? " \u00b1 " + formatFixed(c.spread, 2) : "")],
    ];
    if (c.restarts > 1) lines.push(["best restart", formatFixed(best(c), 2)]);
    lines.push(["fit", formatFixed(c.log_likelihood, 2)], ["Occam", formatFixed(occam(c), 2)]);
    if (isNumber(c.probability)) lines.push(["probability", formatPercent(c.probability)]);
    lines.push(["parameters", formatFixed(c.parameters, 0)]);
    return { x: Math.max(10, evidence), end: evidence, rows: lines, series: 0 };
  };
  return {
    controls: squeezed
      ? [
          {
            label: "Show",
            value: view,
            options: [
              ["best", "the best networks"],
              ["all", "all networks"],
            ],
            choose: (chosen) => {
              view = chosen;
            },
          },
        ]
      : undefined,
    label: "Evidence, fit and Occam term of each network",
    nearest: "y",
    legend: () =>
      [
        { name: "log evidence", kind: "dot", series: 0 },
        { name: "fit, log p(D|\u03b8)", kind: "diamond hollow", series: 0 },
        { name: "Occam term", kind: "occam", series: 0 },
      ].concat(ranked.some(spread) ? [{ name: "mean \u00b1 spread over restarts", kind: "line expected" }] : []),
    draw: (svg, width) => drawRows(svg, width, rows, { domain: views[view], label: "nats", stressFirst: true }, paint),
    table: () => ({
      head: [
        "Network",
        "Parameters",
        "Log evidence",
        "Best restart",
        "Spread",
        "Fit",
        "Occam",
        "Log prior",
        "Log determinant",
        "Probability",
      ],
      rows: ranked.map((c) => [
        c.network,
        formatFixed(c.parameters, 0),
        formatFixed(c.log_evidence, 3),
        formatFixed(best(c), 3),
        c.spread,
        formatFixed(c.log_likelihood, 3),
        formatFixed(occam(c), 3),
        formatFixed(c.log_prior, 3),
        formatFixed(c.log_det, 3),
        c.probability,
      ]),
    }),
  };
}
