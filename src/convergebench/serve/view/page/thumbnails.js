// Thumbnails in cells that are used again: a cell that scrolls away gives up loading, and fast scrolling loads nothing.
import { thumbPath } from "./asking.js";
import { make } from "./make.js";

const SIZES = [96, 192, 384], FAST = 3, PAUSE = 90; // pixels per millisecond; milliseconds

export const fitting = side => SIZES.find(size => size >= side * Math.min(2, devicePixelRatio || 1)) ?? SIZES.at(-1);

export class Thumbnails {
  constructor(run, box) {
    this.run = run;
    this.waiting = new Map(); // img → address, until scrolling is slow
    this.timer = null;
    this.last = [0, 0];
    this.fast = false;
    box.addEventListener("scroll", () => this.scrolled(box), { passive: true });
  }
  scrolled(box) {
    const now = performance.now(), place = box.scrollTop + box.scrollLeft, [then, before] = this.last;
    this.fast = Math.abs(place - before) / Math.max(1, now - then) > FAST;
    this.last = [now, place];
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.fast = false; this.flush(); }, PAUSE);
  }
  flush() {
    for (const [image, path] of this.waiting) image.src = path;
    this.waiting.clear();
  }
  show(image, key, side) {
    const path = thumbPath(this.run, key, fitting(side));
    if (image.dataset.path === path) return;
    this.clear(image);
    image.dataset.path = path;
    if (this.fast) this.waiting.set(image, path); else image.src = path;
  }
  clear(image) {
    this.waiting.delete(image);
    if (!image.dataset.path) return;
    delete image.dataset.path;
    image.removeAttribute("src"); // also ends the request
  }
  close() { clearTimeout(this.timer); this.waiting.clear(); }
}

export function pictureCell() {
  return make("div", { class: "cell", role: "gridcell" }, make("a", { href: "#" }, make("img", { alt: "", decoding: "async", draggable: "false" }), make("span", { class: "under" })));
}
