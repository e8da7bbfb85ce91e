// The panes side by side, with one place and one zoom for all of them.
import { make } from "./make.js";
import { Pane } from "./pane.js";

const STEPS = [0.125, 0.25, 0.5, 1, 2, 3, 4, 6, 8, 16, 32];

export class Stage {
  // `placed(place)`: {x, y, scale} in image pixels, or null for all of the image.
  constructor({ placed, wiped }) {
    this.node = make("div", { class: "stage", tabindex: 0, role: "group", "aria-label": "images; drag to move, wheel to zoom" });
    this.panes = [];
    this.told = placed;
    this.wiped = wiped;
    this.leader = null;
    this.fitted = true;
    this.wanted = null;
    this.resize = new ResizeObserver(() => this.arrange());
    this.resize.observe(this.node);
  }
  // As many columns as make the images largest.
  arrange() {
    const count = this.panes.length, { clientWidth: wide, clientHeight: high } = this.node, ratio = this.ratio || 1;
    let best = [1, 0];
    for (let columns = 1; columns <= count; columns++) {
      const side = Math.min(wide / columns, (high / Math.ceil(count / columns)) * ratio);
      if (side > best[1]) best = [columns, side];
    }
    this.node.style.gridTemplateColumns = `repeat(${best[0]}, minmax(0, 1fr))`;
    this.node.style.gridAutoRows = "minmax(0, 1fr)";
    if (this.fitted) requestAnimationFrame(() => { if (this.fitted) this.panes.forEach(pane => pane.viewer?.viewport?.goHome(true)); });
  }
  async show(views, { ratio, wipe }) {
    this.ratio = ratio;
    while (this.panes.length > views.length) this.panes.pop().close();
    while (this.panes.length < views.length) {
      const pane = new Pane({ moved: (from, change) => this.moved(from, change), wiped: share => this.wiped(share), fitted: () => this.fitted });
      this.panes.push(pane);
      this.node.append(pane.node);
    }
    this.arrange();
    for (const pane of this.panes) { pane.wipe = wipe; pane.swapped = false; }
    await Promise.all(views.map((view, place) => this.panes[place].show(view.sources, { ...view, keep: pane => this.settle(pane) })));
  }
  // A pane that just got its first image takes the place that the others have, or that the address says.
  settle(pane) {
    if (this.wanted) this.put(pane, this.wanted);
    else if (!this.fitted && this.panes.some(one => one !== pane && one.item)) this.follow(this.panes.find(one => one !== pane && one.item), pane);
    else pane.viewer.viewport.goHome(true);
  }
  put(pane, { x, y, scale }) {
    const item = pane.item;
    if (!item) return;
    pane.viewer.viewport.panTo(item.imageToViewportCoordinates(x, y), true);
    pane.scaleTo(scale);
    pane.viewer.viewport.panTo(item.imageToViewportCoordinates(x, y), true);
    pane.crisp();
    pane.snap();
  }
  follow(leader, pane) {
    if (!leader.viewer || !pane.viewer || !pane.item) return;
    pane.viewer.viewport.zoomTo(leader.viewer.viewport.getZoom(true), null, true);
    pane.viewer.viewport.panTo(leader.viewer.viewport.getCenter(true), true);
  }
  moved(from, change) {
    if (!change) { this.leader = from; this.fitted = false; this.wanted = null; return; }
    if (from !== this.leader) return;
    for (const pane of this.panes) if (pane !== from) this.follow(from, pane);
    this.tell();
  }
  tell() {
    const pane = this.first, item = pane?.item;
    if (!item || this.fitted) return this.told(null, pane ? pane.scale() : 0);
    const centre = item.viewportToImageCoordinates(pane.viewer.viewport.getCenter(true));
    this.told({ x: Math.round(centre.x), y: Math.round(centre.y), scale: pane.scale() }, pane.scale());
  }
  get first() { return (this.leader && this.panes.includes(this.leader) ? this.leader : null) ?? this.panes.find(pane => pane.item); }
  // The place of the address: null shows all of the image.
  place(wanted) {
    this.wanted = wanted;
    this.fitted = !wanted;
    this.leader = null;
    for (const pane of this.panes) if (pane.item) wanted ? this.put(pane, wanted) : pane.viewer.viewport.goHome(true);
  }
  scaleTo(scale) {
    const pane = this.first;
    if (!pane) return;
    this.fitted = false;
    this.wanted = null;
    this.leader = pane;
    pane.scaleTo(scale);
    for (const one of this.panes) if (one !== pane) this.follow(pane, one);
    this.panes.forEach(one => { if (one.viewer) { one.crisp(); one.snap(); } });
    this.tell();
  }
  by(direction) {
    const now = this.first?.scale();
    if (now) this.scaleTo(direction > 0 ? STEPS.find(step => step > now * 1.01) ?? 32 : STEPS.findLast(step => step < now * 0.99) ?? 0.125);
  }
  fit() { this.place(null); this.tell(); }
  setWipe(share) { this.panes.forEach(pane => pane.setWipe(share)); }
  swap(swapped) { this.panes.forEach(pane => pane.viewer && pane.swap(swapped)); }
  close() { this.resize.disconnect(); this.panes.forEach(pane => pane.close()); this.panes = []; }
}
