// All runs below the served folder.
import { ask, runPath } from "./asking.js";
import * as address from "./address.js";
import { button, make, say } from "./make.js";
import { setKeys } from "./keys.js";
import { ago, counted, dollars, grouped, moment } from "./words.js";

const COLUMNS = [
  { name: "name", words: "run", of: run => run.name.toLowerCase() },
  { name: "study", words: "study", of: run => run.study || "" },
  { name: "finding", words: "finding", of: run => run.finding || run.problem || "" },
  { name: "editors", words: "editors", of: run => run.editors.length },
  { name: "progress", words: "chains", number: true, of: run => run.chains },
  { name: "steps", words: "steps", number: true, of: run => run.steps },
  { name: "dollars", words: "dollars", number: true, of: run => run.dollars ?? -1 },
  { name: "changed", words: "changed", number: true, of: run => moment(run.changed)?.getTime() ?? 0 },
];
const EVERY = 2000;

export async function open(root) {
  let given = await ask("/api/runs"), timer = null, closed = false;
  const find = make("input", { type: "search", placeholder: "study, editor, finding …", "aria-label": "search runs", oninput: () => address.set({ find: find.value }) });
  const head = make("tr"), body = make("tbody"), total = make("p", { class: "note", role: "status" });
  const heading = make("h1", {}, "Runs");
  const folder = make("p", { class: "run-line" });
  const table = make("table", { class: "runs" }, make("caption", { class: "unseen" }, "Runs"), make("thead", {}, head), body);
  root.replaceChildren(heading, folder, make("div", { class: "filters" }, make("label", {}, "search", find)), make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Runs" }, table), total);

  function matching(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const all = run => [run.name, run.title, run.study, run.finding, run.problem, ...run.editors, run.live ? "live" : ""].join(" ").toLowerCase();
    return given.runs.filter(run => words.every(word => all(run).includes(word)));
  }
  function show(query) {
    const sort = query.get("sort") || "-changed", down = sort.startsWith("-");
    const column = COLUMNS.find(one => one.name === sort.replace(/^-/, "")) ?? COLUMNS.at(-1);
    if (document.activeElement !== find) find.value = query.get("find") ?? "";
    head.replaceChildren(...COLUMNS.map(one => sortable(one, one === column ? (down ? "descending" : "ascending") : "none")));
    const rows = matching(query.get("find") ?? "").sort((one, other) => {
      const [a, b] = [column.of(one), column.of(other)], order = a < b ? -1 : a > b ? 1 : one.name < other.name ? -1 : 1;
      return down ? -order : order;
    });
    body.replaceChildren(...rows.map(row));
    say(folder, `in ${given.folder}`);
    const all = given.runs.length;
    say(total, !all ? "No run is in this folder yet. Make one: cbench demo" : rows.length === all ? counted(all, "run") : `${grouped(rows.length)} of ${counted(all, "run")}`);
  }
  function again() {
    timer = setTimeout(async () => {
      if (!document.hidden) {
        try { given = await ask("/api/runs"); if (!closed) show(address.query()); } catch (error) { say(total, error.message); }
      }
      if (!closed) again();
    }, EVERY);
  }
  setKeys([]);
  show(address.query());
  again();
  return { name: "runs", title: "Runs", show, close() { closed = true; clearTimeout(timer); } };
}

function sortable(column, order) {
  const next = order === "descending" ? column.name : order === "ascending" ? "-" + column.name : (column.number ? "-" : "") + column.name;
  const mark = order === "none" ? "" : order === "ascending" ? " ▲" : " ▼";
  return make("th", { scope: "col", class: column.number ? "num" : null, "aria-sort": order },
    button(column.words + mark, () => address.set({ sort: next }, { push: true }), { class: "sort" }));
}

function row(run) {
  const shown = run.editors.slice(0, 4).join(", "), more = run.editors.length - 4;
  const progress = run.finished === run.chains ? grouped(run.chains) : `${grouped(run.finished)} of ${grouped(run.chains)}`;
  return make("tr", {},
    make("td", { class: "name" }, make("a", { href: runPath(run.name) }, run.name),
      run.live && make("span", { class: "badge live" }, "live"),
      run.report && make("small", {}, make("a", { href: run.report }, "report")),
      run.title && run.title !== run.name && make("div", { class: "soft" }, run.title)),
    make("td", {}, run.study),
    make("td", { class: "sentence" }, run.problem ? make("span", { class: "why" }, run.problem) : run.finding || make("span", { class: "why" }, "no finding yet")),
    make("td", { class: "editors", title: run.editors.join(", ") }, shown + (more > 0 ? ` and ${more} more` : "")),
    make("td", { class: "num", "data-of": "chains" }, progress, run.failed ? make("small", {}, ` ${grouped(run.failed)} failed`) : null),
    make("td", { class: "num", "data-of": "steps" }, grouped(run.steps)),
    make("td", { class: "num" }, dollars(run.dollars)),
    make("td", { class: "num", title: moment(run.changed)?.toISOString() }, ago(run.changed)));
}
