// Where images are worn: the image is shown at once, its map is laid over it when the server has judged it, which takes seconds for a large one.
import { aborted, ask } from "./asking.js";
import { MODE_WORDS } from "./comparing.js";
import { button, make } from "./make.js";
import { counted } from "./words.js";

const WAIT = 150; // scrubbing asks for no map of the steps that it passes
const COLOUR = /^#[0-9a-f]{6}$/i;

// `root`: the line under the images; `hide()`: the images without their maps, or with them again.
export function wornMaps(root, { hide }) {
  let asking = null;
  function stop() {
    asking?.abort();
    asking = null;
  }
  async function lay(stage, views) {
    stop();
    const mine = (asking = new AbortController()), shown = views.filter(view => view.over && !view.why), found = [];
    if (!shown.length) return;
    root.replaceChildren(make("span", {}, "looking for wear …"));
    await new Promise(done => setTimeout(done, WAIT));
    const problems = await Promise.all(shown.map(async view => { // in the order of the panes
      if (mine !== asking) return null;
      try {
        const facts = await ask(view.over.facts, { signal: mine.signal });
        if (mine !== asking) return null;
        found.push(facts);
        const pane = stage.panes[views.indexOf(view)], words = facts.words.replaceAll(" %", "\u00a0%");
        await pane.show([...view.sources, view.over], { mode: "worn", names: [`${view.names[0]}, ${words}`] });
        if (mine === asking) pane.node.setAttribute("aria-label", `${MODE_WORDS.worn} of ${view.names[0]}: ${words}`);
      } catch (error) {
        if (!aborted(error)) return make("span", { class: "why" }, `${view.names[0]}: ${error.message}`);
      }
      return null;
    }));
    if (mine === asking) root.replaceChildren(...(found.length ? legend(found, hide) : []), ...problems.filter(Boolean));
  }
  return { lay, stop };
}

function legend(found, hide) {
  const [{ ends, stops }] = found, parts = found.reduce((sum, one) => sum + one.parts, 0), unknown = found.reduce((sum, one) => sum + one.unknown, 0);
  const ramp = make("i", { "aria-hidden": "true" });
  ramp.style.background = `linear-gradient(90deg, ${stops.filter(stop => COLOUR.test(stop)).join(", ")})`;
  return [ends[0], ramp, make("span", {}, ends[1]),
    unknown ? make("span", {}, make("i", { class: "hatched", "aria-hidden": "true" }), ` cannot be judged: ${unknown} of ${counted(parts, "part")}`) : make("span", {}, "all parts can be judged"),
    button("hide the map", event => event.currentTarget.setAttribute("aria-pressed", String(hide())), { "aria-pressed": "false" })];
}
