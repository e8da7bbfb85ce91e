// One zoom and one place for all panes of a stage. 100 % is one image pixel on one screen pixel.
// `view` holds zoom (null: fit), x, y (image pixels from the middle), wipe; `size` gives the image's width and height;
// `placed` is called after every change, `zoomed` after a change of the zoom.
CB.zoomed = (stage, view, { size, placed = () => {}, zoomed = () => {} }) => {
  const STEPS = [0.125, 0.25, 0.5, 1, 2, 3, 4, 6, 8, 16];
  const ratio = () => devicePixelRatio || 1;
  function place() {
    const panes = [...stage.querySelectorAll(".pane")], [wide, high] = size();
    if (!panes.length || !wide || !high) return;
    const box = panes[0].getBoundingClientRect();
    const scale = view.zoom ? view.zoom / ratio() : Math.min(box.width / wide, box.height / high);
    const w = wide * scale, h = high * scale;
    const left = Math.round((box.width - w) / 2 + view.x * scale), top = Math.round((box.height - h) / 2 + view.y * scale);
    for (const one of panes) {
      const inner = one.querySelector(".view");
      if (!inner) continue;
      inner.style.cssText += `;width:${w}px;height:${h}px;left:${left}px;top:${top}px`;
      const divider = one.querySelector(".divider");
      if (divider) {
        divider.style.left = left + view.wipe * w + "px";
        inner.children[1].style.clipPath = `inset(0 ${(1 - view.wipe) * 100}% 0 0)`;
      }
    }
    stage.classList.toggle("crisp", scale * ratio() >= 1);
    view.scale = scale;
    placed(Math.round(scale * ratio() * 100) + " %");
  }
  // The image point under `at` (a point of the screen) stays where it is.
  function to(zoom, at) {
    const one = at && document.elementFromPoint(at.x, at.y)?.closest(".pane"), before = view.scale;
    view.zoom = Math.min(16, Math.max(0.05, zoom));
    if (one && stage.contains(one)) {
      const box = one.getBoundingClientRect(), after = view.zoom / ratio();
      view.x += (at.x - box.left - box.width / 2) * (1 / after - 1 / before);
      view.y += (at.y - box.top - box.height / 2) * (1 / after - 1 / before);
    }
    place(); zoomed();
  }
  function by(factor, at) {
    const now = view.scale * ratio();
    to(factor > 1 ? STEPS.find(s => s > now * 1.01) ?? 16 : STEPS.findLast(s => s < now * 0.99) ?? 0.125, at);
  }
  function full() { view.zoom = 1; place(); zoomed(); }
  function fit() { view.zoom = null; view.x = view.y = 0; place(); zoomed(); }

  const fingers = new Map(); // pointers that are down: one moves, two zoom
  let held = null;
  function begin(wiping) {
    const points = [...fingers.values()], middle = { x: points.reduce((sum, p) => sum + p.x, 0) / points.length, y: points.reduce((sum, p) => sum + p.y, 0) / points.length };
    const apart = points.length > 1 ? Math.hypot(points[0].x - points[1].x, points[0].y - points[1].y) : 0;
    held = { middle, apart, zoom: view.scale * ratio(), x: view.x, y: view.y, wiping: points.length === 1 && wiping };
  }
  stage.addEventListener("wheel", event => { event.preventDefault(); by(event.deltaY < 0 ? 2 : 0.5, { x: event.clientX, y: event.clientY }); }, { passive: false });
  stage.addEventListener("pointerdown", event => {
    const one = event.target.closest(".pane");
    if (!one) return;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    begin(event.target.closest(".divider") && one);
    stage.classList.add("dragging");
    event.preventDefault(); stage.focus({ preventScroll: true });
  });
  addEventListener("pointermove", event => {
    if (!held || !fingers.has(event.pointerId)) return;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const points = [...fingers.values()];
    if (held.wiping) {
      const box = held.wiping.querySelector(".view").getBoundingClientRect();
      view.wipe = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    } else if (points.length > 1 && held.apart) {
      return to(held.zoom * Math.hypot(points[0].x - points[1].x, points[0].y - points[1].y) / held.apart, held.middle);
    } else {
      view.x = held.x + (points[0].x - held.middle.x) / view.scale;
      view.y = held.y + (points[0].y - held.middle.y) / view.scale;
    }
    place();
  });
  const stop = event => {
    if (!fingers.delete(event.pointerId)) return;
    if (fingers.size) return begin(null);
    held = null;
    stage.classList.remove("dragging");
  };
  addEventListener("pointerup", stop); addEventListener("pointercancel", stop);
  addEventListener("resize", place);
  return { place, by, full, fit };
};
