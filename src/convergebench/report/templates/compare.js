// Strips of pictures, enlarged: all side by side, or two of them wiped or blinked, with one zoom for all of them.
(() => {
  const MODES = ["side by side", "wipe", "blink"];
  const view = { mode: MODES[0], zoom: null, x: 0, y: 0, wipe: 0.5, one: 0, other: 1, swapped: false, timer: null };
  let pictures = [], strip = null;
  const button = (words, act, label) => {
    const made = CB.make("button", { type: "button" }, words);
    if (label) made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  };
  const title = CB.make("h2", { id: "compare-title" }), modes = CB.make("span", { className: "modes" }), scale = CB.make("output", {});
  const one = CB.make("select", {}), other = CB.make("select", {}), shown = CB.make("div", { className: "chips" }), note = CB.make("p", { className: "note", role: "status" });
  const pair = CB.make("span", { className: "pair" }, CB.make("label", {}, "left ", one), CB.make("label", {}, "right ", other));
  const stage = CB.make("div", { className: "stage", tabIndex: 0 });
  stage.setAttribute("role", "group"); stage.setAttribute("aria-label", "pictures; drag or arrow keys to move, wheel, pinch or + and − to zoom");
  const zoom = CB.zoomed(stage, view, { size: () => [pictures[0]?.width ?? 0, pictures[0]?.height ?? 0], placed: words => { scale.textContent = words; dialog.dataset.scale = words; } });
  const sizes = CB.make("span", { className: "zoom" }, button("−", () => zoom.by(0.5), "zoom out"), scale, button("+", () => zoom.by(2), "zoom in"), button("fit", zoom.fit), button("100 %", zoom.full));
  const keys = CB.make("p", { className: "note keys" }, "Keys: 1 side by side, 2 wipe, 3 blink, space swaps; + − 0 f zoom; arrows move; e next picture; n p next and previous strip; Esc closes.");
  const dialog = CB.make("dialog", { className: "compare" },
    CB.make("header", {}, title, button("close", () => dialog.close())), CB.make("div", { className: "bar", role: "toolbar" }, modes, pair, sizes), shown, stage, note, keys);
  dialog.setAttribute("aria-labelledby", "compare-title");
  document.body.append(dialog);

  function image(picture) {
    const made = CB.make("img", { src: picture.full, alt: picture.name, draggable: false });
    made.addEventListener("error", () => { // a report that was moved without its run still has the thumbnails
      if (!picture.thumb || made.src.endsWith(picture.thumb)) return;
      made.src = picture.thumb;
      note.textContent = "Small copies only: the run's images are not beside this report.";
    }, { once: true });
    return made;
  }
  function pane(words, ...images) {
    return CB.make("div", { className: "pane" }, CB.make("div", { className: "view" }, ...images), CB.make("span", { className: "name" }, words));
  }
  const called = picture => picture.name + (picture.note ? ", " + picture.note : "");
  // As many columns as make the pictures largest.
  function columns(count) {
    const box = stage.getBoundingClientRect(), ratio = (pictures[0]?.width || 1) / (pictures[0]?.height || 1);
    let best = [1, 0];
    for (let n = 1; n <= count; n++) {
      const size = Math.min(box.width / n, (box.height / Math.ceil(count / n)) * ratio);
      if (size > best[1]) best = [n, size];
    }
    return best[0];
  }
  function draw() {
    clearInterval(view.timer);
    const several = view.mode === MODES[0], visible = pictures.filter(picture => !picture.hidden);
    modes.replaceChildren(...MODES.map((mode, place) => {
      const made = button(`${place + 1} ${mode}`, () => { view.mode = mode; draw(); });
      made.setAttribute("aria-pressed", mode === view.mode);
      return made;
    }));
    pair.hidden = several; shown.hidden = !several || pictures.length < 3;
    for (const [select, chosen] of [[one, view.one], [other, view.other]]) {
      select.replaceChildren(...pictures.map((picture, place) => CB.make("option", { value: place }, picture.name)));
      select.value = chosen;
    }
    shown.replaceChildren(...pictures.map(picture => {
      const made = button(picture.name, () => { picture.hidden = !picture.hidden && visible.length > 1; draw(); });
      made.setAttribute("aria-pressed", !picture.hidden);
      return made;
    }));
    const [a, b] = [pictures[view.one], pictures[view.other]];
    if (several) {
      const count = columns(visible.length);
      stage.style.gridTemplateColumns = `repeat(${count}, minmax(0, 1fr))`;
      stage.style.gridAutoRows = "1fr";
      stage.replaceChildren(...visible.map(picture => pane(called(picture), image(picture))));
    } else {
      stage.style.gridTemplateColumns = "1fr";
      const both = pane(called(view.mode === "wipe" ? a : b), image(view.mode === "wipe" ? b : a), image(view.mode === "wipe" ? a : b));
      if (view.mode === "wipe") both.append(CB.make("span", { className: "name right" }, called(b)), CB.make("div", { className: "divider" }));
      stage.replaceChildren(both);
      if (view.mode === "blink") {
        view.swapped = false;
        if (!matchMedia("(prefers-reduced-motion: reduce)").matches) view.timer = setInterval(swap, 600);
      }
    }
    const odd = pictures.filter(picture => picture.width !== pictures[0].width || picture.height !== pictures[0].height);
    note.textContent = odd.length ? `Sizes differ: ${odd.map(picture => `${picture.name} ${picture.width} × ${picture.height}`).join(", ")}, drawn as ${pictures[0].width} × ${pictures[0].height}.` : "";
    zoom.place();
    dialog.dataset.mode = view.mode;
  }
  function swap() {
    if (view.mode !== "blink") return;
    view.swapped = !view.swapped;
    const here = stage.querySelector(".view");
    here.children[1].style.visibility = view.swapped ? "hidden" : "visible";
    stage.querySelector(".name").textContent = called(pictures[view.swapped ? view.one : view.other]);
  }
  function open(found, place) {
    const links = [...found.querySelectorAll("[data-full]")];
    if (!links.length) return;
    strip = found;
    pictures = links.map(link => ({ name: link.dataset.name, note: link.dataset.note, full: link.dataset.full, thumb: link.querySelector("img")?.getAttribute("src"), width: Number(link.dataset.width), height: Number(link.dataset.height), hidden: false }));
    title.textContent = found.dataset.compare;
    view.one = 0;
    view.other = place || Math.min(1, pictures.length - 1);
    view.zoom = null; view.x = view.y = 0;
    if (!dialog.open) dialog.showModal();
    draw();
    stage.focus();
  }
  const strips = () => [...document.querySelectorAll("[data-compare]")].filter(found => found.getClientRects().length && found.querySelector("[data-full]"));
  function neighbour(by) {
    const all = strips();
    open(all[(all.indexOf(strip) + by + all.length) % all.length], 0);
  }
  const moved = (x, y) => { const box = stage.querySelector(".pane").getBoundingClientRect(); view.x += (x * box.width) / 8 / view.scale; view.y += (y * box.height) / 8 / view.scale; zoom.place(); };
  const KEYS = {
    "+": () => zoom.by(2), "=": () => zoom.by(2), "-": () => zoom.by(0.5), 0: zoom.full, f: zoom.fit,
    ArrowLeft: () => moved(1, 0), ArrowRight: () => moved(-1, 0), ArrowUp: () => moved(0, 1), ArrowDown: () => moved(0, -1),
    " ": () => { clearInterval(view.timer); swap(); }, e: () => { view.other = (view.other + 1) % pictures.length; draw(); }, n: () => neighbour(1), p: () => neighbour(-1),
  };
  MODES.forEach((mode, place) => { KEYS[place + 1] = () => { view.mode = mode; draw(); }; });
  dialog.addEventListener("keydown", event => {
    const inside = event.target.tagName;
    if (event.ctrlKey || event.metaKey || event.altKey || inside === "SELECT" || (inside === "BUTTON" && (event.key === " " || event.key === "Enter"))) return;
    const act = KEYS[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  dialog.addEventListener("close", () => clearInterval(view.timer));
  one.addEventListener("change", () => { view.one = Number(one.value); draw(); });
  other.addEventListener("change", () => { view.other = Number(other.value); draw(); });
  addEventListener("resize", () => { if (dialog.open && view.mode === MODES[0]) draw(); });
  document.addEventListener("click", event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return; // those open the chain in the viewer
    const found = event.target.closest?.("[data-compare]"), link = event.target.closest?.("[data-full], [data-open]");
    if (!found || !link) return;
    event.preventDefault();
    open(found, Math.max(0, [...found.querySelectorAll("[data-full]")].indexOf(link)));
  });
})();
