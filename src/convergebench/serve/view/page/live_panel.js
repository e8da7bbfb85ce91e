// The live panel: progress, speed, dollars, time left, failures, and images as they arrive.
import { chainPath, thumbPath } from "./asking.js";
import { announce, make, say } from "./make.js";
import { counted, dollars, duration, grouped } from "./words.js";

const NEWEST = 16, LISTED = 50;

export function livePanel(run) {
  const progress = make("progress", { max: 1, value: 0, "aria-label": "steps done" });
  const facts = make("dl", { class: "live-facts" }), newest = make("ol", { class: "newest" });
  const failed = make("details", { class: "failed", hidden: true }, make("summary"), make("ul", { class: "plain" }));
  const moving = make("div", {}, make("h2", { class: "unseen" }, "Now"), progress, facts, newest);
  const node = make("section", { class: "now", "aria-label": "Progress", hidden: true }, moving, failed);
  const cells = new Map();
  let images = [], told = "";

  function fact(name, words) {
    if (!cells.has(name)) {
      const value = make("dd");
      cells.set(name, value);
      facts.append(make("div", {}, make("dt", {}, name), value));
    }
    say(cells.get(name), words);
  }
  function failures(list) {
    failed.hidden = !list.length;
    if (!list.length) return;
    say(failed.querySelector("summary"), `${counted(list.length, "failure")}: ${list[0].detail || "no reason given"}`);
    const shown = list.slice(0, LISTED).map(one => make("li", {},
      make("a", { href: chainPath(run, one.chain, `step=${one.step ?? 0}`) }, `${one.editor}, ${one.case}, step ${one.step ?? "–"}`), `: ${one.detail || "no reason given"}`));
    if (list.length > LISTED) shown.push(make("li", { class: "soft" }, `and ${grouped(list.length - LISTED)} more: see the chains that are not finished`));
    failed.querySelector("ul").replaceChildren(...shown);
  }
  function arriving(list) {
    const known = new Set(images.map(one => one.image + one.chain + one.step));
    images = [...list.filter(one => one.image && !known.has(one.image + one.chain + one.step)), ...images].slice(0, NEWEST);
    const old = new Map([...newest.children].map(item => [item.dataset.of, item]));
    newest.replaceChildren(...images.map(one => {
      const of = one.image + one.chain + one.step;
      return old.get(of) ?? make("li", { "data-of": of }, make("a", { href: chainPath(run, one.chain, `step=${one.step}`) },
        make("img", { src: thumbPath(run, one.image, 96), alt: `${one.editor}, ${one.case}, step ${one.step}`, width: 96, height: 96 }), make("span", {}, `${one.editor} · ${one.step}`)));
    }));
  }
  function show(news) {
    node.hidden = !news.live && !news.failures.length;
    moving.hidden = !news.live;
    node.classList.toggle("quiet", !news.live);
    failures(news.failures);
    if (!news.live) return;
    const share = news.planned_steps ? news.steps / news.planned_steps : null;
    if (share === null) progress.removeAttribute("value"); else progress.value = Math.min(1, share);
    fact("steps", news.planned_steps ? `${grouped(news.steps)} of ${grouped(news.planned_steps)}` : grouped(news.steps));
    fact("per minute", news.steps_per_minute === null || news.steps_per_minute === undefined ? "–" : news.steps_per_minute.toFixed(1));
    fact("dollars", dollars(news.dollars));
    fact("time left", news.seconds_left === null || news.seconds_left === undefined ? "unknown" : `about ${duration(news.seconds_left)}`);
    fact("failures", grouped(news.failures.length));
    arriving(news.newest);
    const tenth = share === null ? "" : `${Math.floor(share * 10) * 10} % of the steps are done`;
    if (tenth !== told) announce((told = tenth));
  }
  return { node, show };
}
