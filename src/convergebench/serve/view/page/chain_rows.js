// One row per chain, its steps as columns: what one looks at to see decay.
import * as address from "./address.js";
import { aborted, api, ask, chainPath } from "./asking.js";
import { swatch } from "./colours.js";
import { asked } from "./filters.js";
import { make } from "./make.js";
import { PagedRows } from "./paged_rows.js";
import { pictureCell, Thumbnails } from "./thumbnails.js";
import { VirtualGrid } from "./virtual_grid.js";
import { counted, number } from "./words.js";

const HEAD = 26, UNDER = 22, GAP = 8, KEPT = 150, LONGEST = 1000;

// The images of one chain by step; a bounded number of chains is kept.
class ChainImages {
  constructor(run, arrived) { Object.assign(this, { run, arrived, known: new Map(), asked: new Map(), stale: new Set() }); }
  get(chain) {
    const found = this.known.get(chain);
    if (found) { this.known.delete(chain); this.known.set(chain, found); }
    return found ?? null;
  }
  only(chains) {
    for (const [chain, control] of this.asked) if (!chains.has(chain)) { control.abort(); this.asked.delete(chain); }
    for (const chain of chains) if ((!this.known.has(chain) || this.stale.has(chain)) && !this.asked.has(chain)) this.fetch(chain);
  }
  async fetch(chain) {
    const control = new AbortController();
    this.asked.set(chain, control);
    this.stale.delete(chain);
    try {
      const { columns, rows } = await ask(`${api(this.run, "images")}?where=chain:is:${encodeURIComponent(chain)}&sort=step&limit=${LONGEST}`, { signal: control.signal });
      const names = columns.map(column => column.name);
      this.known.set(chain, new Map(rows.map(row => { const one = Object.fromEntries(names.map((name, place) => [name, row[place]])); return [one.step, one]; })));
      while (this.known.size > KEPT) this.known.delete(this.known.keys().next().value);
      this.arrived();
    } catch (error) { if (!aborted(error)) this.known.set(chain, new Map()); }
    if (this.asked.get(chain) === control) this.asked.delete(chain);
  }
  // What is known of these (null: of all) may have grown; it is shown until it was asked for again.
  outdated(chains) { for (const chain of chains ?? this.known.keys()) this.stale.add(chain); }
  close() { for (const control of this.asked.values()) control.abort(); this.asked.clear(); this.known.clear(); this.arrived = () => {}; }
}

export function chainRows(stage, { name, facts, counted: told, path }) {
  const problem = make("p", { class: "empty", hidden: true, role: "alert" });
  const grid = new VirtualGrid({ label: "Chains as rows, steps as columns", cell: pictureCell, fill, head, clear: cell => thumbnails.clear(cell.querySelector("img")), seen });
  const thumbnails = new Thumbnails(name, grid.box), images = new ChainImages(name, () => { if (widest() > grid.size.columns) layout(); else grid.refresh(); });
  let rows = null, query = "", side = 128, place = [0, 0], columns = 1;
  const metric = facts.main ?? null;
  stage.replaceChildren(problem, grid.box);

  function seen(first, last) {
    rows?.want(first, last);
    const chains = new Set();
    for (let index = first; index <= last; index++) { const row = rows?.row(index); if (row) chains.add(row.chain); }
    images.only(chains);
  }
  function widest() {
    let most = columns;
    for (const index of grid.live.keys()) {
      const row = rows.row(index), steps = row && images.get(row.chain);
      if (steps) for (const step of steps.keys()) most = Math.max(most, step + 1);
      if (row && typeof row.steps === "number") most = Math.max(most, row.steps + 1);
    }
    return (columns = Math.min(most, LONGEST));
  }
  function head(node, index) {
    const row = rows.row(index);
    if (!row) { node.replaceChildren(); return; }
    node.replaceChildren(make("a", { href: chainPath(name, row.chain), tabindex: -1 }, make("span", { class: "swatch", style: swatch(row.editor) }), make("b", {}, row.editor), ` ${row.case}`),
      row.status && row.status !== "finished" ? make("span", { class: "badge loud" }, row.detail ? `${row.status}: ${row.detail}` : row.status) : "",
      typeof row.last === "number" ? make("span", { class: "soft" }, `last ${metric ?? ""} ${number(row.last)}`) : "");
  }
  function fill(cell, index, column) {
    const row = rows.row(index), steps = row && images.get(row.chain), [link] = cell.children, [image, under] = link.children;
    cell.classList.toggle("waiting", !steps);
    if (!steps) { thumbnails.clear(image); under.replaceChildren(); link.removeAttribute("href"); return Boolean(row) && column <= (row.steps ?? 0); }
    const found = steps.get(column) ?? (column === 0 && row.first ? { image: row.first } : null);
    if (!found) { thumbnails.clear(image); return false; }
    link.href = chainPath(name, row.chain, `step=${column}`);
    image.alt = `${row.editor}, ${row.case}, ${column === 0 ? "source" : `step ${column}`}`;
    link.title = image.alt;
    thumbnails.show(image, found.image, side);
    under.replaceChildren(make("b", {}, column === 0 ? "source" : String(column)), metric && typeof found[metric] === "number" ? ` ${number(found[metric], 2)}` : "");
    return true;
  }
  const remember = address.later(() => address.set({ at: place.some(Boolean) ? place.join(",") : null }, { quiet: true }), 300);
  grid.chosen = (row, column) => { place = [row, column]; remember(); };
  function layout() {
    grid.box.style.setProperty("--side", `${side}px`);
    grid.at = place;
    grid.layout({ rows: rows?.total ?? 0, columns: widest(), width: side + GAP, height: HEAD + side + UNDER + GAP, above: HEAD });
  }
  function show(now, wanted) {
    const next = String(asked(now));
    if (rows === null || next !== query) {
      rows?.close();
      query = next;
      place = (now.get("at") ?? "").split(",").map(Number).filter(Number.isInteger);
      if (place.length !== 2) place = [0, 0];
      side = wanted;
      columns = 1;
      problem.hidden = true;
      rows = fresh();
      grid.box.scrollTop = grid.box.scrollLeft = 0;
      layout();
      rows.want(place[0], place[0] + 20);
    } else if (wanted !== side) {
      side = wanted;
      layout();
      grid.moveTo(...place, { focus: false, told: false });
    }
  }
  function fresh() {
    let first = true;
    const mine = new PagedRows(path, query, {
      arrived: () => {
        if (rows !== mine) return;
        told(`${counted(mine.total, "chain")}, ${counted(facts.steps, "step")} in the run`);
        problem.hidden = mine.total > 0;
        if (!mine.total) problem.textContent = query ? "No chain matches. Remove a filter." : "No chain has begun yet.";
        if (first || mine.total !== grid.size.rows) { first = false; layout(); if (place.some(Boolean)) grid.moveTo(...place, { focus: false, told: false }); }
        else grid.refresh();
      },
      failed: words => { problem.hidden = false; problem.textContent = words; told(""); },
    });
    return mine;
  }
  function news(changed) {
    images.outdated(changed);
    const { top, bottom } = grid.window();
    rows.again(top, Math.max(top, bottom));
    grid.draw();
  }
  return { show, news, close() { remember.cancel(); rows?.close(); images.close(); thumbnails.close(); grid.close(); } };
}
