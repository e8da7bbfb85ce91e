const $ = id => document.getElementById(id);
const FIELDS = ["editor", "pair", "source", "replicate"];
const view = { key: null, metric: null };
let chain = null;

function problem(words) { $("problem").hidden = false; $("problem").textContent = words; $("figure").hidden = true; }
const finite = value => typeof value === "number";
function points(metric) {
  const found = Object.entries(metric.values).map(([step, value]) => [Number(step), value]).sort((a, b) => a[0] - b[0]);
  const plain = metric.name.replace(/-first$/, ""), start = plain === metric.name ? 0 : 1; // against step 1, step 1 is itself
  const self = start ? chain.metrics.find(one => one.name === plain)?.self : metric.self;
  if (finite(self) && !found.some(([step]) => step <= start)) found.unshift([start, self]);
  return found;
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
  const last = chain.steps.at(-1).index || 1, all = points(metric), known = all.filter(([, value]) => finite(value));
  if (!known.length) return CB.make("p", { className: "note" }, `${title(metric)}: no value (${[...new Set(Object.values(metric.missing))].join(", ") || "not measured"})`);
  const values = known.map(([, value]) => value), least = Math.min(...values), most = Math.max(...values);
  const pad = (most - least) * 0.12 || Math.abs(most) * 0.05 || 0.5, ends = { x0: 0, x1: last, y0: least - pad, y1: most + pad };
  const chart = JSON.parse(JSON.stringify(MODELS[axis ? "last" : "first"]).replaceAll("var(--e1)", CB.palette[chain.editor] || "currentColor"));
  const dots = known.filter(([step]) => marks.includes(step) || known.length === 1);
  chart.label = `${title(metric)} of ${chain.editor} on ${chain.case}. ${says(metric)}`;
  chart.datasets = { d0: { columns: ["x", "y"], rows: all.map(([step, value]) => [step, finite(value) ? value : null]) },
    d1: { columns: ["x", "y", "says"], rows: dots.map(([step, value]) => [step, value, `step ${step}: ${CB.number(value)}`]) } };
  for (const spec of [chart.wide, chart.narrow]) {
    for (const one of spec.params) if (one.name in ends) one.value = ends[one.name];
    const { x, y } = spec.layer[0].encoding;
    x.datum = 0; y.datum = ends.y0; y.axis.title = title(metric);
    delete x.axis.values;
    spec.usermeta.table.columns[1][1] = metric.name;
  }
  const box = CB.make("div", { className: "vega" }, CB.make("script", { type: "application/json", textContent: JSON.stringify(chart) }));
  startChart(box);
  return box;
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
  $("metrics").replaceChildren(...buttons);
  $("other").replaceChildren(...(rest.length ? [more] : []));
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
CB.loadList().then(rows => rows.length ? readAddress() : problem("No chain was run yet.")).catch(error => problem("The list of chains is missing: " + error.message));
