// Fills every figure of the page, and the switch between light and dark.
function start() {
  // null is what was no finite number; in arithmetic it would count as 0.
  const read = (key, value) => (value === null ? NaN : value);
  const report = JSON.parse(document.getElementById("report-data").textContent, read);
  const charts = {
    ranking: rankingChart,
    baseline: baselineChart,
    scatter: scatterChart,
    evidence: evidenceChart,
    precisions: precisionsChart,
    noise: noiseChart,
    temperature: temperatureChart,
    loss: lossChart,
    layers: layersChart,
    relevance: relevanceChart,
    predicted: predictedChart,
    residuals: residualsChart,
    standardised: standardisedChart,
    calibration: calibrationChart,
    reliability: reliabilityChart,
    confusion: confusionChart,
    band: bandChart,
    map: mapChart,
  };
  for (const figure of document.querySelectorAll("figure[data-chart]"))
    mountChart(figure, charts[figure.dataset.chart](report, Number(figure.dataset.index), figure.dataset.variant));
  addThemeSwitch();
}

function addThemeSwitch() {
  const root = document.documentElement;
  const dark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const button = element("button", { type: "button", class: "theme" });
  const name = () => {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", "Switch to " + (dark() ? "light" : "dark") + " colours");
  };
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    name();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  name();
  document.querySelector("header.top").prepend(button);
}
