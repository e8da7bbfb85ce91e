// The images tab: every stored image as a grid, or one row per chain with its steps as columns.
import * as address from "./address.js";
import { api, ask } from "./asking.js";
import { chainRows } from "./chain_rows.js";
import { filters } from "./filters.js";
import { imageGrid } from "./image_grid.js";
import { setKeys } from "./keys.js";
import { button, make, say } from "./make.js";

const SIDES = [64, 96, 128, 176, 240, 320];

export async function open(root, { name, facts, query }) {
  const total = make("span", { role: "status", class: "soft" }), stage = make("div", { class: "gallery" });
  const size = make("input", { type: "range", min: 0, max: SIDES.length - 1, step: 1, "aria-label": "thumbnail size", oninput: () => address.set({ size: SIDES[size.value] }) });
  const kinds = make("span", { class: "switch", role: "group", "aria-label": "arrange" });
  const top = make("div", { class: "arrange" }, kinds, make("label", {}, "size ", size), total);
  const holder = make("div");
  root.replaceChildren(top, holder, stage);
  const { columns: chainColumns } = await ask(`${api(name, "chains")}?limit=0`);
  let part = null, bar = null, shown = null;

  function sideOf(now) { const wanted = Number(now.get("size")); return SIDES.includes(wanted) ? wanted : innerWidth < 600 ? 96 : 128; }
  const known = column => (column === "editor" ? facts.editors.map(one => one.name) : column === "status" ? Object.keys(facts.statuses) : column === "leg" ? ["source", "forward", "backward"] : []);

  function show(now) {
    const kind = now.get("view") === "grid" ? "grid" : "rows";
    kinds.replaceChildren(...[["rows", "chains as rows"], ["grid", "grid"]].map(([one, words]) => button(words, () => address.set({ view: one === "rows" ? null : one, at: null, where: null, sort: null }, { push: true }), { "aria-pressed": String(one === kind) })));
    size.value = SIDES.indexOf(sideOf(now));
    size.setAttribute("aria-valuetext", `${sideOf(now)} pixels`);
    if (kind !== shown) {
      part?.close();
      shown = kind;
      bar = filters({ columns: (kind === "grid" ? facts.columns : chainColumns).filter(column => column.name !== "chain"), values: known });
      holder.replaceChildren(bar.node);
      part = (kind === "grid" ? imageGrid : chainRows)(stage, { name, facts, counted: words => say(total, words), path: api(name, kind === "grid" ? "images" : "chains") });
    }
    bar.show(now);
    part.show(now, sideOf(now));
  }
  setKeys([
    { shown: ["←", "→", "↑", "↓"], words: "next image" }, { shown: ["PgUp", "PgDn"], words: "a screen up, down" }, { shown: ["Home", "End"], words: "start, end of the row; with shift: of all" }, { shown: "Enter", words: "open the image" },
    { key: "g", words: "grid / chains as rows", act: () => address.set({ view: shown === "grid" ? null : "grid", at: null, where: null, sort: null }, { push: true }) },
    { keys: ["+", "="], shown: "+", words: "larger thumbnails", act: () => address.set({ size: SIDES[Math.min(SIDES.length - 1, Number(size.value) + 1)] }) },
    { key: "-", shown: "−", words: "smaller thumbnails", act: () => address.set({ size: SIDES[Math.max(0, Number(size.value) - 1)] }) },
  ]);
  show(query);
  return { show, news: found => { if (found.changed?.length) part?.news?.(found.changed); }, ended: () => part?.news?.(null), close() { part?.close(); } };
}
