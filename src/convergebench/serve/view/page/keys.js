// Keys of the page that is open, and the overlay that lists them.
import { button, make } from "./make.js";

const COMMON = [
  { key: "?", words: "this list", act: () => help() },
  { key: "/", words: "search", act: () => document.querySelector("input[type=search]")?.focus() },
  { shown: "Esc", words: "close, leave full screen" },
];
let listed = [];

// [{key or keys, shown, words, act}]; without `act` the key is only listed.
export const setKeys = keys => { listed = keys; };

const names = one => one.keys ?? (one.key ? [one.key] : []);
const SHOWN = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", " ": "space" };

export function help() {
  const dialog = document.getElementById("keys");
  if (dialog.open) return dialog.close();
  const rows = [...listed, ...COMMON].filter(one => one.words).flatMap(one => [
    make("dt", {}, (one.shown ? [].concat(one.shown) : names(one)).map(key => [make("kbd", {}, SHOWN[key] ?? key), " "])),
    make("dd", {}, one.words),
  ]);
  dialog.replaceChildren(
    make("header", {}, make("h2", { id: "keys-title" }, "Keys"), button("close", () => dialog.close())),
    make("dl", { class: "keys" }, rows),
  );
  dialog.showModal();
}

const TYPED = "input:not([type=range]):not([type=checkbox]):not([type=radio]):not([type=file]), textarea, select, [contenteditable]";

export function listen() {
  document.getElementById("help").addEventListener("click", help);
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target, dialog = document.getElementById("keys");
    if (target.matches?.(TYPED)) { if (event.key === "Escape") target.blur(); return; }
    if (dialog.open && event.key !== "?") return;
    const pressing = (event.key === " " || event.key === "Enter") && target.closest?.("button, a, summary, label, [role=separator]");
    if (pressing) return;
    const found = [...listed, ...COMMON].find(one => one.act && names(one).includes(event.key));
    if (!found) return;
    if (found.act(event) !== false) event.preventDefault();
  });
}
