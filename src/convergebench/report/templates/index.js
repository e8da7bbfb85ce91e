const PER_PAGE = 25;
const FILTERS = ["editor", "kind", "pair", "category", "verdict", "status"];
const SORTS = { "worst first": ["auc", 1], "best first": ["auc", -1], "shortest first": ["rounds", 1], "by name": ["case", 1] };
const state = { page: 0, sort: "worst first", chosen: {} };

function shown() {
  const [field, sign] = SORTS[state.sort];
  const rank = row => row[field];
  return CB.listed
    .filter(row => FILTERS.every(name => !state.chosen[name] || String(row[name]) === state.chosen[name]))
    .sort((a, b) => {
      const x = rank(a), y = rank(b);
      if (x === null || y === null) return (x === null) - (y === null);
      return x < y ? -sign : x > y ? sign : 0;
    });
}

function drawFilters() {
  const bar = document.getElementById("filters");
  bar.replaceChildren();
  for (const name of FILTERS) {
    const values = [...new Set(CB.listed.map(row => String(row[name])))].sort();
    if (values.length < 2 && !state.chosen[name]) continue;
    const select = CB.make("select", { id: "filter-" + name }, CB.make("option", { value: "" }, "all"), ...values.map(value => CB.make("option", { value }, value)));
    select.value = state.chosen[name] || "";
    select.addEventListener("change", () => { state.chosen[name] = select.value; state.page = 0; drawRows(); });
    bar.append(CB.make("label", {}, name, select));
  }
  const sort = CB.make("select", { id: "sort" }, ...Object.keys(SORTS).map(name => CB.make("option", { value: name }, name)));
  sort.value = state.sort;
  sort.addEventListener("change", () => { state.sort = sort.value; state.page = 0; drawRows(); });
  bar.append(CB.make("label", {}, "order", sort));
}

function picture(path, alt) {
  return path ? CB.make("img", { src: path, loading: "lazy", alt }) : "";
}

function drawRows() {
  const rows = shown(), pages = Math.max(1, Math.ceil(rows.length / PER_PAGE));
  state.page = Math.min(state.page, pages - 1);
  const head = CB.make("tr", {}, ...["source", "last", "editor", "case", "kind", "category", "verdict", "AUC ↑", "last", CB.unit.heads, "status"]
    .map((name, place) => CB.make("th", { className: place >= 7 && place <= 9 ? "num" : "" }, name)));
  const lines = rows.slice(state.page * PER_PAGE, (state.page + 1) * PER_PAGE).map(row => {
    const link = CB.alone ? null : "viewer.html#c=" + row.key;
    const swatch = CB.make("span", { className: "swatch", style: CB.swatches[row.editor] });
    return CB.make("tr", {},
      CB.make("td", {}, CB.make("a", { href: link }, picture(row.first, `source of ${row.case}`))), CB.make("td", {}, CB.make("a", { href: link }, picture(row.final, `last image of ${row.editor}, ${row.case}`))),
      CB.make("td", { className: "name" }, swatch, row.editor), CB.make("td", {}, CB.make("a", { href: link }, row.case)),
      CB.make("td", {}, row.kind), CB.make("td", {}, row.category), CB.make("td", {}, row.verdict ?? "unknown"),
      CB.make("td", { className: "num" }, CB.number(row.auc)), CB.make("td", { className: "num" }, CB.number(row.last)),
      CB.make("td", { className: "num" }, row.rounds + " of " + row.planned), CB.make("td", {}, row.status));
  });
  document.getElementById("chain-table").replaceChildren(CB.make("thead", {}, head),
    CB.make("tbody", {}, ...(lines.length ? lines : [CB.make("tr", {}, CB.make("td", { colSpan: 11 }, "No chain matches these filters."))])));
  const back = CB.make("button", { disabled: state.page === 0 }, "← back");
  const on = CB.make("button", { disabled: state.page >= pages - 1 }, "next →");
  back.addEventListener("click", () => { state.page -= 1; drawRows(); });
  on.addEventListener("click", () => { state.page += 1; drawRows(); });
  document.getElementById("pager").replaceChildren(back, `page ${state.page + 1} of ${pages}, ${rows.length} chains`, on);
}

function openList() {
  return CB.loadList().then(() => { drawFilters(); drawRows(); });
}

new IntersectionObserver((entries, watcher) => {
  if (entries.some(entry => entry.isIntersecting)) { watcher.disconnect(); openList(); }
}, { rootMargin: "400px" }).observe(document.getElementById("chains"));

document.addEventListener("click", event => {
  const link = event.target.closest("a.filter");
  if (!link) return;
  const cell = link.closest("td.cell");
  const said = cell ? [cell.parentNode, cell.closest("table").tHead.rows[0].cells[cell.cellIndex]] : [link];
  state.chosen = Object.assign({}, ...said.map(node => JSON.parse(node.dataset.filter)));
  state.page = 0;
  openList();
});
