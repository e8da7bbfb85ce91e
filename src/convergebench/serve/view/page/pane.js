// One pane of the stage: an OpenSeadragon viewer with one image, or two that are wiped or blinked.
import { make } from "./make.js";

const POINT = () => OpenSeadragon.Point;

export class Pane {
  // `moved(pane)` is called when the person zooms or moves here, `wiped(share)` when the divider is moved;
  // `fitted()` tells whether all of the image is to be seen.
  constructor({ moved, wiped, fitted }) {
    this.box = make("div", { class: "zoomed" });
    this.name = make("span", { class: "name" });
    this.right = make("span", { class: "name right", hidden: true });
    this.divider = make("div", { class: "divider", hidden: true, tabindex: 0, role: "separator", "aria-orientation": "vertical", "aria-label": "wipe", "aria-valuemin": 0, "aria-valuemax": 100 });
    this.none = make("p", { class: "none", hidden: true });
    this.node = make("div", { class: "pane", role: "group" }, this.box, this.divider, this.none, this.name, this.right);
    this.moved = moved;
    this.wiped = wiped;
    this.fitted = fitted;
    this.wipe = 0.5;
    this.keys = [];
    this.turn = 0;
    this.held = false;
    this.dragging();
  }
  start() {
    if (this.viewer) return;
    this.viewer = OpenSeadragon({
      element: this.box, drawer: "canvas", showNavigationControl: false, showNavigator: false, animationTime: 0.2, springStiffness: 10, blendTime: 0, alwaysBlend: false, immediateRender: true,
      minZoomImageRatio: 0.3, maxZoomPixelRatio: 32, visibilityRatio: 0.1, constrainDuringPan: false, homeFillsViewer: false, preserveImageSizeOnResize: true, smoothTileEdgesMinZoom: Infinity, maxImageCacheCount: 120, imageLoaderLimit: 6, subPixelRoundingForTransparency: 0,
      gestureSettingsMouse: { clickToZoom: false, dblClickToZoom: true, flickEnabled: false }, gestureSettingsTouch: { flickEnabled: false, clickToZoom: false }, autoResize: true, tabIndex: "-1",
    });
    this.viewer.canvas.tabIndex = -1;
    this.viewer.addHandler("canvas-key", event => { event.preventDefaultAction = true; });
    for (const name of ["canvas-press", "canvas-scroll", "canvas-pinch", "canvas-double-click"]) this.viewer.addHandler(name, () => this.moved(this, false));
    this.viewer.addHandler("viewport-change", () => { this.crisp(); this.moved(this, true); });
    this.viewer.addHandler("update-viewport", () => this.placed());
    this.viewer.addHandler("animation-finish", () => this.snap());
    // a pane of another size keeps its scale: 200 % stays 200 %; one that shows all of the image goes on showing all of it
    this.viewer.addHandler("resize", () => requestAnimationFrame(() => {
      if (!this.viewer?.viewport) return;
      if (this.fitted()) this.viewer.viewport.goHome(true);
      this.placed();
    }));
  }
  // Image pixels are never blurred from 100 % on.
  crisp() {
    const sharp = this.scale() >= 0.999;
    if (sharp === this.sharp || !this.viewer.drawer) return;
    this.sharp = sharp;
    this.viewer.drawer.setImageSmoothingEnabled(!sharp);
    this.viewer.forceRedraw();
  }
  // From 100 % on the image begins at a whole screen pixel, so that each of its pixels has the same size.
  snap() {
    const item = this.item, density = devicePixelRatio || 1;
    if (!item || this.scale() < 0.999) return;
    const corner = this.viewer.viewport.pixelFromPoint(item.getBounds(true).getTopLeft(), true), whole = value => Math.round(value * density) / density;
    const off = new (POINT())(whole(corner.x) - corner.x, whole(corner.y) - corner.y);
    if (Math.hypot(off.x, off.y) > 0.001) this.viewer.viewport.panBy(this.viewer.viewport.deltaPointsFromPixels(off, true).negate(), true);
  }
  get item() { return this.viewer?.world.getItemAt(this.viewer.world.getItemCount() - 1) ?? null; }
  // Screen pixels per image pixel.
  scale() {
    const item = this.item;
    if (!item) return 0;
    return item.viewportToImageZoom(this.viewer.viewport.getZoom(true)) * (devicePixelRatio || 1);
  }
  scaleTo(scale, at = null) {
    const item = this.item;
    if (item) this.viewer.viewport.zoomTo(item.imageToViewportZoom(scale / (devicePixelRatio || 1)), at, true);
  }
  // The images from bottom to top; the old ones stay until the new ones are here.
  async show(sources, { mode, names, why = "", keep = null }) {
    const mine = ++this.turn, keys = sources.map(source => source.of);
    this.node.dataset.mode = mode;
    this.none.hidden = !why;
    this.none.textContent = why;
    this.box.hidden = Boolean(why);
    this.label(names);
    if (why) { this.keys = []; this.viewer?.world.removeAll(); this.divider.hidden = true; delete this.node.dataset.drawn; return; }
    this.start();
    const fresh = !this.keys.length;
    if (String(keys) !== String(this.keys)) {
      delete this.node.dataset.drawn;
      const old = Array.from({ length: this.viewer.world.getItemCount() }, (_, place) => this.viewer.world.getItemAt(place));
      let made;
      try {
        made = await Promise.all(sources.map(source => this.add(source)));
      } catch (error) {
        if (mine === this.turn) this.fail(error.message);
        return;
      }
      if (mine !== this.turn) return made.forEach(item => this.viewer.world.removeItem(item));
      this.keys = keys;
      for (const [place, item] of made.entries()) this.viewer.world.setItemIndex(item, this.viewer.world.getItemCount() - made.length + place);
      old.forEach(item => this.viewer.world.removeItem(item));
      this.items = made;
      if (fresh) keep ? keep(this) : this.viewer.viewport.goHome(true);
      this.sharp = null;
    }
    this.mode = mode;
    this.dress();
    this.crisp();
    this.snap();
    this.placed();
    this.node.dataset.drawn = `${mode}:${keys}`;
  }
  add(source) {
    return new Promise((done, fail) => {
      this.viewer.addTiledImage({
        tileSource: source, width: 1, preload: true,
        success: ({ item }) => { // shown when its pixels are here, so that scrubbing does not flicker
          const ready = () => { item.removeHandler("fully-loaded-change", ready); clearTimeout(late); done(item); };
          const late = setTimeout(ready, 8000);
          this.viewer.addOnceHandler("tile-load-failed", ({ message }) => { clearTimeout(late); fail(new Error(message?.includes?.("timeout") ? "The image takes too long to load." : "The image cannot be loaded.")); });
          if (item.getFullyLoaded()) ready(); else item.addHandler("fully-loaded-change", ready);
        },
        error: ({ message }) => fail(new Error(message || "The image cannot be loaded.")),
      });
    });
  }
  fail(words) {
    this.none.hidden = false;
    this.none.textContent = words;
    this.box.hidden = true;
    this.keys = [];
    this.viewer.world.removeAll();
  }
  label([name, right = ""]) {
    this.name.textContent = name;
    this.right.textContent = right;
    this.right.hidden = !right;
    this.node.setAttribute("aria-label", right ? `${name}; ${right}` : name);
  }
  // Wipe: the upper image covers the left part. Blink and worn: the upper one comes and goes.
  dress() {
    const [, upper] = this.items ?? [];
    this.divider.hidden = this.mode !== "wipe" || !upper;
    if (!upper) return;
    const size = upper.getContentSize();
    upper.setClip(this.mode === "wipe" ? new OpenSeadragon.Rect(0, 0, Math.round(size.x * this.wipe), size.y) : null);
    upper.setOpacity(this.mode !== "wipe" && this.swapped ? 0 : 1);
  }
  swap(swapped) { this.swapped = swapped; this.dress(); }
  placed() {
    if (this.divider.hidden || !this.item) return;
    const x = this.viewer.viewport.pixelFromPoint(new (POINT())(this.wipe, 0), true).x;
    this.divider.style.left = `${x}px`;
    this.divider.setAttribute("aria-valuenow", Math.round(this.wipe * 100));
  }
  setWipe(share) { this.wipe = share; this.dress(); this.placed(); }
  dragging() {
    const to = event => {
      const box = this.box.getBoundingClientRect(), point = this.viewer.viewport.pointFromPixel(new (POINT())(event.clientX - box.left, 0), true);
      this.wiped(Math.min(1, Math.max(0, point.x)));
    };
    this.divider.addEventListener("pointerdown", event => { this.divider.setPointerCapture(event.pointerId); this.held = true; event.preventDefault(); event.stopPropagation(); this.divider.focus({ preventScroll: true }); });
    this.divider.addEventListener("pointermove", event => { if (this.held) to(event); });
    for (const name of ["pointerup", "pointercancel"]) this.divider.addEventListener(name, () => { this.held = false; });
    this.divider.addEventListener("keydown", event => {
      const by = { ArrowLeft: -0.02, ArrowRight: 0.02, PageUp: -0.1, PageDown: 0.1, Home: -1, End: 1 }[event.key];
      if (by === undefined) return;
      event.preventDefault(); event.stopPropagation();
      this.wiped(Math.min(1, Math.max(0, this.wipe + by)));
    });
  }
  close() { this.turn++; this.viewer?.destroy(); this.viewer = null; this.node.remove(); }
}
