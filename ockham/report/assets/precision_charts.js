// Prior precisions at the end: per layer, and what they say of the inputs.
// Many groups: both ends of the list are what matters.
function shownRows(values, most) {
  return values.length <= most ? values : values.slice(0, most - 5).concat(values.slice(-5));
}

function layersChart(report) {
  const usable = report.prior_precisions.filter((p) => isNumber(p.value) && p.value > 0);
  const shown = shownRows(usable, 24).map((p) => ({ name: p.name, value: formatNumber(p.value), number: p.value }));
  const paint = (row, group, x, middle) => {
    const at = x(row.number);
    group.append(
      element("line", { class: "stem", x1: 10, x2: at, y1: middle, y2: middle }),
      element("circle", { class: "evidence", cx: at, cy: middle, r: 5.5 }),
    );
    return {
      x: at,
      rows: [
        ["prior precision", row.value],
        ["prior sd of a weight", formatNumber(1 / Math.sqrt(row.number))],
      ],
      series: 0,
    };
  };
  return {
    label: "Prior precision per layer",
    nearest: "y",
    draw: (svg, width) =>
      drawRows(
        svg,
        width,
        shown,
        {
          domain: padExtent(finiteExtent(shown.map((r) => r.number)), 0.08, true),
          log: true,
          label: "prior precision" + (shown.length < usable.length ? ", " + shown.length + " of " + usable.length : ""),
        },
        paint,
      ),
    table: () => ({
      head: ["Group", "Prior precision", "Prior sd of a weight"],
      rows: usable.map((p) => [p.name, p.value, 1 / Math.sqrt(p.value)]),
    }),
  };
}

function relevanceChart(report) {
  const usable = report.relevances
    .filter((p) => isNumber(p.value) && p.value > 0)
    .map((p) => ({ name: p.name, precision: p.value, relevance: 1 / p.value }));
  usable.sort((a, b) => b.relevance - a.relevance);
  const shown = shownRows(usable, 24).map((p) => ({ ...p, value: formatNumber(p.relevance) }));
  const most = usable[0].relevance;
  const paint = (row, group, x, middle) => {
    group.append(
      element("rect", {
        class: "bar",
        x: x(0),
        y: middle - 6,
        width: Math.max(1, x(row.relevance) - x(0)),
        height: 12,
        rx: 2,
      }),
    );
    return {
      x: x(row.relevance),
      rows: [
        ["relevance", row.value],
        ["of the most relevant", formatPercent(row.relevance / most)],
        ["precision", formatNumber(row.precision)],
      ],
      series: 0,
    };
  };
  return {
    label: "Relevance of the inputs",
    nearest: "y",
    draw: (svg, width) =>
      drawRows(
        svg,
        width,
        shown,
        {
          domain: [0, most * 1.04],
          label:
            "relevance, 1/precision" +
            (shown.length < usable.length ? ", " + shown.length + " of " + usable.length : ""),
        },
        paint,
      ),
    table: () => ({
      head: ["Input", "Relevance", "Precision"],
      rows: usable.map((p) => [p.name, p.relevance, p.precision]),
    }),
  };
}
