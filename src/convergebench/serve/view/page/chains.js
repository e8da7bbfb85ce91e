// The chains tab: a table in pages, any column to filter and to sort by, the main metric as a small line.
import * as address from "./address.js";
import { aborted, api, ask, chainPath, thumbPath } from "./asking.js";
import { colour, swatch } from "./colours.js";
import { asked, filters } from "./filters.js";
import { button, make, say } from "./make.js";
import { setKeys } from "./keys.js";
import { spark } from "./spark.js";
import { counted, dollars, duration, grouped, number } from "./words.js";

const FIRST = ["editor", "case", "first", "final", "spark", "status", "detail"];
const PAGE = 100, HIDDEN = new Set(["chain"]), AGAIN = 3000;

export async function open(root, { name, facts, query }) {
  const problem = make("p", { class: "empty", hidden: true, role: "alert" }), head = make("tr"), body = make("tbody"), pager = make("p", { class: "pager" }), total = make("span", { role: "status" });
  const table = make("table", { class: "dense chains" }, make("caption", { class: "unseen" }, "Chains"), make("thead", {}, head), body);
  const scroll = make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Chains" }, table), holder = make("div");
  root.replaceChildren(holder, problem, scroll, pager);
  let bar = null, control = null, drawn = 0, columns = [];
  const values = column => (column === "editor" ? facts.editors.map(one => one.name) : column === "status" ? Object.keys(facts.statuses) : []);

  async function show(now) {
    bar?.show(now);
    control?.abort();
    control = new AbortController();
    const offset = Math.max(0, Number(now.get("from")) || 0), wanted = asked(now);
    wanted.set("offset", offset);
    wanted.set("limit", PAGE);
    try {
      const found = await ask(`${api(name, "chains")}?${wanted}`, { signal: control.signal });
      columns = found.columns;
      if (!bar) { bar = filters({ columns: columns.filter(column => column.name !== "chain"), values }); holder.replaceChildren(bar.node); bar.show(now); }
      fill(found, now, offset);
      problem.hidden = found.total > 0;
      if (!found.total) problem.textContent = String(asked(now)) ? "No chain matches. Remove a filter." : "No chain has begun yet.";
    } catch (error) {
      if (aborted(error)) return;
      problem.hidden = false;
      problem.textContent = error.message;
      if (!bar) { bar = filters({ columns: facts.columns, values }); holder.replaceChildren(bar.node); bar.show(now); }
      body.replaceChildren();
    }
    drawn = Date.now();
  }
  function fill(found, now, offset) {
    const sort = now.get("sort") ?? "", shown = columns.map((column, place) => [column, place]).filter(([column]) => !HIDDEN.has(column.name)).sort(([one, a], [other, b]) => rank(one) - rank(other) || a - b);
    const used = shown.filter(([column, place]) => column.kind !== "text" || found.rows.some(row => row[place] !== null && row[place] !== ""));
    head.replaceChildren(...used.map(([column]) => heading(column, sort)));
    body.replaceChildren(...found.rows.map(row => {
      const of = Object.fromEntries(columns.map((column, place) => [column.name, row[place]]));
      return make("tr", {}, used.map(([column, place]) => cell(column, row[place], of)));
    }));
    const end = Math.min(found.total, offset + found.rows.length);
    say(total, found.total ? `${grouped(offset + 1)}–${grouped(end)} of ${counted(found.total, "chain")}` : "");
    pager.replaceChildren(total, button("previous", () => address.set({ from: Math.max(0, offset - PAGE) || null }, { push: true }), { disabled: offset === 0 }), button("next", () => address.set({ from: offset + PAGE }, { push: true }), { disabled: end >= found.total }));
    table.dataset.rows = found.rows.length;
  }
  const rank = column => { const place = FIRST.indexOf(column.kind === "series" ? "spark" : column.name); return place < 0 ? FIRST.length : place; };
  function heading(column, sort) {
    const order = sort === column.name ? "ascending" : sort === "-" + column.name ? "descending" : "none", next = order === "ascending" ? "-" + column.name : column.name;
    if (column.kind === "image" || column.kind === "series") return make("th", { scope: "col" }, column.label);
    return make("th", { scope: "col", class: column.kind === "number" ? "num" : null, "aria-sort": order },
      button(column.label + (order === "none" ? "" : order === "ascending" ? " ▲" : " ▼"), () => address.set({ sort: next, from: null }, { push: true }), { class: "sort" }));
  }
  function cell(column, value, of) {
    const link = words => make("a", { href: chainPath(name, of.chain) }, words);
    if (column.kind === "image") return make("td", {}, value ? make("a", { href: chainPath(name, of.chain, column.name === "first" ? "step=0" : `step=${of.steps ?? 0}`), tabindex: -1 }, make("img", { src: thumbPath(name, value, 96), alt: `${column.label} of ${of.editor}, ${of.case}`, loading: "lazy", width: 48, height: 48 })) : make("span", { class: "why" }, "no image"));
    if (column.kind === "series") return make("td", { class: "line-of" }, Array.isArray(value) ? spark(value.map((one, place) => [place, one]).filter(([, one]) => one !== null), { colour: colour(of.editor), label: `${column.label}, ${value.length} values` }) : "");
    if (column.name === "editor") return make("td", { class: "name short" }, make("span", { class: "swatch", style: swatch(value) }), link(value));
    if (column.name === "case") return make("td", {}, link(value));
    if (value === null || value === undefined || value === "") return make("td", { class: column.kind === "number" ? "num soft" : "soft" }, "–");
    if (column.name === "dollars") return make("td", { class: "num" }, dollars(value));
    if (column.name === "seconds") return make("td", { class: "num" }, duration(value));
    return make("td", { class: column.kind === "number" ? "num" : null }, column.kind === "number" ? number(value) : String(value));
  }
  setKeys([]);
  await show(query);
  const news = found => { if (found.changed?.length && Date.now() - drawn > AGAIN) show(address.query()); };
  return { show, news, ended: () => show(address.query()), close() { control?.abort(); } };
}
