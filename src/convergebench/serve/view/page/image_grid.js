// Every stored image, in any order.
import * as address from "./address.js";
import { chainPath } from "./asking.js";
import { asked } from "./filters.js";
import { make } from "./make.js";
import { PagedRows } from "./paged_rows.js";
import { pictureCell, Thumbnails } from "./thumbnails.js";
import { VirtualGrid } from "./virtual_grid.js";
import { counted, number } from "./words.js";

const UNDER = 38, GAP = 8, FRESH = 3000;

export function imageGrid(stage, { name, facts, counted: told, path }) {
  const problem = make("p", { class: "empty", hidden: true, role: "alert" });
  const grid = new VirtualGrid({ label: "Images", cell: pictureCell, fill, clear: cell => thumbnails.clear(cell.querySelector("img")), seen: (first, last) => rows?.want(first * columns, (last + 1) * columns - 1) });
  grid.flows = true;
  const thumbnails = new Thumbnails(name, grid.box);
  let rows = null, query = "", side = 128, columns = 1, place = 0, metric = null, drawn = 0;
  stage.replaceChildren(problem, grid.box);

  function fill(cell, row, column) {
    const index = row * columns + column;
    if (rows.total !== null && index >= rows.total) { thumbnails.clear(cell.querySelector("img")); return false; }
    const found = rows.row(index), [link] = cell.children, [image, under] = link.children;
    cell.classList.toggle("waiting", !found);
    if (!found) { thumbnails.clear(image); under.replaceChildren(); link.removeAttribute("href"); return true; }
    const words = `${found.editor}, ${found.case}, ${found.step === 0 ? "source" : `step ${found.step}`}`;
    link.href = chainPath(name, found.chain, `step=${found.step}`);
    image.alt = words;
    link.title = words;
    thumbnails.show(image, found.image, side);
    under.replaceChildren(make("b", {}, found.step === 0 ? "source" : `${found.step}`), ` ${found.editor}`, make("br"), metric && typeof found[metric] === "number" ? `${metric} ${number(found[metric])}` : found.source ?? "");
    return true;
  }
  const remember = address.later(() => address.set({ at: place || null }, { quiet: true }), 300);
  function layout() {
    columns = Math.max(1, Math.floor(grid.box.clientWidth / (side + GAP)));
    const width = Math.floor(grid.box.clientWidth / columns);
    grid.box.style.setProperty("--side", `${side}px`);
    grid.at = [Math.floor(place / columns), place % columns];
    grid.layout({ rows: Math.ceil((rows?.total ?? 0) / columns), columns, width, height: side + UNDER + GAP, above: 0 });
  }
  grid.chosen = (row, column) => { place = row * columns + column; remember(); };

  function show(now, wanted) {
    const next = String(asked(now)), at = Number(now.get("at")) || 0, sorted = (now.get("sort") ?? "").replace(/^-/, "");
    metric = facts.metrics.some(one => one.name === sorted) ? sorted : facts.main ?? null;
    if (rows === null || next !== query) {
      rows?.close();
      query = next;
      place = at;
      problem.hidden = true;
      rows = fresh();
      grid.box.scrollTop = 0;
      side = wanted;
      layout();
      rows.want(at, at + 60);
    } else if (wanted !== side) {
      side = wanted;
      layout();
      grid.moveTo(...grid.at, { focus: false, told: false });
    }
  }
  function fresh() {
    let first = true;
    const mine = new PagedRows(path, query, {
      arrived: () => {
        if (rows !== mine) return;
        const shown = Math.ceil(mine.total / columns);
        told(counted(mine.total, "image"));
        problem.hidden = mine.total > 0;
        if (!mine.total) problem.textContent = query ? "No image matches. Remove a filter." : "No image is stored yet.";
        if (first || shown !== grid.size.rows) { first = false; const top = grid.box.scrollTop; layout(); grid.box.scrollTop = top; if (place) grid.moveTo(...grid.at, { focus: false, told: false }); }
        else grid.refresh();
      },
      failed: words => { problem.hidden = false; problem.textContent = words; told(""); },
    });
    return mine;
  }
  // While images arrive: ask again, not too often, and keep the place.
  function news() {
    if (performance.now() - drawn < FRESH) return;
    drawn = performance.now();
    const { top, bottom } = grid.window();
    rows.again(top * columns, Math.max(top, bottom + 1) * columns);
  }
  const resize = new ResizeObserver(() => { if (Math.abs(grid.box.clientWidth - grid.size.width * columns) > columns) layout(); });
  resize.observe(grid.box);
  return { show, news, close() { remember.cancel(); resize.disconnect(); rows?.close(); thumbnails.close(); grid.close(); } };
}
