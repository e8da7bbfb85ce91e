"use strict";
const CB = {
  chains: {}, thumbs: {}, waiting: {}, columns: [], listed: null, later: {}, alone: false,
  script(path) {
    if (!CB.waiting[path] && CB.later[path]) CB.waiting[path] = Promise.resolve(CB.later[path]()); // a page that is sent alone
    if (!CB.waiting[path]) CB.waiting[path] = new Promise((done, fail) => {
      const tag = document.createElement("script");
      tag.src = path; tag.onload = done; tag.onerror = () => fail(new Error("cannot load " + path));
      document.head.append(tag);
    });
    return CB.waiting[path];
  },
  panel(name, html) {
    const panel = document.getElementById(name);
    panel.innerHTML = html; // our own page's markup, escaped when it was written
    panel.removeAttribute("data-later");
    CB.charts(panel);
    CB.reach(panel);
  },
  chain(key, data) { CB.chains[key] = data; },
  maps(key, uris) { CB.thumbs[key] = uris; },
  list(columns, rows) {
    CB.listed = rows.map(row => Object.fromEntries(columns.map((name, place) => [name, row[place]])));
  },
  loadList() { return CB.script("chains/list.js").then(() => CB.listed); },
  loadChain(key) { return CB.script("chains/" + key + ".js").then(() => CB.chains[key]); },
  loadMaps(key) { return CB.script("chains/" + key + "-maps.js").then(() => CB.thumbs[key]); },
  number(value, digits = 3) {
    if (value === null || value === undefined) return "–";
    if (value === "Infinity") return "∞";
    if (value === "-Infinity") return "−∞";
    return Number(value).toFixed(digits).replace("-", "−");
  },
  make(name, attributes = {}, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes))
      if (value !== null && value !== undefined) key in node && key !== "style" && key !== "list" ? node[key] = value : node.setAttribute(key, value);
    node.append(...children);
    return node;
  },
};
window.CB = CB;
const overflowing = new ResizeObserver(entries => { // what scrolls can be scrolled by keys
  for (const { target } of entries)
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0; else target.removeAttribute("tabindex");
});
CB.reach = root => { for (const box of root.querySelectorAll(".scroll")) overflowing.observe(box); };
CB.reach(document);
document.getElementById("theme")?.addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("convergebench-theme", root.dataset.theme); } catch (error) { /* storage is off: the choice lasts for this page */ }
});
