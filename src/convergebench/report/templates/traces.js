const $ = id => document.getElementById(id), SVG = "http://www.w3.org/2000/svg";
const FIELDS = ["editor", "pair", "source", "replicate"];
const view = { key: null, metric: null };
let chain = null;

function problem(words) { $("problem").hidden = false; $("problem").textContent = words; $("figure").hidden = true; }
function node(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
const finite = value => typeof value === "number";
function points(metric) {
  const found = Object.entries(metric.values).map(([step, value]) => [Number(step), value]).sort((a, b) => a[0] - b[0]);
  const plain = metric.name.replace(/-first$/, ""), start = plain === metric.name ? 0 : 1; // against step 1, step 1 is itself
  const self = start ? chain.metrics.find(one => one.name === plain)?.self : metric.self;
  if (finite(self) && !found.some(([step]) => step <= start)) found.unshift([start, self]);
  return found;
}
function ticks(low, high, count) { // round numbers inside, as in the report's other charts
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const size = [1, 2, 2.5, 5, 10].map(factor => factor * power).find(step => step >= rough * 0.999);
  const marks = [];
  for (let at = Math.ceil(low / size - 1e-9); at * size <= high + 1e-9 * size; at++) marks.push(at * size);
  const digits = Math.max(0, Math.ceil(-Math.log10(size) - 1e-9)) + (size / power === 2.5 ? 1 : 0);
  return marks.map(mark => [mark, CB.number(mark, digits)]);
}
function short(value) { const size = Math.abs(value); return CB.number(value, size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.1 || !size ? 2 : 4); }
function marked(last) {
  const shown = SHOWN.filter(step => step <= last);
  return shown.at(-1) === last ? shown : [...shown.slice(0, SHOWN.length - 1), last];
}
function title(metric) {
  const first = metric.name.endsWith("-first") ? metric.name.slice(0, -6) + " against step 1" : metric.name;
  return first + (metric.unit ? ", " + metric.unit : "") + (metric.better ? ` (${metric.better} better)` : "");
}
function draw(metric, marks, axis) {
  const wide = innerWidth > 720 ? 980 : 350, left = wide === 350 ? 44 : 58, right = wide - 28, top = 30, bottom = wide === 350 ? 150 : 176;
  const last = chain.steps.at(-1).index || 1, all = points(metric), known = all.filter(([, value]) => finite(value));
  const svg = node("svg", { class: "chart " + (wide === 350 ? "narrow" : "wide"), viewBox: `0 0 ${wide} ${bottom + (axis ? 44 : 14)}`, width: wide, height: bottom + (axis ? 44 : 14), role: "img", "aria-label": title(metric) });
  svg.append(node("text", { x: 0, y: 14, class: "axis-title" }, title(metric)));
  if (!known.length) { svg.append(node("text", { x: left, y: 60, class: "level-name" }, "no value: " + ([...new Set(Object.values(metric.missing))].join(", ") || "not measured"))); return svg; }
  const values = known.map(([, value]) => value), least = Math.min(...values), most = Math.max(...values);
  const pad = (most - least) * 0.12 || Math.abs(most) * 0.05 || 0.5, low = least - pad, high = most + pad;
  const X = step => left + (step / last) * (right - left), Y = value => bottom - ((value - low) / (high - low)) * (bottom - top);
  for (const [mark, words] of ticks(low, high, 4)) svg.append(node("line", { x1: left, x2: right, y1: Y(mark), y2: Y(mark), class: "grid" }), node("text", { x: left - 8, y: Y(mark) + 4, class: "tick", "text-anchor": "end" }, words));
  if (axis) {
    svg.append(node("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "axis" }), node("text", { x: left, y: bottom + 36, class: "axis-title" }, "steps"));
    for (const step of marks.filter((one, place) => !place || X(one) - X(marks[place - 1]) > 18)) svg.append(node("text", { x: X(step), y: bottom + 18, class: "tick", "text-anchor": "middle" }, String(step)));
  }
  let path = "", down = false;
  for (const [step, value] of all) { if (finite(value)) path += (down ? "L" : "M") + X(step).toFixed(1) + " " + Y(value).toFixed(1); down = finite(value); }
  const colour = CB.palette[chain.editor] || "currentColor";
  svg.append(node("path", { d: path, fill: "none", stroke: colour, class: "curve" }));
  for (const [step, value] of known.filter(([step]) => marks.includes(step) || known.length === 1))
    svg.append(node("g", { class: "dot" }, node("title", {}, `step ${step}: ${CB.number(value)}`), node("circle", { cx: X(step), cy: Y(value), r: 4.5, fill: colour })));
  return svg;
}
function says(metric) {
  const known = points(metric).filter(([, value]) => finite(value));
  if (known.length < 2) return "";
  const [first, before] = known[0], [last, after] = known.at(-1), sign = ({ "↑": 1, "↓": -1 }[metric.better] || 0) * (after - before);
  const word = !sign ? "" : sign < 0 ? ", which is worse" : metric.kind === "no-reference" ? ", which it calls better" : ", which is better";
  return `${title(metric).replace(/ \(.*/, "").replace(/,.*/, "")} goes from ${short(before)} (${first ? "step " + first : "the source"}) to ${short(after)} (step ${last})${word}.`;
}
function ends(metric) { const known = points(metric).filter(([, value]) => finite(value)); return known.length > 1 ? [known[0], known.at(-1)] : null; }
const gain = (metric, [[, before], [, after]]) => ({ "↑": 1, "↓": -1 }[metric.better] || 0) * (after - before);
function parted(metric, likeness) { // the sentence for a score that gets better while the picture does not
  const one = ends(metric), two = likeness && ends(likeness);
  if (metric.kind !== "no-reference" || !one || !two || gain(metric, one) <= 0 || gain(likeness, two) >= 0) return "";
  const [[begin, before], [end, after]] = one, [[, whole], [last, left]] = two;
  return `${metric.name} calls step ${end} better than ${begin ? "step " + begin : "the source"} (${short(before)} → ${short(after)}), while ${title(likeness).replace(/ \(.*/, "").replace(/,.*/, "")} ${left < whole ? "falls" : "rises"} from ${short(whole)} to ${short(left)} (step ${last}).`;
}
function show() {
  const offered = chain.metrics.filter(metric => !/-(lag\d+|replicate)$/.test(metric.name));
  if (!offered.length) return problem("Nothing was measured on this chain yet: cbench measure fills it in.");
  $("problem").hidden = true; $("figure").hidden = false;
  const metric = offered.find(one => one.name === view.metric) || offered.find(one => one.name === HEADLINE) || offered[0];
  view.metric = metric.name;
  const scores = offered.filter(one => ["full-reference", "semantic", "no-reference"].includes(one.kind) && (!/-first$/.test(one.name) || one.name === HEADLINE + "-first"));
  const buttons = scores.map(one => {
    const button = CB.make("button", { title: one.summary }, `${one.name} ${one.better}`.trim());
    button.setAttribute("role", "tab"); button.setAttribute("aria-selected", one === metric);
    button.addEventListener("click", () => { view.metric = one.name; show(); });
    return button;
  });
  const rest = offered.filter(one => !scores.includes(one));
  const more = CB.make("select", { id: "more", ariaLabel: "other metrics" }, CB.make("option", { value: "" }, "more …"), ...rest.map(one => CB.make("option", { value: one.name }, `${one.name} ${one.better}`.trim())));
  more.value = rest.includes(metric) ? metric.name : "";
  more.addEventListener("change", () => { view.metric = more.value || null; show(); });
  $("metrics").replaceChildren(...buttons, ...(rest.length ? [more] : []));
  const likeness = offered.find(one => one.name === HEADLINE + "-first") || offered.find(one => one.name === HEADLINE);
  const both = likeness && likeness !== metric ? [metric, likeness] : [metric];
  const pictured = chain.steps.filter(step => step.thumb), marks = marked(chain.steps.at(-1).index).filter(at => pictured.some(step => step.index === at));
  $("charts").replaceChildren(...both.map((one, place) => draw(one, marks, place === both.length - 1)));
  $("strip").style.setProperty("--n", Math.max(6, marks.length));
  $("strip").replaceChildren(...marks.map(at => {
    const step = chain.steps.find(one => one.index === at);
    const numbers = both.map(one => [one, points(one).find(([step]) => step === at)]).filter(([, found]) => found && finite(found[1]));
    return CB.make("li", {}, CB.make("a", { href: `viewer.html#c=${view.key}&s=${at}` }, CB.make("img", { src: step.thumb, alt: "step " + at, loading: "lazy" }),
      CB.make("span", { className: "n" }, CB.make("b", {}, at ? String(at) : "source")), ...numbers.map(([one, found]) => CB.make("span", { className: "n" }, `${one.name} ${short(found[1])}`))));
  }));
  $("finding").textContent = parted(...both) || both.map(says).filter(Boolean).join(" ") || `${metric.name} of ${chain.editor} on ${chain.case}`;
  $("caption").replaceChildren(CB.make("span", { className: "swatch", style: CB.swatches[chain.editor] }), `${chain.editor}, ${chain.case}. `, CB.make("b", {}, metric.name), `: ${metric.summary} Dots mark the steps shown below.`);
  history.replaceState(null, "", "#" + new URLSearchParams({ c: view.key, m: view.metric }));
  document.body.dataset.ready = `${view.key}:${view.metric}`;
}
async function open(key) {
  const row = CB.listed.find(one => one.key === key) || CB.listed[0];
  view.key = row.key;
  FIELDS.forEach((name, place) => {
    const fits = CB.listed.filter(one => FIELDS.slice(0, place).every(before => String(one[before]) === String(row[before])));
    const select = $("trace-" + name);
    select.replaceChildren(...[...new Set(fits.map(one => String(one[name])))].map(value => CB.make("option", { value }, value)));
    select.value = String(row[name]);
  });
  try { chain = await CB.loadChain(view.key); } catch (error) { return problem("This chain's data file is missing; write the report again."); }
  if (!chain.steps.length) return problem(`${chain.editor}, ${chain.case}: no step was made (${chain.status}).`);
  show();
}
function pick(place) {
  const wanted = FIELDS.map(name => $("trace-" + name).value);
  const score = row => FIELDS.reduce((sum, name, at) => sum + (String(row[name]) === wanted[at] ? (at === place ? 1000 : 10 ** (3 - at) / 10) : 0), 0);
  open(CB.listed.reduce((best, row) => score(row) > score(best) ? row : best, CB.listed[0]).key);
}
FIELDS.forEach((name, place) => $("trace-" + name).addEventListener("change", () => pick(place)));
function readAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  view.metric = asked.get("m") || FIRST.m || HEADLINE;
  return open(asked.get("c") || FIRST.c);
}
addEventListener("hashchange", readAddress);
addEventListener("resize", () => chain?.metrics.length && show());
CB.loadList().then(rows => rows.length ? readAddress() : problem("No chain was run yet.")).catch(error => problem("The list of chains is missing: " + error.message));
