"use strict";
try { const theme = localStorage.getItem("convergebench-theme"); if (theme) document.documentElement.dataset.theme = theme; } catch (error) { /* storage is off */ }
document.addEventListener("DOMContentLoaded", () => {
  const find = id => document.getElementById(id);
  const { base, session, mode } = document.body.dataset;
  const stage = find("stage"), panes = [...stage.querySelectorAll(".pane")];
  const paneOf = role => panes.find(pane => pane.dataset.role === role);
  const results = panes.filter(pane => pane.querySelector(".under"));
  const questions = mode === "label"
    ? [...document.querySelectorAll(".faults button")].map(button => button.dataset.question)
    : [...document.querySelectorAll(".question")].map(row => row.dataset.name);
  const rows = [...document.querySelectorAll(".question")];
  const LEVELS = [null, 1, 2, 4]; // null: all of the picture fits into its frame
  const view = { zoom: 0, x: 0.5, y: 0.5 };
  let items = [], place = 0, current = 0, busy = false, marked = {}, seen = 0, since = null;

  const tell = words => { find("trouble").textContent = words; find("trouble").hidden = !words; };
  const show = name => {
    for (const id of ["intro", "rate", "end"]) find(id).hidden = id !== name;
    find("help").hidden = name === "intro";
    document.body.dataset.shown = name;
  };
  const answered = item => questions.every(name => name in item.values);
  const firstOpen = () => items.findIndex(item => !answered(item));
  const wait = seconds => new Promise(done => setTimeout(done, 1000 * seconds));

  // --- talking to the server ---
  async function ask(path, options = {}) {
    for (let pause = 1; ; pause = Math.min(8, 2 * pause)) {
      let reply = null;
      try { reply = await fetch(base + path, { credentials: "same-origin", cache: "no-store", ...options }); } catch (error) { /* not there: tried again */ }
      if (reply && reply.ok) { tell(""); return reply.json(); }
      if (reply && reply.status !== 429 && reply.status < 500) {
        const words = await reply.json().then(body => body.error, () => "");
        throw new Error(words || "The server did not take this.");
      }
      tell("Not kept yet: the server does not answer. Leave this page open; it tries again.");
      document.body.dataset.waiting = "1";
      await wait(pause);
    }
  }
  async function send(item, values) {
    busy = true;
    document.body.classList.add("busy");
    try {
      const body = JSON.stringify({ item: item.id, values, seconds: Math.round(1000 * looked()) / 1000 });
      const reply = await ask("/answers", { method: "POST", body, headers: { "Content-Type": "application/json", "X-Rating-Session": session } });
      item.values = reply.kept;
      return true;
    } catch (error) {
      tell(`${error.message} Your last answer was not kept.`);
      return false;
    } finally {
      busy = false;
      delete document.body.dataset.waiting;
      document.body.classList.remove("busy");
    }
  }

  // --- time with the picture in sight ---
  const pause = () => { if (since !== null) { seen += performance.now() - since; since = null; } };
  const inSight = () => panes.every(pane => pane.hidden || pane.querySelector(".main").complete);
  const goOn = () => { if (since === null && inSight() && document.visibilityState === "visible") since = performance.now(); };
  const looked = () => (seen + (since === null ? 0 : performance.now() - since)) / 1000;
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" ? goOn() : pause());

  // --- pictures ---
  const address = id => `${base}/picture/${id}`;
  function put(image, id) {
    if (!image || image.dataset.id === id) return;
    image.dataset.id = id;
    image.removeAttribute("src"); // nothing of the picture before stays in sight
    if (id) image.src = address(id);
  }
  function draw() {
    const item = items[place], own = item.values;
    blink(false);
    view.zoom = 0;
    const shown = mode === "pairs" ? { first: item.pictures[0], second: item.pictures[1] } : { result: item.pictures[0] };
    for (const [role, id] of Object.entries({ input: item.input, clean: item.clean, ...shown })) {
      const pane = paneOf(role);
      if (!pane) continue;
      pane.hidden = !id;
      put(pane.querySelector(".main"), id);
      put(pane.querySelector(".under"), item.input);
    }
    look(mode === "pairs" ? "first" : "result");
    current = Math.max(0, questions.findIndex(name => !(name in own)));
    marked = Object.fromEntries(questions.map(name => [name, own[name] ? 1 : 0]));
    seen = 0; since = null; goOn();
    layOut();
    mark();
    arrived();
    const following = items[place + 1];
    if (following) for (const id of [following.input, ...following.pictures]) new Image().src = address(id);
  }
  function arrived() { // nobody can judge what has not arrived
    document.body.dataset.sight = inSight() ? String(place) : "";
    document.body.classList.toggle("loading", !inSight());
    goOn();
  }
  for (const image of stage.querySelectorAll("img")) {
    image.addEventListener("load", () => {
      if (image.closest(".pane").dataset.role === "input") stage.style.setProperty("--aspect", image.naturalWidth / image.naturalHeight);
      layOut();
      arrived();
    });
    image.addEventListener("error", () => {
      arrived();
      if (image.classList.contains("main")) tell("A picture could not be loaded. Load the page again, or choose “cannot say”.");
    });
  }

  // all panes show the same part of the picture, at the same size; 100 % is one picture element for one of the screen
  function layOut() {
    const zoom = LEVELS[view.zoom], reference = paneOf("input").querySelector(".main");
    stage.classList.toggle("zoomed", zoom !== null);
    stage.classList.toggle("exact", zoom !== null);
    find("scale").textContent = zoom === null ? "fit" : `${100 * zoom} %`;
    for (const pane of panes) {
      const frame = pane.querySelector(".frame");
      for (const image of pane.querySelectorAll("img")) {
        if (zoom === null || !reference.naturalWidth) {
          for (const name of ["width", "height", "left", "top"]) image.style[name] = "";
          continue;
        }
        const width = reference.naturalWidth * zoom / devicePixelRatio, height = reference.naturalHeight * zoom / devicePixelRatio;
        const left = corner(view.x, width, frame.clientWidth), top = corner(view.y, height, frame.clientHeight);
        Object.assign(image.style, { width: `${width}px`, height: `${height}px`, left: `${left}px`, top: `${top}px` });
      }
    }
  }
  function corner(share, length, room) {
    if (length <= room) return Math.round((room - length) / 2);
    return Math.round(Math.min(0, Math.max(room - length, room / 2 - share * length)));
  }
  function zoomTo(level, x = view.x, y = view.y) {
    Object.assign(view, { zoom: (level + LEVELS.length) % LEVELS.length, x, y });
    layOut();
  }
  function blink(on) {
    stage.classList.toggle("blinking", on);
    for (const pane of results) {
      const caption = pane.querySelector("figcaption");
      caption.dataset.name = caption.dataset.name || caption.textContent;
      caption.textContent = on ? document.body.dataset.input : caption.dataset.name;
    }
  }
  function wipe(on = !stage.classList.contains("wiping")) {
    stage.classList.toggle("wiping", on);
    find("wipe").setAttribute("aria-pressed", String(on));
    wipeAt(0.5);
  }
  function wipeAt(share) {
    const on = stage.classList.contains("wiping");
    for (const pane of results) {
      const frame = pane.querySelector(".frame"), under = pane.querySelector(".under"), at = share * frame.clientWidth;
      pane.querySelector(".divider").style.left = `${at}px`;
      const inside = at - under.offsetLeft; // the picture may be larger than its frame
      under.style.clipPath = on ? `inset(0 ${Math.max(0, under.offsetWidth - inside)}px 0 0)` : "";
    }
  }
  function look(role) {
    stage.dataset.view = role;
    for (const button of document.querySelectorAll(".views button")) button.setAttribute("aria-pressed", String(button.dataset.view === role));
    layOut();
  }
  for (const button of document.querySelectorAll(".views button")) button.addEventListener("click", () => look(button.dataset.view));

  stage.addEventListener("pointerdown", event => {
    const pane = event.target.closest(".pane"), frame = event.target.closest(".frame");
    if (!frame || event.button) return;
    const box = frame.getBoundingClientRect(), share = now => Math.min(1, Math.max(0, (now.clientX - box.left) / box.width));
    const from = { px: event.clientX, py: event.clientY, x: view.x, y: view.y }, wiping = stage.classList.contains("wiping");
    const picture = pane.querySelector(".main").getBoundingClientRect();
    const move = now => {
      if (wiping) return wipeAt(share(now));
      if (!view.zoom) return;
      const inside = (value, room, length) => length <= room ? 0.5 : Math.min(1 - room / 2 / length, Math.max(room / 2 / length, value));
      view.x = inside(from.x - (now.clientX - from.px) / picture.width, box.width, picture.width);
      view.y = inside(from.y - (now.clientY - from.py) / picture.height, box.height, picture.height);
      layOut();
    };
    const stop = () => { for (const name of ["pointermove", "pointerup", "pointercancel"]) removeEventListener(name, name === "pointermove" ? move : stop); blink(false); };
    addEventListener("pointermove", move); addEventListener("pointerup", stop); addEventListener("pointercancel", stop);
    if (wiping) wipeAt(share(event)); else if (!view.zoom && pane.querySelector(".under")) blink(true);
    event.preventDefault();
  });
  stage.addEventListener("dblclick", event => {
    const frame = event.target.closest(".frame");
    if (!frame) return;
    const picture = frame.querySelector(".main").getBoundingClientRect();
    zoomTo(view.zoom ? 0 : 2, (event.clientX - picture.left) / picture.width, (event.clientY - picture.top) / picture.height);
  });
  stage.addEventListener("contextmenu", event => event.preventDefault()); // a long press would open a menu
  find("blink").addEventListener("pointerdown", () => blink(true));
  for (const name of ["pointerup", "pointercancel", "blur"]) addEventListener(name, () => blink(false));
  find("wipe").addEventListener("click", () => wipe());
  find("zoom").addEventListener("click", () => zoomTo(view.zoom + 1));
  addEventListener("resize", () => layOut());

  // --- answers ---
  function mark() {
    const own = items[place].values, done = items.filter(answered).length;
    rows.forEach((row, at) => {
      row.classList.toggle("current", mode === "axes" && at === current);
      for (const button of row.querySelectorAll(".levels button")) {
        const value = button.dataset.value === "" ? null : Number(button.dataset.value);
        button.setAttribute("aria-pressed", String(row.dataset.name in own && own[row.dataset.name] === value));
      }
    });
    for (const button of document.querySelectorAll(".faults button")) button.setAttribute("aria-pressed", String(marked[button.dataset.question] === 1));
    find("unsure").setAttribute("aria-pressed", String(answered(items[place]) && questions.every(name => own[name] === null)));
    find("nothing")?.setAttribute("aria-pressed", String(answered(items[place]) && questions.every(name => own[name] === 0)));
    find("place").textContent = `${mode === "pairs" ? "Pair" : "Picture"} ${place + 1} of ${items.length}`;
    find("status").textContent = `${done} answered`;
    find("progress").setAttribute("aria-valuenow", String(done));
    find("progress").firstElementChild.style.width = `${100 * done / items.length}%`;
    find("back").disabled = place === 0;
    find("next").disabled = place === items.length - 1 || !answered(items[place]);
    find("open").hidden = firstOpen() < 0 || firstOpen() === place;
    document.body.dataset.ready = `${place}:${done}`;
  }
  function go(at) {
    if (busy) return;
    place = Math.max(0, Math.min(items.length - 1, at));
    show("rate");
    draw();
  }
  function forward() {
    const open = firstOpen();
    if (open < 0) { show("end"); document.body.dataset.ready = "end"; return; }
    go(place + 1 < items.length && !answered(items[place + 1]) ? place + 1 : open);
  }
  async function answer(values) {
    if (busy || !inSight()) return;
    const item = items[place];
    if (!await send(item, values)) return mark();
    if (answered(item)) forward(); else { current = questions.findIndex(name => !(name in item.values)); mark(); }
  }
  const give = (row, value) => {
    if (mode !== "axes") return answer({ [questions[row]]: value });
    return answer({ ...items[place].values, [questions[row]]: value });
  };
  const unsure = () => answer(Object.fromEntries(questions.map(name => [name, null])));
  const nothing = () => answer(Object.fromEntries(questions.map(name => [name, 0])));
  const keep = () => Object.values(marked).some(Boolean) ? answer({ ...marked }) : tell("Mark what is wrong, or say that nothing is.");
  const toggle = name => { if (busy || !name) return; marked[name] = 1 - marked[name]; tell(""); mark(); };
  rows.forEach((row, at) => row.addEventListener("click", event => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.question) toggle(button.dataset.question);
    else give(at, button.dataset.value === "" ? null : Number(button.dataset.value));
  }));
  find("unsure").addEventListener("click", unsure);
  find("nothing")?.addEventListener("click", nothing);
  find("keep")?.addEventListener("click", keep);
  find("back").addEventListener("click", () => go(place - 1));
  find("next").addEventListener("click", () => { if (!find("next").disabled) go(place + 1); });
  find("open").addEventListener("click", () => go(firstOpen()));
  find("begin").addEventListener("click", () => items.length && (firstOpen() < 0 ? forward() : go(firstOpen())));
  find("help").addEventListener("click", () => { if (!busy) show("intro"); });
  find("again").addEventListener("click", () => go(0));
  find("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("convergebench-theme", root.dataset.theme); } catch (error) { /* the choice lasts for this page */ }
  });

  // --- keys ---
  const before = () => { if (place > 0) go(place - 1); }, after = () => { if (!find("next").disabled) go(place + 1); };
  const keys = { Backspace: before, x: unsure, z: () => zoomTo(view.zoom + 1), w: () => wipe() };
  if (mode === "pairs") Object.assign(keys, { ArrowLeft: () => give(0, 1), ArrowDown: () => give(0, 0.5), ArrowRight: () => give(0, 0) });
  else Object.assign(keys, { ArrowLeft: before, ArrowRight: after });
  if (mode === "axes") Object.assign(keys, {
    ArrowUp: () => { current = Math.max(0, current - 1); mark(); }, ArrowDown: () => { current = Math.min(rows.length - 1, current + 1); mark(); },
  });
  if (mode === "label") Object.assign(keys, { Enter: keep, 0: nothing });
  const digit = key => {
    if (mode === "label") return toggle(questions[Number(key) - 1]);
    const row = mode === "axes" ? current : 0;
    const button = [...rows[row].querySelectorAll(".levels button")].find(one => one.dataset.key === key);
    if (button) button.click();
  };
  const own = event => event.target.matches?.("button:focus-visible, summary:focus-visible") && (event.key === " " || event.key === "Enter");
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || own(event)) return;
    const shown = document.body.dataset.shown, key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (shown === "intro" && key === "Enter") { event.preventDefault(); return find("begin").click(); }
    if (shown === "end" && key === "Backspace") { event.preventDefault(); return go(items.length - 1); }
    if (shown !== "rate") return;
    if (key === " ") { event.preventDefault(); return blink(true); }
    const act = keys[key] || (/^[0-9]$/.test(key) ? () => digit(key) : null);
    if (!act) return;
    event.preventDefault();
    if (!event.repeat) act();
  });
  document.addEventListener("keyup", event => {
    if (event.key !== " " || own(event)) return;
    event.preventDefault(); // the button that was clicked last would be clicked again
    blink(false);
  });

  ask("/items").then(found => {
    items = found.items;
    if (!items.length) return tell("There is nothing to rate.");
    const begun = items.some(item => Object.keys(item.values).length);
    find("begin").textContent = begun ? (firstOpen() < 0 ? "See the end" : "Go on") : "Begin";
    if (begun) find("begin").click(); else { show("intro"); document.body.dataset.ready = "intro"; }
  }).catch(error => tell(error.message));
});
