// The report pages in headless Chromium: they draw, load nothing, answer pointer and keys, and fit a phone.
//   node report_browser.mjs SAMPLES_DIRECTORY SCREENSHOTS_DIRECTORY
// playwright-core is found through NODE_PATH, the browser through CHROMIUM or under its usual names.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { chromium } = createRequire(import.meta.url)("playwright-core");
const [samples, screenshots] = process.argv.slice(2);
mkdirSync(screenshots, { recursive: true });

// Charts that each sample must have; a chart not named here must not be there.
const expected = {
  regression: [
    "ranking",
    "baseline",
    "evidence",
    "precisions",
    "noise",
    "loss",
    "layers",
    "relevance",
    "predicted",
    "residuals",
    "standardised",
    "calibration",
  ],
  classification: [
    "ranking",
    "evidence",
    "precisions",
    "temperature",
    "loss",
    "layers",
    "reliability",
    "confusion",
    "confusion",
  ],
  images: [
    "ranking",
    "scatter",
    "evidence",
    "precisions",
    "temperature",
    "loss",
    "layers",
    "reliability",
    "confusion",
    "confusion",
  ],
  one_input: [
    "ranking",
    "evidence",
    "precisions",
    "noise",
    "loss",
    "layers",
    "band",
    "predicted",
    "residuals",
    "standardised",
    "calibration",
  ],
  two_inputs: ["ranking", "evidence", "precisions", "temperature", "loss", "layers", "map", "reliability", "confusion"],
  two_inputs_regression: ["ranking", "evidence", "precisions", "noise", "loss", "layers", "map"],
  empty: [],
};
const views = [
  { name: "light", viewport: { width: 1200, height: 900 }, colorScheme: "light" },
  { name: "dark", viewport: { width: 1200, height: 900 }, colorScheme: "dark" },
  { name: "phone", viewport: { width: 360, height: 740 }, colorScheme: "light", hasTouch: true },
];

function findBrowser() {
  for (const name of [process.env.CHROMIUM, "chromium", "chromium-browser", "google-chrome"].filter(Boolean))
    try {
      return execFileSync("which", [name], { encoding: "utf8" }).trim();
    } catch {
      /* the next one */
    }
  throw new Error("no Chromium: apt-get install chromium");
}

async function openPage(browser, sample, view, troubles) {
  const context = await browser.newContext(view);
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) troubles.push("console: " + message.text());
  });
  page.on("pageerror", (error) => troubles.push("script: " + error.message));
  page.on("dialog", (dialog) => {
    troubles.push("dialog: " + dialog.message());
    dialog.dismiss();
  });
  const address = pathToFileURL(join(samples, sample + ".html")).href;
  page.on("request", (request) => {
    if (request.url() !== address && !request.url().startsWith("data:")) troubles.push("loads " + request.url());
  });
  await page.goto(address);
  return page;
}

async function checkLayout(page, where) {
  const size = await page.evaluate(() => ({
    scroll: document.documentElement.scrollWidth,
    client: document.documentElement.clientWidth,
  }));
  assert.ok(size.scroll <= size.client, `${where}: ${size.scroll} px wide in a window of ${size.client} px`);
  // Text of axes and names must not run into other text of the same chart, nor out of it.
  const clashes = await page.evaluate(() =>
    [...document.querySelectorAll("figure.chart .plot > svg")].flatMap((svg) => {
      const chart = svg.closest("figure").dataset.chart,
        outer = svg.getBoundingClientRect();
      const texts = [...svg.querySelectorAll("text")]
        .map((node) => ({ text: node.textContent, box: node.getBoundingClientRect() }))
        .filter(({ box }) => box.width > 0);
      const meets = (a, b) =>
        a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
      const found = texts
        .filter(({ box }) => box.left < outer.left - 2 || box.right > outer.right + 2)
        .map(({ text }) => `${chart}: "${text}" sticks out`);
      texts.forEach((a, i) =>
        texts.slice(i + 1).forEach((b) => {
          if (meets(a.box, b.box)) found.push(`${chart}: "${a.text}" over "${b.text}"`);
        }),
      );
      return found;
    }),
  );
  assert.deepEqual(clashes, [], where);
}

async function checkPointer(page, figure, where) {
  const svg = figure.locator(".plot > svg"),
    tooltip = figure.locator(".tooltip");
  await svg.scrollIntoViewIfNeeded();
  const box = await svg.boundingBox();
  await page.mouse.move(box.x + box.width * 0.55, box.y + box.height * 0.4);
  assert.ok(await tooltip.isVisible(), `${where}: no tooltip under the pointer`);
  assert.match(await tooltip.innerText(), /\d/, `${where}: a tooltip without a number`);
  const inside = await tooltip.evaluate((node) => {
    const b = node.getBoundingClientRect();
    return b.left >= -1 && b.right <= innerWidth + 1;
  });
  assert.ok(inside, `${where}: the tooltip leaves the window`);
  await page.mouse.move(0, 0);
  assert.ok(!(await tooltip.isVisible()), `${where}: the tooltip stays`);
}

async function checkKeyboard(page, figure, where) {
  const svg = figure.locator(".plot > svg"),
    tooltip = figure.locator(".tooltip");
  assert.ok(((await svg.getAttribute("aria-label")) || "").length > 20, `${where}: no label`);
  // The tab key itself must lead to the chart.
  await svg.evaluate((node) => {
    const before = document.createElement("button");
    before.id = "before";
    node.before(before);
    before.focus();
  });
  await page.keyboard.press("Tab");
  await page.evaluate(() => document.getElementById("before").remove());
  assert.ok(await tooltip.isVisible(), `${where}: no tooltip on focus`);
  const seen = new Set([await tooltip.innerText()]);
  for (const key of ["ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowUp", "End", "Home"]) {
    await page.keyboard.press(key);
    seen.add(await tooltip.innerText());
  }
  const marks = await figure.locator("details").evaluate((node) => {
    node.open = true;
    return new Promise((done) => setTimeout(() => done(node.querySelectorAll("tbody tr").length), 0));
  });
  assert.ok(marks > 0, `${where}: an empty data table`);
  if (marks > 1) assert.ok(seen.size > 1, `${where}: arrow keys do nothing`);
  assert.match(await figure.locator("[role=status]").textContent(), /\d/, `${where}: nothing for a screen reader`);
  await figure.locator("details").evaluate((node) => {
    node.open = false;
  });
  await page.keyboard.press("Escape");
  assert.ok(!(await tooltip.isVisible()), `${where}: Escape does not hide the tooltip`);
}

async function checkControls(page, figure, where) {
  for (const select of await figure.locator("select").all())
    for (const value of await select
      .locator("option")
      .evaluateAll((options) => options.map((option) => option.value))) {
      await select.selectOption(value);
      assert.ok(
        await figure.locator(".plot > svg path, .plot > svg rect").count(),
        `${where}: nothing drawn for ${value}`,
      );
    }
}

async function checkThemeSwitch(page, where) {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await ground();
  await page.click("button.theme");
  assert.notEqual(await ground(), before, `${where}: the switch changes nothing`);
  await page.click("button.theme");
  assert.equal(await ground(), before, where);
}

async function checkSample(browser, sample, view) {
  const where = `${sample}, ${view.name}`,
    troubles = [];
  const page = await openPage(browser, sample, view, troubles);
  const figures = await page.locator("figure.chart").all();
  const names = await Promise.all(figures.map((figure) => figure.getAttribute("data-chart")));
  assert.deepEqual(names.sort(), [...expected[sample]].sort(), where);
  await checkLayout(page, where);
  await page.screenshot({ path: join(screenshots, `${sample}-${view.name}.png`), fullPage: true });
  for (const figure of figures) {
    const chart = `${where}, ${await figure.getAttribute("data-chart")}`;
    await checkPointer(page, figure, chart);
    await checkKeyboard(page, figure, chart);
    await checkControls(page, figure, chart);
  }
  await checkThemeSwitch(page, where);
  if (view.name === "light") await page.pdf({ path: join(screenshots, `${sample}.pdf`), format: "A4" });
  await page.setViewportSize({ width: 520, height: 800 }); // drawn anew, for another width
  await page.waitForTimeout(100);
  await checkLayout(page, where + ", resized");
  assert.deepEqual(troubles, [], where);
  await page.context().close();
  console.log(`ok ${where}: ${figures.length} charts`);
}

const browser = await chromium.launch({ executablePath: findBrowser(), args: ["--no-sandbox"] });
let failed = 0;
assert.deepEqual(
  readdirSync(samples).sort(),
  Object.keys(expected)
    .map((name) => name + ".html")
    .sort(),
);
for (const sample of Object.keys(expected))
  for (const view of views)
    try {
      await checkSample(browser, sample, view);
    } catch (error) {
      failed += 1;
      console.log(`FAILED ${error.message}`);
    }
await browser.close();
console.log(failed ? `${failed} failed` : "all pages are well");
process.exit(failed ? 1 : 0);
