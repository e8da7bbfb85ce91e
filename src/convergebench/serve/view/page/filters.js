// Filter and sort by any column; the address holds them as `find`, `where` and `sort`.
import * as address from "./address.js";
import { button, make, options } from "./make.js";

const WORDS = { is: "is", not: "is not", has: "contains", above: "above", below: "below" };
const FOR = { text: ["is", "not", "has"], number: ["is", "above", "below", "not"] };

export const asked = query => {
  const kept = new URLSearchParams();
  for (const name of ["find", "sort", "where"]) for (const value of query.getAll(name)) if (value) kept.append(name, value);
  return kept;
};
const split = where => { const [column, operator, ...rest] = where.split(":"); return [column, operator, rest.join(":")]; };

// `values(column)`: words to choose from, where they are known.
export function filters({ columns, sorted = "", values = () => [], more = [] }) {
  const usable = columns.filter(column => FOR[column.kind]);
  const find = make("input", { type: "search", placeholder: "editor, case, source …", oninput: address.later(() => address.set({ find: find.value, at: null }), 200) });
  const sort = make("select", { onchange: () => address.set({ sort: sort.value, at: null }, { push: true }) });
  const turn = button("", () => { const now = address.query().get("sort") ?? sorted; if (now) address.set({ sort: now.startsWith("-") ? now.slice(1) : "-" + now, at: null }, { push: true }); });
  const column = make("select", { "aria-label": "column to filter by", onchange: () => operators() });
  const operator = make("select", { "aria-label": "how to compare" });
  const list = make("datalist", { id: "filter-values" });
  const value = make("input", { type: "text", list: "filter-values", "aria-label": "value to compare with", size: 12 });
  const chips = make("ul", { class: "chips", "aria-label": "filters in use" });
  const form = make("form", { class: "where", onsubmit: event => { event.preventDefault(); add(); } }, column, operator, value, list, make("button", {}, "filter"));
  const node = make("div", { class: "filters gallery-filters" }, make("label", {}, "search", find), make("label", {}, "sort by", make("span", { class: "pair" }, sort, turn)),
    make("div", { class: "labelled", role: "group", "aria-label": "add a filter" }, make("span", { "aria-hidden": "true" }, "filter"), form), ...more);
  const bar = make("details", { class: "bar-of-filters", open: innerWidth > 720 }, make("summary", {}, "Search, sort, filter"), node, chips);

  function operators() {
    const kind = usable.find(one => one.name === column.value)?.kind ?? "text";
    options(operator, FOR[kind].map(one => [one, WORDS[one]]), FOR[kind][kind === "number" ? 1 : 0]);
    value.inputMode = kind === "number" ? "decimal" : "text";
    list.replaceChildren(...values(column.value).map(one => make("option", { value: one })));
  }
  function add() {
    const kind = usable.find(one => one.name === column.value)?.kind, text = value.value.trim();
    const wrong = !text ? "type a value" : kind === "number" && !Number.isFinite(Number(text)) ? "type a number" : "";
    value.setCustomValidity(wrong);
    if (wrong) return value.reportValidity();
    value.value = "";
    const now = address.query().getAll("where"), next = `${column.value}:${operator.value}:${text}`;
    address.set({ where: now.includes(next) ? now : [...now, next], at: null }, { push: true });
  }
  value.addEventListener("input", () => value.setCustomValidity(""));
  function show(query) {
    const now = query.get("sort") ?? sorted, name = now.replace(/^-/, ""), where = query.getAll("where");
    if (document.activeElement !== find) find.value = query.get("find") ?? "";
    const other = name && !usable.some(one => one.name === name) ? [[name, name]] : []; // several columns, by hand
    options(sort, [["", "as stored"], ...usable.map(one => [one.name, one.label]), ...other], name);
    turn.textContent = now.startsWith("-") ? "▼" : "▲";
    turn.setAttribute("aria-label", now.startsWith("-") ? "descending; press for ascending" : "ascending; press for descending");
    turn.disabled = !name;
    chips.hidden = !where.length;
    if (where.length || find.value) bar.open = true;
    chips.replaceChildren(...where.map(one => {
      const [of, how, text] = split(one), words = `${of} ${WORDS[how] ?? how} ${text}`;
      return make("li", {}, button([words, make("span", { "aria-hidden": "true" }, " ×")], () => address.set({ where: where.filter(other => other !== one), at: null }, { push: true }), { "aria-label": `remove the filter: ${words}` }));
    }), where.length > 1 ? make("li", {}, button("remove all", () => address.set({ where: null, at: null }, { push: true }))) : "");
  }
  options(column, usable.map(one => [one.name, one.label]), usable.some(one => one.name === "editor") ? "editor" : usable[0]?.name);
  operators();
  return { node: bar, show };
}
