// Keys of the explorer; those of the report's viewer, and a few more.
import { GAINS, MODE_WORDS, MODES } from "./comparing.js";

export function explorerKeys({ go, round, play, swap, whole, neighbour, stage, set, state, main, unit, last }) {
  const cycle = values => { if (values.length) set({ against: values[(values.indexOf(state().against) + 1) % values.length] }); };
  const amplify = by => set({ gain: GAINS[Math.max(0, Math.min(GAINS.length - 1, GAINS.indexOf(state().gain) + by))] });
  const siblings = () => (main.siblings ?? []).map(one => one.chain);
  const before = unit === "step" ? "step:1" : "round";
  return [
    { key: "ArrowLeft", act: () => go(state().step - 1) },
    { key: "ArrowRight", shown: ["←", "→"], words: "previous, next step", act: () => go(state().step + 1) },
    { key: "ArrowUp", act: () => round(1) },
    { key: "ArrowDown", shown: ["↑", "↓"], words: "next, previous round", act: () => round(-1) },
    { key: "Home", act: () => go(0) },
    { key: "End", shown: ["Home", "End"], words: "source, last step", act: () => go(last()) },
    { key: " ", words: "play the steps; in blink: swap by hand", act: () => (state().mode === "blink" ? swap() : play()) },
    ...MODES.map((mode, place) => ({ key: String(place + 1), words: MODE_WORDS[mode], act: () => set({ mode: mode === "side" ? null : mode }) })),
    { key: "r", words: `against source, previous step, ${unit === "step" ? "step 1" : "previous round"}`, act: () => cycle(["source", "previous", before]) },
    { key: "e", words: "against the next editor, same case and step", act: () => cycle(siblings().map(one => `chain:${one}`)) },
    { key: "a", words: "all editors of this case, or this one only", act: () => set({ with: state().with.length ? null : siblings().slice(0, 7).join(",") }) },
    { keys: ["+", "="], act: () => stage.by(1) },
    { key: "-", shown: ["+", "−"], words: "zoom in, out", act: () => stage.by(-1) },
    { key: "0", words: "100 %: one image pixel is one screen pixel", act: () => stage.scaleTo(1) },
    { key: "f", words: "fit", act: () => stage.fit() },
    { key: "[", act: () => amplify(-1) },
    { key: "]", shown: ["[", "]"], words: "amplify the difference less, more", act: () => amplify(1) },
    { key: "o", words: "worn map: the images without it, and with it", act: () => (state().mode === "worn" ? document.querySelector(".scale button")?.click() : false) },
    { key: "n", act: () => neighbour(1) },
    { key: "p", shown: ["n", "p"], words: "next, previous chain", act: () => neighbour(-1) },
    { key: "x", words: "full screen", act: whole },
  ];
}
