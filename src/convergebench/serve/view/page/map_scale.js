// The printed scale of a difference or SSIM map.
import { ask } from "./asking.js";
import { make } from "./make.js";
import { number } from "./words.js";

const COLOUR = /^#[0-9a-f]{6}$/i;

export function mapScale() {
  const node = make("div", { class: "scale", role: "status" });
  let turn = 0;
  async function show(path, { mode, gain, note }) {
    const mine = ++turn, badge = note ? make("span", { class: "badge loud" }, note) : "";
    if (!path) { node.replaceChildren(badge); return; }
    try {
      const found = await ask(path);
      if (mine !== turn) return;
      const ramp = make("i", { "aria-hidden": "true" });
      ramp.style.background = `linear-gradient(90deg, ${(found.stops ?? []).filter(stop => COLOUR.test(stop)).join(", ")})`;
      const digits = found.high >= 10 ? 1 : 3;
      node.replaceChildren(number(found.low, digits), ramp, make("span", {}, number(found.high, digits)), found.unit ? make("span", {}, found.unit) : "", mode === "difference" ? make("span", {}, `amplified × ${found.gain ?? gain}`) : "",
        typeof found.mean === "number" ? make("span", {}, `mean ${number(found.mean)}`) : "", found.note ? make("span", { class: "badge loud" }, found.note) : badge);
    } catch (error) {
      if (mine === turn) node.replaceChildren(make("span", { class: "why" }, error.message));
    }
  }
  return { node, show };
}
