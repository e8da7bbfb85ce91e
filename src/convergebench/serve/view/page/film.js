// The strip of all steps under the images.
import { thumbPath } from "./asking.js";
import { make, reduced } from "./make.js";

export function film(run, { go, unit }) {
  const node = make("ol", { class: "film", "aria-label": "steps" });
  let shown = null, marks = "";
  function fill(chain) {
    const closes = step => step.index > 0 && !chain.steps.some(one => one.round === step.round && one.index > step.index);
    const stamp = chain.chain + chain.steps.map(step => step.image).join();
    if (stamp === marks) return;
    marks = stamp;
    node.replaceChildren(...chain.steps.map(step => make("li", {}, make("button", { type: "button", class: step.leg === "forward" && unit !== "step" ? "forward" : null, title: step.instruction || "source", "data-step": step.index, onclick: () => go(step.index) },
      step.image ? make("img", { src: thumbPath(run, step.image, 96), loading: "lazy", alt: "" }) : make("span", { class: "none" }, step.status),
      make("span", {}, step.index === 0 ? "source" : unit !== "step" && closes(step) ? `${step.index} · n=${step.round}` : String(step.index))))));
    shown = null;
  }
  function show(chain, index) {
    fill(chain);
    if (shown === index) return;
    shown = index;
    for (const item of node.children) {
      const mine = Number(item.firstChild.dataset.step) === index;
      item.firstChild.setAttribute("aria-current", String(mine));
      if (mine) node.scrollTo({ left: item.offsetLeft - node.offsetLeft - node.clientWidth / 2 + 40, behavior: reduced() ? "auto" : "smooth" });
    }
  }
  return { node, show };
}
