const folds = [...document.querySelectorAll("details.fold")], foldsButton = document.getElementById("folds");

function openFoldsOf(id) {
  // Browsers do this themselves for most links; older ones and links to the anchor that is already in the address do not.
  const target = document.getElementById(id);
  const closed = [];
  for (let node = target?.parentElement; node; node = node.parentElement)
    if (node.localName === "details" && !node.open) closed.push(node);
  for (const node of closed) node.open = true;
  if (closed.length) target.scrollIntoView();
}

const anchorOf = hash => { try { return decodeURIComponent(hash.slice(1)); } catch (error) { return hash.slice(1); } };
const nameFolds = () => { foldsButton.textContent = folds.every(fold => fold.open) ? "close all sections" : "open all sections"; };

document.addEventListener("click", event => {
  const link = event.target.closest("a[href^='#']");
  if (link) openFoldsOf(anchorOf(link.getAttribute("href")));
});
addEventListener("hashchange", () => openFoldsOf(anchorOf(location.hash)));
if (location.hash) openFoldsOf(anchorOf(location.hash));
if (foldsButton) {
  foldsButton.hidden = false;
  foldsButton.addEventListener("click", () => {
    const open = !folds.every(fold => fold.open);
    for (const fold of folds) fold.open = open;
  });
  for (const fold of folds) fold.addEventListener("toggle", nameFolds);
  nameFolds();
}
