// Classification: reliability diagram and confusion matrix.
function reliabilityChart(report) {
  const splits = SPLITS.map(([split, series]) => ({
    split,
    series,
    bins: report.classification[split + "_reliability"],
  })).filter(({ bins }) => bins.count.some((count) => count > 0));
  const filled = (bins) => bins.count.map((count, i) => i).filter((i) => bins.count[i] > 0);
  const range = (bins, i) => formatPercent(bins.lower[i]) + " to " + formatPercent(bins.upper[i]);
  function draw(svg, width) {
    const low = Math.min(
      ...splits.flatMap(({ bins }) => filled(bins).flatMap((i) => [bins.mean_confidence[i], bins.accuracy[i]])),
    );
    const domain = [low >= 0.45 ? 0.4 : 0, 1.02];
    const frame = drawFrame(svg, width, {
      x: { domain, label: "confidence" },
      y: { domain, label: "accuracy" },
      square: true,
    });
    frame.body.append(
      element("path", { class: "reference", d: linePath([0, 1].map((v) => [frame.x(v), frame.y(v)])) }),
    );
    const marks = [];
    for (const { split, series, bins } of splits) {
      const most = Math.max(...bins.count);
      const at = filled(bins).map((i) => [frame.x(bins.mean_confidence[i]), frame.y(bins.accuracy[i]), i]);
      const group = element("g", { class: "line " + seriesClass(series) });
      group.append(element("path", { d: linePath(at), "stroke-dasharray": series ? "7 3" : null }));
      for (const [x, y, i] of at) {
        const radius = 3 + 6 * Math.sqrt(bins.count[i] / most);
        group.append(element("path", { class: "dots", d: (series ? diamondPath : dotPath)([[x, y]], radius) }));
        marks.push({
          x,
          y,
          series,
          title: split + ", " + range(bins, i),
          rows: [
            ["examples", formatFixed(bins.count[i], 0)],
            ["mean confidence", formatPercent(bins.mean_confidence[i])],
            ["accuracy", formatPercent(bins.accuracy[i])],
          ],
        });
      }
      frame.body.append(group);
    }
    return marks;
  }
  return {
    label: "Reliability",
    draw,
    legend: () => splits.map(({ split, series }) => ({ name: split, series, kind: series ? "diamond" : "dot" })),
    table: () => ({
      head: ["Data", "Confidence", "Examples", "Mean confidence", "Accuracy"],
      rows: splits.flatMap(({ split, bins }) =>
        filled(bins).map((i) => [split, range(bins, i), bins.count[i], bins.mean_confidence[i], bins.accuracy[i]]),
      ),
    }),
  };
}

function confusionChart(report, index, split) {
  const counts = report.classification[split + "_confusion"];
  const size = counts.length;
  const name = (i) => report.classification.classes[i] || "class " + (i + 1);
  const total = (row) => row.reduce((sum, count) => sum + count, 0);
  function draw(svg, width) {
    const names = counts.map((_, i) => name(i));
    const longest = Math.max(...names.map((text) => textWidth(text)));
    const left = Math.min(longest + 14, width * 0.3) + 20;
    const widest = Math.min((width - left - 6) / size, 420 / size);
    const turned = longest > widest - 6,
      head = turned ? Math.min(longest, 90) + 30 : 40;
    const side = Math.min(widest, 150),
      legible = side >= 24;
    svg.setAttribute("viewBox", `0 0 ${width} ${Math.ceil(head + side * size + 8)}`);
    const labels = element("g", { class: "ticks", "aria-hidden": "true" });
    labels.append(
      element("text", { class: "axis", x: left + (side * size) / 2, y: 12, "text-anchor": "middle" }, "predicted"),
    );
    labels.append(
      element(
        "text",
        { class: "axis", transform: `translate(12,${head + (side * size) / 2}) rotate(-90)`, "text-anchor": "middle" },
        "true",
      ),
    );
    const cells = element("g", { class: "cells " + seriesClass(0) });
    const step = side >= 13 ? 1 : Math.ceil(13 / side);
    const marks = [];
    counts.forEach((row, i) => {
      const y = head + i * side,
        x = left + i * side;
      if (i % step === 0) {
        labels.append(
          element("text", { x: left - 8, y: y + side / 2 + 4, "text-anchor": "end" }, shorten(name(i), left - 28)),
        );
        const place = turned
          ? { transform: `translate(${x + side / 2 + 4},${head - 6}) rotate(-90)` }
          : { x: x + side / 2, y: head - 8, "text-anchor": "middle" };
        labels.append(element("text", place, shorten(name(i), turned ? 84 : side)));
      }
      row.forEach((count, j) => {
        const share = total(row) ? count / total(row) : 0;
        const box = [left + j * side, y, side - 1, side - 1];
        cells.append(
          element("rect", {
            x: box[0],
            y: box[1],
            width: box[2],
            height: box[3],
            "fill-opacity": (0.9 * share).toFixed(3),
            class: i === j ? "right" : "wrong",
          }),
        );
        if (legible && (count || size <= 12) && textWidth(formatFixed(count, 0)) < side)
          cells.append(
            element(
              "text",
              {
                x: box[0] + side / 2,
                y: y + side / 2 + 4,
                "text-anchor": "middle",
                class: share > 0.55 ? "on" : count ? "off" : "none",
              },
              formatFixed(count, 0),
            ),
          );
        marks.push({
          x: box[0] + side / 2,
          y: y + side / 2,
          box,
          title: i === j ? name(i) + ", right" : name(i) + " taken for " + name(j),
          rows: [
            ["examples", formatFixed(count, 0)],
            ["of its class", formatPercent(share)],
          ],
        });
      });
    });
    svg.append(cells, labels);
    return marks;
  }
  return {
    label: "Confusion matrix, " + (split === "test" ? "test data" : "training data"),
    draw,
    columns: () => size,
    table: () => ({
      head: ["true \\ predicted"].concat(counts.map((_, i) => name(i))),
      rows: counts.map((row, i) => [name(i)].concat(row.map((count) => formatFixed(count, 0)))),
    }),
  };
}
