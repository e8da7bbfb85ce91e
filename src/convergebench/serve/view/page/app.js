// One shell for every address: finds the page, opens it, and redraws it when the address changes.
import * as address from "./address.js";
import { listen, setKeys } from "./keys.js";
import { make } from "./make.js";
import { runPath } from "./asking.js";

const PAGES = [
  [/^\/$/, () => import("./runs.js")],
  [/^\/try$/, () => import("./try.js")],
  [/^\/run\/([^/]+)$/, () => import("./run.js")],
  [/^\/run\/([^/]+)\/chain\/([^/]+)$/, () => import("./explorer.js")],
];
const root = document.getElementById("page");
let open = null, path = null, turn = 0;

function found(pathname) {
  for (const [pattern, load] of PAGES) {
    const match = pathname.match(pattern);
    try {
      if (match) return { load, names: match.slice(1).map(decodeURIComponent) };
    } catch (error) { return null; } // an address that is no text
  }
  return null;
}

function trail(names) {
  const steps = [make("a", { href: "/" }, "all runs")];
  if (names[0]) steps.push(make("a", { href: runPath(names[0]) }, names[0]));
  document.getElementById("trail").replaceChildren(...steps.flatMap(step => [step, make("span", { "aria-hidden": "true" }, " › ")]).slice(0, -1));
}

export function problem(words) {
  root.replaceChildren(make("p", { class: "empty", role: "alert" }, words), make("p", {}, make("a", { href: "/" }, "All runs")));
  document.body.dataset.ready = "problem";
}

// `/run/NAME/images` is another way to write `/run/NAME?tab=images`.
function shortened() {
  const match = location.pathname.match(/^(\/run\/[^/]+)\/(overview|images|chains)$/);
  if (match) history.replaceState(null, "", `${match[1]}?${address.withQuery({ tab: match[2] })}`);
}

async function follow() {
  shortened();
  if (path === location.pathname && open) return open.show(address.query());
  const mine = ++turn, now = location.pathname, page = found(now);
  open?.close?.();
  open = null;
  path = now;
  setKeys([]);
  delete document.body.dataset.ready;
  if (!page) return problem("There is no such page.");
  trail(page.names);
  try {
    const module = await page.load();
    const made = await module.open(root, page.names, address.query());
    if (mine !== turn) return made?.close?.();
    open = made;
    document.title = `${made.title} · ConvergeBench`;
    document.body.dataset.ready = made.name;
    if (mine > 1) { scrollTo(0, 0); root.focus({ preventScroll: true }); }
  } catch (error) {
    if (mine === turn && error.name !== "AbortError") problem(error.message);
  }
}

address.onChange(follow);
addEventListener("popstate", follow);
document.addEventListener("click", event => {
  const link = event.target.closest?.("a[href]");
  if (!link || link.target || link.hasAttribute("download") || event.defaultPrevented) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button) return;
  const to = new URL(link.href);
  if (to.origin !== location.origin || to.hash || !found(to.pathname)) return;
  event.preventDefault();
  address.go(to.pathname + to.search);
});
listen();
follow();
