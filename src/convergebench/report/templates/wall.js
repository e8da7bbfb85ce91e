// The address says which wall is shown, so a link shows what was seen.
const pick = { editor: document.getElementById("wall-editor"), pair: document.getElementById("wall-pair"), run: document.getElementById("wall-run") };
const FIELDS = ["editor", "pair", "run"];
let shown = 0;

function offer(place, fits) {
  const values = [...new Set(VIEWS.filter(fits).map(view => String(view[place])))];
  const select = pick[FIELDS[place]];
  select.replaceChildren(...values.map(value => CB.make("option", { value }, value)));
  select.value = String(VIEWS[shown][place]);
}
function show(number) {
  shown = number;
  const [editor, pair, run] = VIEWS[number];
  offer(0, () => true); offer(1, view => view[0] === editor); offer(2, view => view[0] === editor && view[1] === pair);
  document.getElementById("told").textContent = TOLD[pair] || "";
  const id = "wall-" + (number + 1), walls = document.getElementById("walls");
  let panel = document.getElementById(id), loaded = Promise.resolve();
  if (!panel) {
    panel = CB.make("div", { className: "panel", id });
    walls.append(panel);
    loaded = CB.script("panels/" + id + ".js").catch(() => { panel.textContent = "This wall's file is missing; write the report again."; });
  }
  for (const one of walls.children) one.hidden = one !== panel;
  history.replaceState(null, "", "#" + new URLSearchParams({ e: editor, v: pair, r: run }));
  loaded.then(() => { document.body.dataset.ready = id; });
}
function choose(place) {
  const wanted = FIELDS.map(name => pick[name].value);
  // the nearest wall there is: the changed choice holds, the others as far as they can
  const score = view => FIELDS.reduce((sum, _, at) => sum + (String(view[at]) === wanted[at] ? (at === place ? 100 : 3 - at) : 0), 0);
  show(VIEWS.reduce((best, view, at) => score(view) > score(VIEWS[best]) ? at : best, 0));
}
FIELDS.forEach((name, place) => pick[name].addEventListener("change", () => choose(place)));
function readAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const fits = VIEWS.findIndex(view => ["e", "v", "r"].every((key, at) => !asked.has(key) || asked.get(key) === String(view[at])));
  show(Math.max(0, fits));
}
addEventListener("hashchange", readAddress);
readAddress();
