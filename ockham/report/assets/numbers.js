// Numbers as people read them, and ticks.
const MINUS = "\u2212";
const NOTHING = "\u2013";

function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

function formatFixed(value, decimals) {
  if (!isNumber(value)) return NOTHING;
  if (Math.abs(value) >= 1e12) return formatNumber(value);
  const [whole, fraction] = Math.abs(value).toFixed(decimals).split(".");
  const grouped = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole; // 2020 may be a year
  const digits = grouped + (fraction ? "." + fraction : "");
  return (value < 0 && /[1-9]/.test(digits) ? MINUS : "") + digits;
}

function superscript(number) {
  return String(number).replace(/./g, (c) =>
    c === "-" ? "\u207b" : "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"[c],
  );
}

// About four significant digits.
function formatNumber(value) {
  if (!isNumber(value)) return NOTHING;
  if (value === 0) return "0";
  const exponent = Math.floor(Math.log10(Math.abs(value) * (1 + 1e-12)));
  if (exponent >= -4 && exponent < 7) return formatFixed(value, Math.max(0, 3 - exponent));
  return formatFixed(value / 10 ** exponent, 2) + " \u00d7 10" + superscript(exponent);
}

function formatPercent(share) {
  if (!isNumber(share)) return NOTHING;
  return share > 0 && share < 0.0005 ? "< 0.1 %" : formatFixed(100 * share, 1) + " %";
}

function formatSeconds(seconds) {
  return isNumber(seconds) ? formatFixed(seconds, seconds < 10 ? 2 : 0) + " s" : NOTHING;
}

function finiteExtent(values) {
  let low = Infinity,
    high = -Infinity;
  for (const value of values)
    if (isNumber(value)) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  return low <= high ? [low, high] : [0, 1];
}

// A little room at both ends; a single value gets room around it.
function padExtent([low, high], share, log) {
  if (log) {
    const room = Math.log(high / low) * share || 0.2;
    return [low * Math.exp(-room), high * Math.exp(room)];
  }
  const room = (high - low) * share || Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
}

// At most about `count` round numbers inside [low, high].
function linearTicks(low, high, count) {
  const raw = (high - low) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const steps = [0.5, 1, 2, 5, 10].map((multiple) => multiple * power);
  let chosen = steps.findIndex((step, i) => i > 0 && step >= raw * 0.999);
  const inside = (step) => Math.floor(high / step + 1e-9) - Math.ceil(low / step - 1e-9) + 1;
  if (chosen > 0 && inside(steps[chosen]) < 3) --chosen;
  const step = steps[chosen] || raw;
  const ticks = [];
  const first = Math.ceil(low / step - 1e-9);
  for (let k = 0; k < 50 && (first + k) * step <= high + step * 1e-9; ++k) ticks.push((first + k) * step);
  return ticks.map((value) => ({ value, text: tickText(value, step, Math.max(Math.abs(low), Math.abs(high))) }));
}

// With as many digits as tell a tick from the next; all ticks of an axis have the same power of ten.
function tickText(value, step, largest) {
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  if (Math.abs(value) < step * 1e-6) return formatFixed(0, decimals <= 5 ? decimals : 0);
  if (largest < 1e10 && decimals <= 5) return formatFixed(value, decimals);
  const exponent = Math.floor(Math.log10(largest) + 1e-9);
  const digits = Math.max(0, exponent - Math.floor(Math.log10(step) + 1e-9));
  return formatFixed(value / 10 ** exponent, digits) + " \u00d7 10" + superscript(exponent);
}

function tidyPower(value) {
  const exponent = Math.floor(Math.log10(value) + 1e-9);
  const lead = Math.round(value / 10 ** exponent);
  if (exponent >= -3 && exponent <= 5) return formatFixed(value, Math.max(0, -exponent));
  return (lead === 1 ? "" : lead + " \u00d7 ") + "10" + superscript(exponent);
}

// Powers of ten; within less than two decades also 2 and 5 times them, or linear ticks when even that is too coarse.
function logTicks(low, high, count) {
  const decades = Math.log10(high / low);
  if (decades < 0.5) return linearTicks(low, high, count);
  const leads = decades < 2 ? [1, 2, 5] : [1];
  const step = leads.length > 1 ? 1 : Math.max(1, Math.ceil(decades / count));
  const ticks = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); ++e)
    for (const lead of leads) {
      const value = lead * 10 ** e;
      if (e % step === 0 && value >= low * 0.999 && value <= high * 1.001)
        ticks.push({ value, text: tidyPower(value) });
    }
  return ticks;
}

function makeScale(domain, range, log) {
  const forward = log ? Math.log : (value) => value;
  const [a, b] = domain.map(forward);
  const scale = (value) => range[0] + ((forward(value) - a) / (b - a || 1)) * (range[1] - range[0]);
  scale.ticks = (count) => (log ? logTicks : linearTicks)(domain[0], domain[1], count);
  return scale;
}
