// One chain under the magnifier: scrub its steps, compare, zoom, read what was said and measured.
import * as address from "./address.js";
import { api, ask, chainPath } from "./asking.js";
import { colours, swatch } from "./colours.js";
import { called, differing, GAINS, lastStep, MODES, stepAt, views } from "./comparing.js";
import { controls } from "./controls.js";
import { explorerKeys } from "./explorer_keys.js";
import { facts as beside } from "./facts.js";
import { film as filmOf } from "./film.js";
import { setKeys } from "./keys.js";
import { watch } from "./live.js";
import { announce, make, reduced } from "./make.js";
import { mapScale } from "./map_scale.js";
import { Stage } from "./stage.js";
import { number } from "./words.js";
import { wornMaps } from "./worn.js";

const BLINK = 600, PLAY = 500, KEPT = 24;

export async function open(root, [run, key]) {
  const [facts, main] = await Promise.all([ask(api(run)), ask(api(run, "chains", key)), library()]);
  colours(facts.editors);
  const unit = facts.unit || "round", known = new Map([[key, main]]), prefetched = new Map();
  let state = null, closed = false, blinking = null, playing = null, swapped = false, turn = 0, shownViews = [];

  const stage = new Stage({
    placed: (place, scale) => { bar.scale(scale); remember.place = place; remember(); },
    wiped: share => { stage.setWipe(share); state.wipe = share; remember(); },
  });
  const remember = address.later(() => address.set({ zoom: remember.place ? [remember.place.x, remember.place.y, Math.round(remember.place.scale * 1000) / 1000].join(",") : null, wipe: state.wipe === 0.5 ? null : state.wipe.toFixed(3), step: state.step || null }, { quiet: true }), 250);
  remember.place = null;
  const slider = make("input", { type: "range", id: "slider", min: 0, value: 0, "aria-label": "step", oninput: () => go(Number(slider.value)) });
  const scale = mapScale(), film = filmOf(run, { go, unit }), aside = make("aside", { "aria-label": "This step" });
  const worn = wornMaps(scale.node, { hide: () => { swap(); return swapped; } });
  const headline = make("h1"), badges = make("ul", { class: "badges" });
  const bar = controls({ set, by: direction => stage.by(direction), fit: () => stage.fit(), full: () => stage.scaleTo(1), play, whole, jump: chain => moveTo(chain).catch(error => announce(error.message)) });
  const left = make("div", { class: "left" }, make("div", { class: "title" }, headline, badges), bar.node, stage.node, scale.node, make("div", { class: "scrub" }, bar.playing, slider), film.node);
  root.replaceChildren(make("div", { id: "viewer" }, left, aside));

  function read(query) {
    const last = lastStep(main), wipe = Number(query.get("wipe") ?? 0.5), place = (query.get("zoom") ?? "").split(",").map(Number), gain = Number(query.get("gain"));
    const shown = (query.get("with") ?? "").split(",").filter(one => one && one !== key);
    return {
      step: Math.min(last, Math.max(0, Math.round(Number(query.get("step") ?? 0)) || 0)), mode: MODES.includes(query.get("mode")) ? query.get("mode") : "side", against: query.get("against") || "source",
      with: shown, gain: GAINS.includes(gain) ? gain : 4, wipe: wipe >= 0 && wipe <= 1 ? wipe : 0.5, place: place.length === 3 && place.every(Number.isFinite) && place[2] > 0 ? { x: place[0], y: place[1], scale: place[2] } : null,
    };
  }
  async function others(keys) {
    await Promise.all([...keys].filter(one => !known.has(one)).map(async one => {
      try { known.set(one, await ask(api(run, "chains", one))); } catch (error) { announce(error.message); }
    }));
    for (const one of known.keys()) if (known.size > KEPT && one !== key && !keys.has(one)) known.delete(one);
  }
  async function show(query) {
    const mine = ++turn, first = state === null, before = state;
    state = read(query);
    if (!main.steps.length) return nothing();
    const wanted = new Set(state.with);
    if (state.against.startsWith("chain:")) wanted.add(state.against.slice(6));
    if (wanted.size) await others(wanted);
    if (mine !== turn || closed) return;
    if (JSON.stringify(state.place) !== JSON.stringify(remember.place) || first) { remember.place = state.place; stage.place(state.place); }
    await drawn(before);
  }
  const chains = () => [main, ...state.with.map(one => known.get(one)).filter(Boolean)];

  async function drawn(before) {
    const here = stepAt(main, state.step) ?? main.steps[0];
    clearInterval(blinking);
    worn.stop();
    blinking = null;
    swapped = false;
    head();
    bar.show({ state, main, chains: chains(), siblings: main.siblings ?? [], unit });
    slider.max = lastStep(main);
    slider.value = state.step;
    slider.setAttribute("aria-valuetext", called(main, here, { alone: true }));
    film.show(main, state.step);
    beside(aside, chains(), state, { go, rounds: unit !== "step" });
    if (before && before.step !== state.step) announce(spoken(here));
    shownViews = views(run, chains(), state, known);
    const size = shownViews[0]?.sources[0];
    scale.show(shownViews.find(view => view.facts)?.facts ?? null, { mode: state.mode, gain: state.gain, note: differing(main, state, known) });
    delete document.body.dataset.shown;
    const wanted = `${state.step}:${state.mode}:${state.against}:${state.with.join("+")}`;
    await stage.show(shownViews, { ratio: size ? size.width / size.height : 1, wipe: state.wipe });
    if (closed || wanted !== `${state.step}:${state.mode}:${state.against}:${state.with.join("+")}`) return;
    document.body.dataset.shown = wanted;
    stage.tell();
    if (state.mode === "blink" && !reduced()) blinking = setInterval(swap, BLINK);
    ahead();
    if (state.mode === "worn") worn.lay(stage, shownViews);
  }
  function head() {
    headline.replaceChildren(make("span", { class: "swatch", style: swatch(main.editor) }), [main.editor, main.pair, main.source].filter(Boolean).join(" · "));
    const marks = [main.status && [main.detail ? `${main.status}: ${main.detail}` : main.status, main.status !== "finished"], main.verdict && [`verdict: ${main.verdict}`],
      typeof main.half_life === "number" && [`half-life ${number(main.half_life, 1)} ${unit}s`], facts.editors.find(one => one.name === main.editor)?.simulated && ["simulated", true]];
    badges.replaceChildren(...marks.filter(Boolean).map(([words, loud]) => make("li", {}, make("span", { class: "badge" + (loud ? " loud" : "") }, words))));
  }
  const spoken = step => [called(main, step, { alone: true }), step.instruction].filter(Boolean).join(": ");
  function nothing() {
    root.replaceChildren(make("p", { class: "empty", role: "alert" }, `${main.editor}, ${main.case}: no step was made (${main.status}${main.detail ? ", " + main.detail : ""}).`));
  }
  function swap() {
    swapped = !swapped;
    stage.swap(swapped);
    stage.panes.forEach((pane, place) => { const names = shownViews[place]?.blinked; if (names) pane.label([names[swapped ? 0 : 1]]); });
  }
  // The neighbours of the step, so that the next key press shows at once; a few are kept.
  function ahead() {
    for (const chain of chains().slice(0, 4)) for (const by of [1, -1, 2]) for (const source of views(run, [chain], { ...state, step: state.step + by }, known).flatMap(view => (view.facts ? [] : view.sources))) {
      const path = source.maxLevel === 0 ? source.getTileUrl(0, 0, 0) : null;
      if (!path || prefetched.has(path)) continue;
      const image = new Image();
      image.src = path;
      prefetched.set(path, image);
      while (prefetched.size > KEPT) prefetched.delete(prefetched.keys().next().value);
    }
  }
  function go(step) {
    const indexes = main.steps.map(one => one.index), next = indexes.reduce((best, one) => (Math.abs(one - step) < Math.abs(best - step) ? one : best), indexes[0] ?? 0);
    if (next === state.step) return;
    const before = { ...state };
    state.step = next;
    remember();
    drawn(before);
  }
  function play() {
    if (playing) { clearInterval(playing); playing = null; } else {
      if (state.step === lastStep(main)) go(0);
      playing = setInterval(() => { if (state.step >= lastStep(main)) { clearInterval(playing); playing = null; bar.played(false); } else go(state.step + 1); }, PLAY);
    }
    bar.played(Boolean(playing));
  }
  function round(by) {
    const ends = main.steps.filter(step => !main.steps.some(one => one.round === step.round && one.index > step.index));
    const found = by > 0 ? ends.find(step => step.index > state.step) : ends.findLast(step => step.index < state.step);
    if (found) go(found.index);
  }
  function whole() { document.fullscreenElement ? document.exitFullscreen() : left.requestFullscreen?.().catch(() => announce("Full screen is not possible here.")); }
  // Another chain, compared with the same editors as this one.
  async function moveTo(chain) {
    const near = (await ask(api(run, "chains", chain))).siblings ?? [], named = new Map([[key, main.editor], ...(main.siblings ?? []).map(one => [one.chain, one.editor])]);
    const same = one => near.find(other => other.editor === named.get(one))?.chain;
    const other = state.against.startsWith("chain:") ? same(state.against.slice(6)) : null;
    const query = address.withQuery({ step: state.step || null, with: state.with.map(same).filter(Boolean).join(",") || null, against: other ? `chain:${other}` : state.against.startsWith("chain:") ? null : state.against });
    address.go(chainPath(run, chain, String(query)));
  }
  async function neighbour(by) {
    const wanted = 500;
    for (let offset = 0, before = null; ; offset += wanted) {
      const { total, columns, rows } = await ask(`${api(run, "chains")}?offset=${offset}&limit=${wanted}`), place = columns.findIndex(column => column.name === "chain"), keys = rows.map(row => row[place]), at = keys.indexOf(key);
      if (at >= 0) {
        const next = keys[at + by] ?? (by < 0 ? before : (await ask(`${api(run, "chains")}?offset=${(offset + at + 1) % total}&limit=1`)).rows[0]?.[place]);
        return next && next !== key ? moveTo(next) : announce("There is no other chain.");
      }
      before = keys.at(-1);
      if (!rows.length || offset + rows.length >= total) return;
    }
  }
  // The step goes into the address first, so that "back" returns to it.
  function set(values) { remember.flush(); address.set({ step: state.step || null, ...values }, { push: true }); }
  setKeys(explorerKeys({ go, round, play, swap: () => { clearInterval(blinking); swap(); }, whole, neighbour: by => neighbour(by).catch(error => announce(error.message)), stage, set, state: () => state, main, unit, last: () => lastStep(main) }));
  const poll = watch(run, {
    starts: facts.live, ended: async () => {},
    news: async found => {
      if (!found.changed?.includes(key) && !found.changed?.some(one => known.has(one))) return;
      for (const one of found.changed) if (known.has(one)) { const fresh = await ask(api(run, "chains", one)); one === key ? Object.assign(main, fresh) : known.set(one, fresh); }
      if (!closed) show(address.withQuery({ step: state?.step || null }));
    },
  });
  await show(address.query());
  return { name: "explorer", title: `${main.editor} · ${main.case}`, show, close() { closed = true; worn.stop(); poll.close(); remember.cancel(); clearInterval(blinking); clearInterval(playing); stage.close(); prefetched.clear(); delete document.body.dataset.shown; } };
}

let loaded = null;
function library() {
  return (loaded ??= new Promise((done, fail) => {
    const script = make("script", { src: "/static/openseadragon.min.js" });
    script.onload = done;
    script.onerror = () => { loaded = null; fail(new Error("The zoom cannot be loaded; reload the page.")); };
    const taken = document.createElementNS("urn:convergebench", "style"); // OpenSeadragon looks for it before it adds a style sheet, which the page's policy forbids
    taken.setAttribute("data-openseadragon-mobile-css", "");
    document.head.append(taken, script);
  }));
}
