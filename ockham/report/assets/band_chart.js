// One input: the predictive mean with its epistemic part and the noise around it, over the data.
function bandChart(report, index) {
  const band = report.bands[index];
  const total = band.x.map((_, i) => Math.hypot(band.sd_epistemic[i] || 0, band.sd_noise[i] || 0));
  const edge = (sd, sign) => band.mean.map((mean, i) => mean + sign * 2 * (sd[i] || 0));
  function area(frame, sd) {
    const upper = edge(sd, 1),
      lower = edge(sd, -1);
    const there = band.x.map((x, i) => [frame.x(x), frame.y(upper[i])]);
    const back = band.x.map((x, i) => [frame.x(x), frame.y(lower[i])]).reverse();
    return linePath(there.concat(back).filter(([x, y]) => isNumber(x) && isNumber(y))) + "Z";
  }
  function draw(svg, width) {
    const data = SPLITS.flatMap(([split]) => band[split].y);
    const y = padExtent(finiteExtent(data.concat(edge(total, 1), edge(total, -1))), 0.04);
    const frame = drawFrame(svg, width, {
      x: { domain: finiteExtent(band.x), label: band.input },
      y: { domain: y, label: band.target },
      height: Math.max(260, Math.min(420, width * 0.5)),
    });
    const group = element("g", { class: "band " + seriesClass(0) });
    group.append(
      element("path", { class: "outer", d: area(frame, total) }),
      element("path", { class: "inner", d: area(frame, band.sd_epistemic) }),
    );
    group.append(
      element("path", {
        class: "edge",
        d:
          linePath(band.x.map((x, i) => [frame.x(x), frame.y(edge(total, 1)[i])])) +
          linePath(band.x.map((x, i) => [frame.x(x), frame.y(edge(total, -1)[i])])),
      }),
    );
    frame.body.append(group);
    for (const [split, series] of SPLITS) {
      const at = band[split].x
        .map((x, i) => [frame.x(x), frame.y(band[split].y[i])])
        .filter(([px, py]) => isNumber(px) && isNumber(py));
      frame.body.append(
        element("path", {
          class: "points " + (series ? seriesClass(1) : "data"),
          d: (series ? diamondPath : dotPath)(at, series ? 3.4 : 2.4),
        }),
      );
    }
    frame.body.append(
      element("path", {
        class: "mean " + seriesClass(0),
        d: linePath(band.x.map((x, i) => [frame.x(x), frame.y(band.mean[i])])),
      }),
    );
    return band.x
      .map((x, i) => ({
        x: frame.x(x),
        y: frame.y(band.mean[i]),
        series: 0,
        title: band.input + " = " + formatNumber(x),
        rows: [
          ["mean", formatNumber(band.mean[i])],
          ["sd, epistemic", formatNumber(band.sd_epistemic[i])],
          ["sd, noise", formatNumber(band.sd_noise[i])],
          [
            "\u00b1 2 sd",
            formatNumber(band.mean[i] - 2 * total[i]) + " to " + formatNumber(band.mean[i] + 2 * total[i]),
          ],
        ],
      }))
      .filter((mark) => isNumber(mark.x) && isNumber(mark.y));
  }
  return {
    label: "Prediction of " + band.target + " over " + band.input,
    draw,
    nearest: "x",
    legend: () =>
      [
        { name: "mean", kind: "line", series: 0 },
        { name: "\u00b1 2 sd, epistemic", kind: "inner", series: 0 },
        { name: "\u00b1 2 sd, with noise", kind: "outer", series: 0 },
      ].concat(
        band.train.x.length ? [{ name: "training data", kind: "dot data" }] : [],
        band.test.x.length ? [{ name: "test data", kind: "diamond", series: 1 }] : [],
      ),
    table: () => ({
      head: [band.input, "Mean", "SD, epistemic", "SD, noise"],
      rows: band.x.map((x, i) => [x, band.mean[i], band.sd_epistemic[i], band.sd_noise[i]]),
    }),
  };
}
