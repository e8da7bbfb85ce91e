// Try it: one picture, one editor, a few rounds, watched while it happens.
import * as address from "./address.js";
import { api, ask, chainPath, runPath, send, thumbPath } from "./asking.js";
import { colours } from "./colours.js";
import { chart } from "./chart.js";
import { watch } from "./live.js";
import { livePanel } from "./live_panel.js";
import { button, make, options, say } from "./make.js";
import { setKeys } from "./keys.js";

const LARGEST = 32 * 1024 * 1024;

export async function open(root, names, query) {
  const editors = await ask("/api/editors");
  const problem = make("p", { class: "problem", role: "alert" }), watched = make("div");
  let picture = null, preview = null, following = null, closed = false;
  const file = make("input", { type: "file", accept: "image/*", class: "unseen", id: "picture", onchange: () => take(file.files[0]) });
  const shown = make("img", { alt: "", hidden: true }), hint = make("span", {}, "Drop a picture here, or choose one");
  const drop = make("label", { class: "drop", for: "picture" }, shown, hint);
  const editor = make("select", { id: "editor-choice", onchange: pairs }), pair = make("select", { id: "pair-choice", onchange: words }), said = make("p", { class: "note" });
  const rounds = make("input", { type: "number", min: 1, max: 50, value: 5, id: "rounds-choice" }), start = make("button", { class: "go" }, "start");
  const form = make("form", { class: "try", onsubmit: begin }, file, drop,
    make("div", { class: "choices" }, make("label", { for: "editor-choice" }, "editor", editor), make("label", { for: "pair-choice" }, "pair", pair), make("label", { for: "rounds-choice" }, "rounds", rounds), start), said, problem);
  root.replaceChildren(make("h1", {}, "Try it"), make("p", { class: "standfirst" }, "An editor adds something to your picture and removes it again, several times. Watch what is left of the picture."), form, watched);

  for (const name of ["dragenter", "dragover"]) drop.addEventListener(name, event => { event.preventDefault(); drop.classList.add("over"); });
  for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
  drop.addEventListener("drop", event => { event.preventDefault(); take(event.dataTransfer.files[0]); });

  function take(given) {
    say(problem, "");
    if (!given) return;
    if (given.size > LARGEST) return say(problem, `${given.name} has more than 32 MB; choose a smaller picture.`);
    if (given.type && !given.type.startsWith("image/")) return say(problem, `${given.name} is not a picture.`);
    picture = given;
    if (preview) URL.revokeObjectURL(preview);
    preview = URL.createObjectURL(given);
    shown.src = preview;
    shown.hidden = false;
    say(hint, given.name);
  }
  const chosen = () => editors.find(one => one.name === editor.value);
  function pairs() { options(pair, (chosen()?.pairs ?? []).map(one => one.name), chosen()?.pairs?.[0]?.name); words(); }
  function words() {
    const one = chosen()?.pairs?.find(known => known.name === pair.value);
    say(said, [chosen()?.summary, one && `“${one.forward}” then “${one.backward}”`].filter(Boolean).join(" · "));
  }
  async function begin(event) {
    event.preventDefault();
    if (!picture) return say(problem, "Choose a picture first.");
    const count = Number(rounds.value);
    if (!Number.isInteger(count) || count < 1 || count > 50) return say(problem, "Choose between 1 and 50 rounds.");
    const content = new FormData();
    content.append("picture", picture);
    content.append("editor", editor.value);
    content.append("pair", pair.value);
    content.append("rounds", String(count));
    start.disabled = true;
    say(problem, "");
    try {
      const { run } = await send("/api/try", content);
      address.set({ run }, { push: true });
    } catch (error) { say(problem, error.message); }
    start.disabled = false;
  }
  async function show(now) {
    const run = now.get("run");
    if (following?.run === run) return;
    following?.close();
    following = null;
    watched.replaceChildren();
    if (run) { const made = await follow(watched, run, words => say(problem, words)); if (closed || address.query().get("run") !== run) made.close(); else following = made; }
  }
  const usable = editors.filter(one => !one.needs);
  options(editor, editors.map(one => [one.name, one.needs ? `${one.name} (needs ${one.needs})` : one.name]), usable[0]?.name);
  for (const [place, one] of editors.entries()) editor.options[place].disabled = Boolean(one.needs);
  if (usable.length) pairs(); else { form.replaceChildren(make("p", { class: "empty" }, "No editor is ready here. Start the viewer where runs may be made: cbench view FOLDER")); }
  setKeys([]);
  await show(query);
  return { name: "try", title: "Try it", show, close() { closed = true; following?.close(); if (preview) URL.revokeObjectURL(preview); } };
}

// A run that is being made: its images and its curve grow.
async function follow(root, run, problem) {
  const panel = livePanel(run), drawn = chart(run, { hide: () => {} }), strip = make("ol", { class: "film grown" });
  const stop = button("stop", async () => { stop.disabled = true; try { await send(`/api/try/${encodeURIComponent(run)}/stop`, new FormData()); } catch (error) { problem(error.message); stop.disabled = false; } });
  const state = make("p", { role: "status" }), kept = make("a", { href: runPath(run) }, "open the run");
  root.append(make("section", { class: "curves" }, make("h2", {}, "Your run"), make("p", { class: "bar" }, state, stop, kept), strip, panel.node, drawn.node));
  let facts = null, drawing = false, ended = false;

  async function grow() {
    if (drawing) return;
    drawing = true;
    try {
      if (!facts) { facts = await ask(api(run)); colours(facts.editors); }
      const found = await ask(`${api(run, "images")}?sort=step&limit=200`), at = Object.fromEntries(found.columns.map((column, place) => [column.name, place]));
      const chains = await ask(`${api(run, "chains")}?limit=20`), of = name => chains.columns.findIndex(column => column.name === name);
      const firsts = chains.rows.filter(row => row[of("first")] && !found.rows.some(one => one[at.step] === 0)).map(row => ({ chain: row[of("chain")], step: 0, image: row[of("first")] }));
      const old = new Set([...strip.children].map(item => item.dataset.of));
      for (const { chain, step, image } of [...firsts, ...found.rows.map(row => ({ chain: row[at.chain], step: row[at.step], image: row[at.image] }))]) {
        const words = step === 0 ? "source" : `step ${step}`;
        if (!old.has(`${chain} ${step}`)) strip.append(make("li", { "data-of": `${chain} ${step}` }, make("a", { href: chainPath(run, chain, `step=${step}`) }, make("img", { src: thumbPath(run, image, 192), alt: words }), words)));
      }
      facts = found.rows.length && !facts.metrics.length ? await ask(api(run)) : facts;
      const metric = facts.metrics.find(one => one.name === facts.main) ?? facts.metrics[0];
      drawn.node.hidden = !metric;
      if (metric) {
        const curves = await ask(`${api(run, "curves")}?metric=${encodeURIComponent(metric.name)}`);
        drawn.node.hidden = !curves.series.some(series => series.points.length);
        if (!drawn.node.hidden) await drawn.show(curves, { unit: metric.unit, of: facts.unit || "round", hidden: new Set() });
      }
    } catch (error) { if (ended) problem(error.message); }
    drawing = false;
  }
  const finished = news => news.failures.length ? `Stopped early: ${news.failures[0].detail || "no reason given"}` : "Done.";
  const poll = watch(run, {
    starts: true,
    news: news => { say(state, news.live ? "Running." : finished(news)); stop.hidden = !news.live; panel.show(news); if (news.live ? news.changed.length : !ended) grow(); },
    ended: async () => { ended = true; facts = null; await grow(); },
  });
  return { run, close() { poll.close(); drawn.close(); root.replaceChildren(); } };
}
