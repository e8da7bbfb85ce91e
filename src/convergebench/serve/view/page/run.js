// One run: its finding, and three tabs.
import { api, ask } from "./asking.js";
import { withQuery } from "./address.js";
import { make, say } from "./make.js";
import { setKeys } from "./keys.js";
import { counted } from "./words.js";
import { colours } from "./colours.js";
import { watch } from "./live.js";

const TABS = {
  overview: () => import("./overview.js"),
  images: () => import("./images.js"),
  chains: () => import("./chains.js"),
};
const STAYS = { overview: ["metric"], images: [], chains: [] };

export async function open(root, [name], query) {
  const facts = await ask(api(name));
  colours(facts.editors);
  const badges = make("ul", { class: "badges" }), finding = make("h1", { class: "finding" }), panel = make("div", { class: "tab" });
  const tabs = make("nav", { class: "tabs", "aria-label": "Parts of the run" });
  root.replaceChildren(finding, badges, tabs, panel);
  let part = null, shown = null, closed = false;

  function head() {
    say(finding, facts.finding || "No finding yet: " + (facts.live ? "the run has just begun." : "this run has no analysis."));
    const marks = [facts.live && make("span", { class: "badge live" }, "live"), make("span", { class: "badge" }, facts.study),
      make("span", { class: "badge" }, counted(facts.steps, "step")),
      ...Object.entries(facts.statuses).map(([status, count]) => make("span", { class: "badge" + (status === "finished" ? "" : " loud") }, `${counted(count, "chain")} ${status}`)),
      ...simulated(facts.editors), facts.report && make("a", { class: "badge", href: facts.report }, "report")];
    badges.replaceChildren(...marks.filter(Boolean).map(mark => make("li", {}, mark)));
  }
  const poll = watch(name, {
    starts: facts.live,
    news: news => {
      Object.assign(facts, { live: news.live, statuses: news.statuses, steps: news.steps, planned_steps: news.planned_steps, dollars: news.dollars });
      head();
      part?.news?.(news);
    },
    ended: async () => { Object.assign(facts, await ask(api(name))); colours(facts.editors); if (!closed) { head(); part?.ended?.(); } },
  });

  async function show(next) {
    const tab = next.get("tab") in TABS ? next.get("tab") : "overview";
    tabs.replaceChildren(...Object.keys(TABS).map(one => {
      const reset = Object.fromEntries([...next.keys()].filter(key => !STAYS[one].includes(key)).map(key => [key, null]));
      const to = withQuery({ ...reset, tab: one === "overview" ? null : one }, next);
      return make("a", { href: location.pathname + (String(to) ? "?" + to : ""), "aria-current": one === tab ? "page" : null }, one);
    }));
    if (shown === tab) return part?.show(next);
    shown = tab;
    part?.close?.();
    part = null;
    setKeys([]);
    root.classList.toggle("whole", tab !== "overview");
    panel.replaceChildren();
    try {
      const made = await (await TABS[tab]()).open(panel, { name, facts, query: next, poll });
      if (shown !== tab || closed) return made.close?.();
      part = made;
      if (poll.last) part.news?.(poll.last);
    } catch (error) {
      if (shown === tab) panel.replaceChildren(make("p", { class: "empty", role: "alert" }, error.message));
    }
  }
  head();
  await show(query);
  return { name: "run", title: facts.title || name, show, close() { closed = true; poll.close(); part?.close?.(); root.classList.remove("whole"); } };
}

function simulated(editors) {
  const count = editors.filter(one => one.simulated).length;
  return count ? [make("span", { class: "badge loud" }, `${counted(count, "editor")} simulated`)] : [];
}
