const MODES = ["side by side", "wipe", "blink", "difference", "SSIM map"];
const GAINS = [1, 2, 4, 8, 16, 32];
const COUNTED = ["px", "colours"]; // units whose whole values need no decimals
const $ = id => document.getElementById(id);
const view = { key: null, step: 0, mode: "side by side", against: "source", zoom: null, x: 0, y: 0, gain: 4, wipe: 0.5, swapped: false, timer: null };
let chain = null, other = null;
const STEPS = CB.unit.one === "step"; // nothing is undone, so a step is all there is to count

// --- where we are: everything that matters is in the address, so a link shows what was seen ---
function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  view.key = given.get("c") || view.key || CB.listed[0]?.key;
  view.step = Number(given.get("s") ?? 0);
  if (MODES.includes(given.get("m"))) view.mode = given.get("m");
  if (given.get("a")) view.against = given.get("a");
  if (given.get("g")) view.gain = Number(given.get("g"));
  view.zoom = given.get("z") ? Number(given.get("z")) : view.zoom;
}
function writeAddress() {
  const said = new URLSearchParams({ c: view.key, s: view.step, m: view.mode, a: view.against });
  if (view.zoom) said.set("z", view.zoom);
  if (view.mode === "difference") said.set("g", view.gain);
  history.replaceState(null, "", "#" + said);
}

// --- which two images ---
const url = (of, step) => step?.image ? of.base + step.image : null;
const stepAt = (of, index) => of.steps.find(step => step.index === index);
function reference() {
  const here = stepAt(chain, view.step);
  if (view.against.startsWith("editor:"))
    return other ? { of: other, step: stepAt(other, view.step), key: view.against.slice(7) } : null;
  const index = view.against === "source" ? 0
    : view.against === "previous step" ? Math.max(0, view.step - 1)
    : view.against === "previous round" ? Math.max(0, ...chain.steps.filter(s => s.round < here.round).map(s => s.index))
    : Number(view.against.slice(5));
  return { of: chain, step: stepAt(chain, index), key: view.key };
}
// A step ends a round when it is the last of a round that was finished; the source ends round 0.
const closes = step => step.round <= chain.rounds && !chain.steps.some(s => s.round === step.round && s.index > step.index);
function called(of, step) {
  if (!step) return of.editor + ": no such step";
  const where = step.index === 0 ? "source" : STEPS ? `step ${step.index}` : `step ${step.index}, round ${step.round}, ${step.leg}`;
  return (of === chain ? "" : of.editor + ": ") + where;
}

// --- the stage ---
function image(path, step) {
  const picture = CB.make("img", { src: path, alt: "", draggable: false });
  picture.addEventListener("error", () => { // a report that was moved without its run still has the thumbnails
    if (!step?.thumb) return;
    picture.src = step.thumb;
    if (!$("moved")) $("scale").append(CB.make("span", { id: "moved", className: "badge loud" }, "thumbnails only: the run's images are not beside this report"));
  }, { once: true });
  return picture;
}
function pane(kind, name, ...children) {
  const inner = CB.make("div", { className: "view " + kind }, ...children);
  return CB.make("div", { className: "pane" }, inner, CB.make("span", { className: "name" }, name));
}
function missing(name, step) {
  const why = step ? `No image: ${step.status}${step.detail ? ", " + step.detail : ""}` : "This chain has no such step.";
  return CB.make("div", { className: "pane" }, CB.make("p", { className: "none" }, why), CB.make("span", { className: "name" }, name));
}
function drawStage() {
  const stage = $("stage"), here = stepAt(chain, view.step), that = reference();
  const mine = url(chain, here), theirs = that && url(that.of, that.step);
  const names = [that ? called(that.of, that.step) : "", called(chain, here)];
  stage.className = "stage" + (view.mode === "side by side" ? " side" : "");
  clearInterval(view.timer);
  const parts = [];
  if (view.mode === "side by side") {
    parts.push(theirs ? pane("", names[0], image(theirs, that.step)) : missing(names[0], that?.step), mine ? pane("", names[1], image(mine, here)) : missing(names[1], here));
  } else if (!mine || !theirs) {
    parts.push(missing(mine ? names[0] : names[1], mine ? that?.step : here));
  } else if (view.mode === "wipe") {
    const one = pane("wipe", names[0], image(mine, here), image(theirs, that.step));
    one.append(CB.make("span", { className: "name right" }, names[1]), CB.make("div", { className: "divider" }));
    parts.push(one);
  } else if (view.mode === "blink") {
    parts.push(pane("blink", names[1], image(theirs, that.step), image(mine, here)));
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) view.timer = setInterval(swap, 600);
  } else if (view.mode === "difference") {
    const one = pane("difference", `difference of ${names[1]} and ${names[0]}`, image(theirs, that.step), image(mine, here));
    one.querySelector(".view").style.filter = `url(#amplify-${view.gain})`;
    parts.push(one);
  } else {
    const canvas = CB.make("canvas", {});
    parts.push(pane("ssim", `SSIM map of ${names[1]} and ${names[0]}`, canvas));
    drawSsim(canvas, that);
  }
  stage.replaceChildren(...parts);
  for (const picture of stage.querySelectorAll("img")) if (!picture.complete) picture.onload = place;
  place();
  drawScale(here, that);
}
function swap() {
  view.swapped = !view.swapped;
  const shown = document.querySelector(".view.blink");
  if (!shown) return;
  shown.children[1].style.visibility = view.swapped ? "hidden" : "visible";
  const that = reference();
  shown.parentNode.querySelector(".name").textContent = view.swapped ? called(that.of, that.step) : called(chain, stepAt(chain, view.step));
}
const zoom = CB.zoomed($("stage"), view, {
  size: () => { const here = chain && stepAt(chain, view.step); return here ? [here.width || 512, here.height || 512] : [0, 0]; },
  placed: words => { $("zoom").textContent = words; },
  zoomed: writeAddress,
});
const place = zoom.place;

// --- SSIM on luma of the thumbnails: the only pixels a page from disk may read ---
async function luma(key, index) {
  const uris = await CB.loadMaps(key), at = CB.chains[key].steps.findIndex(step => step.index === index);
  if (!uris[at]) return null;
  const picture = image(uris[at]);
  await picture.decode();
  return picture;
}
function plane(picture, w, h) {
  const sheet = CB.make("canvas", { width: w, height: h }), pen = sheet.getContext("2d", { willReadFrequently: true });
  pen.drawImage(picture, 0, 0, w, h);
  const data = pen.getImageData(0, 0, w, h).data, out = new Float64Array(w * h);
  for (let i = 0; i < out.length; i++) out[i] = 0.299 * data[4 * i] + 0.587 * data[4 * i + 1] + 0.114 * data[4 * i + 2];
  return out;
}
function boxMean(values, w, h, r) {
  const sum = new Float64Array((w + 1) * (h + 1)), out = new Float64Array(w * h);
  for (let y = 0; y < h; y++) for (let x = 0, row = 0; x < w; x++) {
    row += values[y * w + x];
    sum[(y + 1) * (w + 1) + x + 1] = sum[y * (w + 1) + x + 1] + row;
  }
  for (let y = 0; y < h; y++) for (let x = 0; x < w; x++) {
    const a = Math.max(0, x - r), b = Math.min(w, x + r + 1), c = Math.max(0, y - r), d = Math.min(h, y + r + 1);
    out[y * w + x] = (sum[d * (w + 1) + b] - sum[c * (w + 1) + b] - sum[d * (w + 1) + a] + sum[c * (w + 1) + a]) / ((b - a) * (d - c));
  }
  return out;
}
function ssimMap(a, b, w, h) {
  const times = (p, q) => p.map((value, i) => value * q[i]), mean = p => boxMean(p, w, h, 3);
  const ma = mean(a), mb = mean(b), aa = mean(times(a, a)), bb = mean(times(b, b)), ab = mean(times(a, b));
  return ma.map((m, i) => ((2 * m * mb[i] + 6.5025) * (2 * (ab[i] - m * mb[i]) + 58.5225)) /
    ((m * m + mb[i] * mb[i] + 6.5025) * (aa[i] - m * m + bb[i] - mb[i] * mb[i] + 58.5225)));
}
const MAP = [[253, 231, 37], [94, 201, 98], [33, 145, 140], [59, 82, 139], [68, 1, 84]]; // viridis, from loss (yellow) to likeness (dark)
function mapColour(share) {
  const at = Math.min(0.9999, Math.max(0, share)) * (MAP.length - 1), low = Math.floor(at), part = at - low;
  return MAP[low].map((value, c) => value + (MAP[low + 1][c] - value) * part);
}
async function drawSsim(canvas, that) {
  const [a, b] = await Promise.all([luma(view.key, view.step), that?.step ? luma(that.key, that.step.index) : null]);
  if (!a || !b) { $("scale").textContent = "No SSIM map: one of the two has no image."; return; }
  const w = canvas.width = a.naturalWidth, h = canvas.height = a.naturalHeight;
  const map = ssimMap(plane(a, w, h), plane(b, w, h), w, h);
  const pen = canvas.getContext("2d"), sheet = pen.createImageData(w, h);
  map.forEach((value, i) => { const [r, g, blue] = mapColour(value); sheet.data.set([r, g, blue, 255], 4 * i); });
  pen.putImageData(sheet, 0, 0);
  const mean = map.reduce((sum, value) => sum + value, 0) / map.length;
  canvas.dataset.mean = mean.toFixed(4);
  const ramp = CB.make("i", { style: "background:linear-gradient(90deg,#fde725,#5ec962,#21918c,#3b528b,#440154)" });
  $("scale").replaceChildren("0", ramp, CB.make("span", {}, "1"), `mean ${CB.number(mean)}; coarse: on the luma of ${w} × ${h} thumbnails, 7-pixel window`);
}

function drawScale(here, that) {
  const scale = $("scale"), sizes = that?.step && here && (that.step.width !== here.width || that.step.height !== here.height);
  if (view.mode === "difference") {
    const ramp = CB.make("i", { style: "background:linear-gradient(90deg,#000004,#210c4a,#57106e,#8a226a,#bc3754,#e45a31,#f98e09,#f9cb35,#fcffa4)" });
    scale.replaceChildren("0", ramp, `${CB.number(255 / view.gain, view.gain > 8 ? 1 : 0)} of 255 levels, mean of the three channels, amplified × ${view.gain}`);
  } else if (view.mode !== "SSIM map") scale.replaceChildren();
  if (sizes) scale.append(CB.make("span", { className: "badge loud" }, `sizes differ: ${that.step.width} × ${that.step.height} is drawn as ${here.width} × ${here.height}`));
}

// --- beside the stage ---
function spark(metric) {
  const points = Object.entries(metric.values).map(([step, value]) => [Number(step), value]).filter(([, value]) => typeof value === "number");
  if (metric.self !== null && metric.self !== undefined && !("0" in metric.values)) points.unshift([0, metric.self]);
  const last = chain.steps.at(-1)?.index || 1, numbers = points.map(([, value]) => value);
  const low = Math.min(...numbers), most = Math.max(...numbers), high = most - low > 1e-4 * Math.abs(most) ? most : low + 1, X = step => (step / last) * 100, Y = value => 22 - ((value - low) / (high - low || 1)) * 18;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 100 26"); svg.setAttribute("preserveAspectRatio", "none");
  const add = (name, set) => { const node = document.createElementNS(svg.namespaceURI, name); for (const k in set) node.setAttribute(k, set[k]); svg.append(node); };
  add("line", { x1: X(view.step), x2: X(view.step), y1: 0, y2: 26, stroke: "var(--accent)", "vector-effect": "non-scaling-stroke" });
  add("polyline", { points: points.map(([s, v]) => X(s) + "," + Y(v)).join(" "), fill: "none", stroke: CB.palette[chain.editor] || "currentColor", "stroke-width": 1.6, "vector-effect": "non-scaling-stroke" });
  svg.addEventListener("click", event => { const box = svg.getBoundingClientRect(); go(Math.round(((event.clientX - box.left) / box.width) * last)); });
  return svg;
}
function drawFacts() {
  const here = stepAt(chain, view.step);
  $("headline").replaceChildren(CB.make("span", { className: "swatch", style: CB.swatches[chain.editor] }), `${chain.editor} · ${chain.pair} · ${chain.source}`);
  const badges = [[chain.kind], [chain.category], ["verdict: " + (chain.verdict ?? "unknown")]];
  if (chain.q !== null && chain.q !== undefined) badges.push(["q = " + CB.number(chain.q)]);
  for (const word of CB.marks[chain.editor] || []) badges.push([word, 1]);
  if (chain.status !== "finished") badges.push([`${chain.status} after ${chain.rounds} of ${chain.planned} ${CB.unit.heads}${chain.detail ? ": " + chain.detail : ""}`, 1]);
  if (chain.rounds < chain.planned) badges.push(["censored"]);
  $("badges").replaceChildren(...badges.map(([words, loud]) => CB.make("li", {}, CB.make("span", { className: "badge" + (loud ? " loud" : "") }, words ?? "–"))));
  $("step").textContent = here.index === 0 ? "Source" : `Step ${here.index} of ${chain.steps.at(-1).index}`;
  $("instruction").textContent = here.instruction || "";
  const facts = { ...(STEPS ? {} : { round: here.round, leg: here.leg }), size: here.width ? `${here.width} × ${here.height}` : "–", time: here.index ? CB.number(here.seconds, 2) + " s" : "–", price: here.index ? CB.number(here.dollars, 4) + " $" : "–", attempts: here.attempts ?? "–", ...(here.model ? { model: here.model } : {}), ...(here.used ? { used: here.used } : {}), status: here.status + (here.detail ? ": " + here.detail : "") };
  $("facts").replaceChildren(...Object.entries(facts).flatMap(([name, value]) => [CB.make("dt", {}, name), CB.make("dd", {}, String(value))]));
  $("thoughts").replaceChildren(...(here.thoughts || []).map(([title, text]) => CB.make("section", {}, ...(title ? [CB.make("h4", {}, title)] : []), CB.make("p", {}, text))));
  $("thoughts").parentNode.hidden = !(here.thoughts || []).length;
  const late = metric => /-lag([2-9]|\d\d)$/.test(metric.name);
  $("metrics").replaceChildren(drawMetrics(chain.metrics.filter(metric => !late(metric))));
  $("lags").replaceChildren(drawMetrics(chain.metrics.filter(late)));
  $("lags").parentNode.hidden = !chain.metrics.some(late);
}
function drawMetrics(metrics) {
  return CB.make("tbody", {}, ...metrics.map(metric => {
    const at = String(view.step), known = at in metric.values, start = view.step === 0 && metric.self !== null;
    const value = known ? metric.values[at] : start ? metric.self : undefined;
    const words = value === undefined ? "not here" : value === null ? "missing: " + metric.missing[at] : CB.number(value, COUNTED.includes(metric.unit) && Number.isInteger(value) ? 0 : 3) + (metric.unit ? " " + metric.unit : "");
    return CB.make("tr", { title: metric.summary + (value === undefined ? " Not measured at this step." : "") }, CB.make("td", {}, `${metric.name} ${metric.better}`), CB.make("td", { className: value === undefined || value === null ? "why" : "" }, words), CB.make("td", {}, spark(metric)));
  }));
}
function drawFilm() {
  $("film").replaceChildren(...chain.steps.map(step => {
    const button = CB.make("button", { className: step.leg, title: step.instruction || "source" },
      step.thumb ? CB.make("img", { src: step.thumb, loading: "lazy", alt: "" }) : CB.make("span", { className: "none" }),
      step.index === 0 ? "source" : closes(step) && !STEPS ? `${step.index} · n=${step.round}` : String(step.index));
    button.addEventListener("click", () => go(step.index));
    return CB.make("li", {}, button);
  }));
}
function drawControls() {
  $("modes").replaceChildren(...MODES.map((mode, place) => {
    const button = CB.make("button", { "aria-pressed": String(mode === view.mode) }, `${place + 1} ${mode}`);
    button.setAttribute("aria-pressed", mode === view.mode);
    button.addEventListener("click", () => { view.mode = mode; draw(); });
    return button;
  }));
  const rivals = CB.listed.filter(row => row.case === chain.case && row.editor !== chain.editor);
  const choices = [["source", "the source"], ["previous step", "the previous step"], ...(STEPS ? [["step 1", "step 1"]] : [["previous round", "the previous round"]]),
    ...rivals.map(row => ["editor:" + row.key, row.editor + ", same step"]), ...chain.steps.filter(step => !STEPS || step.index !== 1).map(step => ["step " + step.index, "step " + step.index])];
  $("against").replaceChildren(...choices.map(([value, words]) => CB.make("option", { value }, words)));
  if (!choices.some(([value]) => value === view.against)) view.against = "source";
  $("against").value = view.against;
}

// --- moving ---
async function draw() {
  drawControls();
  other = null;
  if (view.against.startsWith("editor:")) other = await CB.loadChain(view.against.slice(7));
  drawStage(); drawFacts();
  $("slider").max = chain.steps.at(-1)?.index ?? 0;
  $("slider").value = view.step;
  for (const [place, item] of [...$("film").children].entries()) {
    const now = chain.steps[place].index === view.step;
    item.firstChild.setAttribute("aria-current", now);
    if (now) $("film").scrollLeft = item.offsetLeft - $("film").offsetLeft - $("film").clientWidth / 2 + 40;
  }
  writeAddress();
  document.body.dataset.ready = `${view.key}:${view.step}:${view.mode}:${view.against}`;
}
function go(step) {
  const known = chain.steps.map(one => one.index);
  view.step = known.reduce((best, one) => Math.abs(one - step) < Math.abs(best - step) ? one : best, known[0] ?? 0);
  draw();
}
async function open(key, step) {
  view.key = key;
  try { chain = await CB.loadChain(key); } catch (error) { return problem("This chain's data file is missing; write the report again."); }
  if (!chain.steps.length) return problem(`${chain.editor}, ${chain.case}: no step was made (${chain.status}${chain.detail ? ", " + chain.detail : ""}).`);
  $("problem").hidden = true; $("viewer").hidden = false;
  const row = CB.listed.find(one => one.key === key);
  fill($("editor"), [...new Set(CB.listed.filter(one => one.case === row.case).map(one => one.editor))], row.editor);
  fill($("case"), [...new Set(CB.listed.filter(one => one.editor === row.editor).map(one => one.case))], row.case);
  drawFilm();
  go(step);
}
function fill(select, values, chosen) {
  select.replaceChildren(...values.map(value => CB.make("option", { value }, value)));
  select.value = chosen;
}
function problem(words) { $("problem").hidden = false; $("problem").textContent = words; $("viewer").hidden = true; }
function neighbour(by) {
  const at = CB.listed.findIndex(row => row.key === view.key), size = CB.listed.length;
  open(CB.listed[(at + by + size) % size].key, view.step);
}
function pick() {
  const row = CB.listed.find(one => one.editor === $("editor").value && one.case === $("case").value);
  if (row) open(row.key, view.step);
}
function cycle(values) { view.against = values[(values.indexOf(view.against) + 1) % values.length]; draw(); }
function jump(rounds) {
  const here = stepAt(chain, view.step), whole = chain.steps.filter(closes);
  const found = rounds > 0 ? whole.find(step => step.index > here.index) : whole.findLast(step => step.index < here.index);
  if (found) go(found.index);
}
const KEYS = {
  ArrowRight: () => go(view.step + 1), ArrowLeft: () => go(view.step - 1), ArrowUp: () => jump(1), ArrowDown: () => jump(-1),
  Home: () => go(0), End: () => go(chain.steps.at(-1).index), n: () => neighbour(1), p: () => neighbour(-1),
  r: () => cycle(["source", "previous step", STEPS ? "step 1" : "previous round"]),
  e: () => cycle([...document.querySelectorAll("#against option")].map(o => o.value).filter(v => v.startsWith("editor:"))),
  "+": () => zoom.by(2), "=": () => zoom.by(2), "-": () => zoom.by(0.5), 0: zoom.full, f: zoom.fit,
  "[": () => { view.gain = GAINS[Math.max(0, GAINS.indexOf(view.gain) - 1)]; draw(); },
  "]": () => { view.gain = GAINS[Math.min(GAINS.length - 1, GAINS.indexOf(view.gain) + 1)]; draw(); },
  " ": () => { clearInterval(view.timer); swap(); },
};
MODES.forEach((mode, place) => { KEYS[place + 1] = () => { view.mode = mode; draw(); }; });
document.addEventListener("keydown", event => {
  if (!chain || event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  if (event.target.id === "slider" && event.key.startsWith("Arrow")) event.target.blur();
  const act = KEYS[event.key];
  if (act && !(event.key === " " && event.target.tagName === "BUTTON")) { event.preventDefault(); act(); }
});
$("slider").addEventListener("input", event => go(Number(event.target.value)));
$("against").addEventListener("change", event => { view.against = event.target.value; draw(); });
$("editor").addEventListener("change", pick); $("case").addEventListener("change", pick);
$("zoom-in").addEventListener("click", () => zoom.by(2)); $("zoom-out").addEventListener("click", () => zoom.by(0.5));
$("fit").addEventListener("click", zoom.fit); $("full").addEventListener("click", zoom.full);
addEventListener("hashchange", () => { readAddress(); open(view.key, view.step); });
CB.loadList().then(rows => {
  if (!rows.length) return problem("No chain was run yet.");
  readAddress();
  return open(view.key, view.step);
}).catch(error => problem("The list of chains is missing: " + error.message));
