// The toolbar over the images.
import { MODE_WORDS, MODES } from "./comparing.js";
import { button, make, options } from "./make.js";
import { swatch } from "./colours.js";

export function controls({ set, by, fit, full, play, whole, jump }) {
  const modes = make("span", { id: "modes", role: "group", "aria-label": "ways to compare" }), shown = make("output", { "aria-label": "zoom" });
  const against = make("select", { onchange: () => set({ against: against.value === "source" ? null : against.value }) });
  const editor = make("select", { onchange: () => jump(editor.value) }), chips = make("div", { class: "also", role: "group", "aria-label": "other editors of this case, beside" });
  const playing = button("▶", play, { class: "play", "aria-label": "play the steps" });
  const zoom = make("span", { class: "zoom" }, button("−", () => by(-1), { "aria-label": "zoom out" }), shown, button("+", () => by(1), { "aria-label": "zoom in" }), button("fit", fit), button("100 %", full));
  const node = make("div", {}, make("div", { class: "bar", role: "toolbar", "aria-label": "compare and zoom" }, modes, make("label", {}, "against ", against), zoom), make("div", { class: "bar second" }, make("label", {}, "editor ", editor), chips, button("full screen", whole)));

  function show({ state, main, chains, siblings, unit }) {
    modes.replaceChildren(...MODES.map((mode, place) => button(`${place + 1} ${MODE_WORDS[mode]}`, () => set({ mode: mode === "side" ? null : mode }), { "aria-pressed": String(mode === state.mode) })));
    const choices = [["source", "the source"], ["previous", "the previous step"], unit === "step" ? ["step:1", "step 1"] : ["round", "the previous round"],
      ...siblings.map(one => [`chain:${one.chain}`, `${one.editor}, same step`]), ...main.steps.filter(step => step.index && (unit !== "step" || step.index !== 1)).map(step => [`step:${step.index}`, `step ${step.index}`])];
    if (!choices.some(([value]) => value === state.against)) choices.push([state.against, state.against]);
    options(against, choices, state.against);
    options(editor, [[main.chain ?? "", main.editor], ...siblings.map(one => [one.chain, one.editor])], main.chain ?? "");
    chips.hidden = !siblings.length;
    chips.replaceChildren(make("span", { class: "soft" }, "beside it"), ...siblings.map(one => {
      const on = chains.some(chain => chain.chain === one.chain) || state.with.includes(one.chain), next = on ? state.with.filter(key => key !== one.chain) : [...state.with, one.chain];
      return button([make("span", { class: "swatch", style: swatch(one.editor) }), one.editor], () => set({ with: next.join(",") || null }), { "aria-pressed": String(on) });
    }));
  }
  return {
    node, playing, show,
    scale: scale => { shown.textContent = scale ? `${Math.round(scale * 100)} %` : ""; },
    played: on => { playing.textContent = on ? "❚❚" : "▶"; playing.setAttribute("aria-label", on ? "pause" : "play the steps"); },
  };
}
