// Which images a pane shows: of one chain, at one step, against another image, in one of six modes.
import { imageSource, mapSource, wornSource } from "./sources.js";

export const MODES = ["side", "wipe", "blink", "difference", "ssim", "worn"];
export const MODE_WORDS = { side: "side by side", wipe: "wipe", blink: "blink", difference: "difference", ssim: "SSIM map", worn: "worn map" };
export const GAINS = [1, 2, 4, 8, 16, 32];

export const stepAt = (chain, index) => chain.steps.find(step => step.index === index) ?? null;
export const lastStep = chain => chain.steps.at(-1)?.index ?? 0;

// The step that `against` names: source, previous, round (the end of the round before), step:N, or chain:KEY.
export function reference(chain, index, against, others) {
  if (against.startsWith("chain:")) {
    const other = others.get(against.slice(6));
    return other ? { chain: other, step: stepAt(other, index) } : null;
  }
  const here = stepAt(chain, index);
  const before = against === "previous" ? Math.max(0, index - 1)
    : against === "round" ? Math.max(0, ...chain.steps.filter(step => here && step.round < here.round).map(step => step.index))
    : against.startsWith("step:") ? Number(against.slice(5)) : 0;
  return { chain, step: stepAt(chain, before) };
}
export function called(chain, step, { alone = false } = {}) {
  if (!step) return `${chain.editor}: no such step`;
  const where = step.index === 0 ? "source" : `step ${step.index}`;
  return alone ? where : `${chain.editor}: ${where}`;
}
function missing(chain, step) {
  if (!step) return "This chain has no such step.";
  return step.image ? "" : `No image: ${step.status}${step.detail ? ", " + step.detail : ""}`;
}
// One entry per pane: {sources, mode, names, why, facts}; with `over` where a map is laid over the image.
export function views(run, chains, state, others) {
  const several = chains.length > 1, shown = [];
  const over = step => (state.mode === "worn" && step?.image ? { over: wornSource(run, step) } : {});
  const single = (chain, step, names) => ({ sources: step?.image ? [imageSource(run, step)] : [], mode: state.mode, names: [names], why: missing(chain, step), ...over(step) });
  if (state.mode === "side" || state.mode === "worn") {
    const that = reference(chains[0], state.step, state.against, others);
    if (that && !(that.chain === chains[0] && that.step?.index === state.step && several)) shown.push(single(that.chain, that.step, called(that.chain, that.step, { alone: that.step?.index === 0 })));
    for (const chain of chains) { const step = stepAt(chain, state.step); if (chain !== that?.chain || chain === chains[0]) shown.push(single(chain, step, called(chain, step))); }
    return shown;
  }
  for (const chain of chains) {
    const step = stepAt(chain, state.step), that = reference(chain, state.step, state.against, others);
    if (that?.chain === chain && several && state.against.startsWith("chain:")) continue;
    const names = [that ? called(that.chain, that.step, { alone: that.chain === chain }) : "", called(chain, step)];
    const why = missing(chain, step) || (that ? missing(that.chain, that.step) : "The chain to compare with cannot be read.");
    if (why) shown.push({ sources: [], mode: state.mode, names: [names[1]], why });
    else if (state.mode === "wipe") shown.push({ sources: [imageSource(run, step), imageSource(run, that.step)], mode: "wipe", names, why });
    else if (state.mode === "blink") shown.push({ sources: [imageSource(run, that.step), imageSource(run, step)], mode: "blink", names: [names[1]], blinked: names, why });
    else { const source = mapSource(run, step, that.step, state.mode, state.gain); shown.push({ sources: [source], mode: state.mode, names: [`${MODE_WORDS[state.mode]} of ${names[1]} and ${names[0]}`], why, facts: source.facts }); }
  }
  return shown;
}
export function differing(chain, state, others) {
  const step = stepAt(chain, state.step), that = reference(chain, state.step, state.against, others)?.step;
  if (!step?.width || !that?.width || (step.width === that.width && step.height === that.height)) return "";
  return `sizes differ: ${that.width} × ${that.height} against ${step.width} × ${step.height}`;
}
