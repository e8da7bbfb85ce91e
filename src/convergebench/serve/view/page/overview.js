// First tab: what happens now, the curves, the least and the most changed chain, how it was made.
import { api, ask } from "./asking.js";
import * as address from "./address.js";
import { chart } from "./chart.js";
import { livePanel } from "./live_panel.js";
import { button, make, options } from "./make.js";
import { made } from "./made.js";
import { strips } from "./strips.js";
import { arrow } from "./words.js";

const AS_BUTTONS = 8, REDRAW = 4000;

export async function open(root, { name, facts }) {
  const panel = livePanel(name), pictures = make("div"), choice = make("div", { class: "switch" }), about = make("p", { class: "note" });
  const drawn = chart(name, { hide: set => address.set({ hide: [...set] }) });
  const problem = make("p", { class: "empty", hidden: true });
  const curves = make("section", { class: "curves" }, make("h2", {}, "Curves"), choice, about, problem, drawn.node);
  root.replaceChildren(panel.node, curves, pictures, made(facts));
  let asked = null, drawnAt = 0;

  function metricOf(query) {
    const names = facts.metrics.map(metric => metric.name), wanted = query.get("metric");
    return names.includes(wanted) ? wanted : names.includes(facts.main) ? facts.main : names[0];
  }
  function choose(metric) {
    const names = facts.metrics.map(one => [one.name, `${one.name} ${arrow(one.better)}`]);
    if (names.length <= AS_BUTTONS) {
      choice.replaceChildren(...names.map(([one, words]) => button(words, () => address.set({ metric: one }, { push: true }), { "aria-pressed": String(one === metric) })));
    } else {
      const select = make("select", { onchange: () => address.set({ metric: select.value }, { push: true }) });
      options(select, names, metric);
      choice.replaceChildren(make("label", {}, "metric ", select));
    }
  }
  async function show(query) {
    const metric = metricOf(query), known = facts.metrics.find(one => one.name === metric);
    curves.hidden = !metric;
    if (!metric) return;
    choose(metric);
    about.textContent = known.summary ?? "";
    const mine = (asked = {});
    try {
      const found = await ask(`${api(name, "curves")}?metric=${encodeURIComponent(metric)}`);
      if (asked !== mine) return;
      const empty = !found.series.some(series => series.points.length);
      problem.hidden = !empty;
      drawn.node.hidden = empty;
      if (empty) problem.textContent = facts.live ? `${metric} is not measured yet.` : `${metric} has no value in this run.`;
      else await drawn.show(found, { unit: known.unit, of: facts.unit || "round", hidden: new Set(query.getAll("hide")) });
      drawnAt = Date.now();
    } catch (error) {
      if (asked !== mine) return;
      problem.hidden = false;
      problem.textContent = error.message;
    }
  }
  function news(found) {
    panel.show(found);
    if (found.live && found.changed.length && Date.now() - drawnAt > REDRAW) show(address.query());
  }
  await show(address.query());
  strips(pictures, name, facts).catch(() => { /* the page is whole without them */ });
  return { show, news, ended: () => { show(address.query()); strips(pictures, name, facts).catch(() => {}); }, close() { asked = null; drawn.close(); } };
}
