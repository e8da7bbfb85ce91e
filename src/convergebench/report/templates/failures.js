const cards = [...document.querySelectorAll(".card[data-editor]")], blocks = [...document.querySelectorAll("section.mode")];
const picks = Object.fromEntries(["level", "mode", "editor", "source"].map(name => [name, document.getElementById("pick-" + name)]));
function offer(select, pairs) {
  const known = new Map(pairs);
  select.replaceChildren(CB.make("option", { value: "" }, "all"), ...[...known].map(([value, words]) => CB.make("option", { value }, words)));
  select.parentNode.hidden = known.size < 2;
}
function sieve() {
  const asked = Object.fromEntries(Object.entries(picks).map(([name, select]) => [name, select.value]));
  const fits = (name, value) => !asked[name] || asked[name] === value;
  let count = 0;
  for (const block of blocks) {
    let here = 0;
    for (const card of block.querySelectorAll(".card")) {
      const shown = fits("level", block.dataset.level) && fits("mode", block.dataset.mode) && fits("editor", card.dataset.editor) && fits("source", card.dataset.source);
      card.hidden = !shown; here += shown;
    }
    block.hidden = !here; count += here;
  }
  for (const row of document.querySelectorAll("#shares tbody tr"))
    row.hidden = !["level", "mode", "editor"].every(name => fits(name, row.dataset[name]));
  document.getElementById("counted").textContent = count ? `${count} of ${cards.length} crops` : "No crop fits this choice.";
  history.replaceState(null, "", "#" + new URLSearchParams(Object.entries(asked).filter(([, value]) => value)));
}
function readAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const [name, select] of Object.entries(picks)) {
    const value = asked.get(name) || "";
    select.value = [...select.options].some(option => option.value === value) ? value : "";
  }
  sieve();
}
if (blocks.length) {
  offer(picks.level, blocks.map(block => [block.dataset.level, block.dataset.level]));
  offer(picks.mode, blocks.map(block => [block.dataset.mode, block.dataset.title]));
  offer(picks.editor, cards.map(card => [card.dataset.editor, card.dataset.editor]));
  offer(picks.source, cards.map(card => [card.dataset.source, card.dataset.source]));
  for (const select of Object.values(picks)) select.addEventListener("change", sieve);
  addEventListener("hashchange", readAddress);
  readAddress();
}
