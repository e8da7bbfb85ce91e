// Charts: the static drawing is replaced by the same specification in Vega when it comes near the screen.
const wideScreen = matchMedia("(min-width: 721px)"), liveCharts = new Set();
const nearCharts = new IntersectionObserver(entries => {
  for (const { isIntersecting, target } of entries)
    if (isIntersecting) { nearCharts.unobserve(target); startChart(target); }
}, { rootMargin: "600px" });
CB.charts = root => { for (const box of root.querySelectorAll(".vega")) nearCharts.observe(box); };
const chartTip = CB.make("div", { className: "tip", hidden: true, role: "tooltip" });
document.body.append(chartTip);

function startChart(box) {
  CB.script(CB.library).then(() => drawChart({ box, chart: JSON.parse(box.querySelector("script").textContent), hidden: [] }))
    .catch(error => {
      box.dataset.failed = String(error);
      if (!box.querySelector("svg")) box.prepend(CB.make("p", { className: "empty" }, "This chart cannot be drawn: vega.js, a file beside this page, is missing or the browser is too old."));
    });
}

const unpack = ({ columns, rows, words = {} }) => rows.map(row => Object.fromEntries(columns.map((name, place) => [name, name in words ? words[name][row[place]] : row[place]]).filter(([, value]) => value !== null)));

async function drawChart(one) {
  const { box, chart } = one;
  one.kind = chart.only ? "only" : wideScreen.matches ? "wide" : "narrow";
  const given = chart[one.kind];
  one.data = Object.fromEntries(Object.entries({ ...chart.datasets, ...given.datasets }).map(([name, packed]) => [name, unpack(packed)]));
  one.meta = given.usermeta;
  one.start = Object.fromEntries(given.params.filter(({ name }) => /^[xy][01]$/.test(name)).map(({ name, value }) => [name, value]));
  one.room = given.padding;
  const host = CB.make("div", { className: "live" });
  const spec = JSON.parse(JSON.stringify({ ...given, datasets: one.data })); // Vega changes what it is given
  if (CB.alone) for (const layer of spec.layer) delete layer.encoding.href; // the film strips stayed behind
  const made = await vegaEmbed(host, spec, { mode: "vega-lite", config: CB.vega, ast: true, actions: false, renderer: "svg", defaultStyle: false, tooltip: (handler, event, item, value) => tell(one, event, item, value) });
  one.view?.finalize();
  one.view = made.view;
  one.svg = host.querySelector("svg");
  one.svg.classList.add("chart");
  for (const [name, value] of [["role", chart.linked ? "group" : "img"], ["aria-label", chart.label]]) host.setAttribute(name, value); // Vega says "Vega visualization"
  host.removeAttribute("aria-roledescription");
  if (!chart.linked) one.svg.setAttribute("aria-hidden", "true");
  else if (!CB.alone) reachLinks(one);
  box.querySelector(".live")?.remove();
  box.prepend(host);
  one.host = host;
  if (!box.querySelector(".tools")) box.append(tools(one));
  box.classList.add("is-live");
  box.dataset.drawn = one.kind;
  if (one.hidden.length) setHidden(one);
  made.view.addEventListener("click", (event, item) => {
    if (item?.mark?.name?.includes("label_") && item.datum?.name) toggleSeries(one, item.datum.name);
  });
  if (one.meta.zoom !== false) zoomable(one);
  liveCharts.add(one);
}
wideScreen.addEventListener("change", () => { for (const one of liveCharts) if (!one.box.isConnected) liveCharts.delete(one); else if (one.kind !== "only" && !matchMedia("print").matches) drawChart(one); });

// tooltips
function tell(one, event, item, value) {
  const text = value === null || value === undefined || value === "" ? "" : one.meta.columns && item.datum.at !== undefined ? column(one, item.datum.at) : String(value.says ?? value);
  chartTip.hidden = !text;
  if (!text) return;
  chartTip.textContent = text;
  const { clientX: x, clientY: y } = event, size = chartTip.getBoundingClientRect();
  chartTip.style.left = Math.max(4, Math.min(x + 14, innerWidth - size.width - 8)) + "px";
  chartTip.style.top = Math.max(4, y + 18 + size.height > innerHeight ? y - size.height - 12 : y + 18) + "px";
}
function column(one, at) {
  const { data, word, n } = one.meta.columns;
  const lines = one.data[data].filter(row => row.x === at && !one.hidden.includes(row.name)).map(row =>
    `${row.name}: ${CB.number(row.y)}` + (row.low !== undefined && row.high !== undefined ? ` (${CB.number(row.low)} to ${CB.number(row.high)})` : "") + (row.n !== undefined ? `, ${n} ${row.n}` : ""));
  return [`${word} ${at}`, ...lines].join("\n");
}

// hiding
function toggleSeries(one, name) {
  one.hidden = one.hidden.includes(name) ? one.hidden.filter(other => other !== name) : [...one.hidden, name];
  setHidden(one);
}
function setHidden(one) {
  one.view.signal("hidden", one.hidden).runAsync();
  for (const input of one.box.querySelectorAll(".tools input")) input.checked = !one.hidden.includes(input.value);
}

// zoom
function setZoom(one, ends) {
  const zoomed = Object.entries(ends).some(([name, value]) => value !== one.start[name]);
  for (const [name, value] of Object.entries(ends)) one.view.signal(name, value);
  one.view.signal("zoomed", zoomed).runAsync();
}
function zoomBy(one, factor, at = {}) {
  const ends = {};
  for (const letter of ["x", "y"]) {
    if (!(letter + "0" in one.start)) continue;
    const low = one.view.signal(letter + "0"), high = one.view.signal(letter + "1"), centre = at[letter] ?? (low + high) / 2;
    const [from, to] = [centre + (low - centre) * factor, centre + (high - centre) * factor];
    const whole = to - from >= one.start[letter + "1"] - one.start[letter + "0"];
    ends[letter + "0"] = whole ? one.start[letter + "0"] : from;
    ends[letter + "1"] = whole ? one.start[letter + "1"] : to;
  }
  setZoom(one, ends);
}
function placeIn(one, event) {
  const box = one.svg.getBoundingClientRect(), scale = one.svg.viewBox.baseVal.width / box.width;
  const wide = one.view.width(), high = one.view.height();
  const px = { x: (event.clientX - box.left) * scale - one.room.left, y: (event.clientY - box.top) * scale - one.room.top };
  const inside = px.x >= 0 && px.x <= wide && px.y >= 0 && px.y <= high;
  px.x = Math.max(0, Math.min(wide, px.x)); px.y = Math.max(0, Math.min(high, px.y));
  const value = letter => letter + "0" in one.start ? one.view.scale(letter).invert(px[letter]) : undefined;
  return { inside, x: value("x"), y: value("y") };
}
function zoomable(one) {
  one.svg.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
    event.preventDefault();
    zoomBy(one, event.deltaY < 0 ? 0.8 : 1.25, placeIn(one, event));
  }, { passive: false });
  one.svg.addEventListener("dblclick", () => setZoom(one, one.start));
  one.svg.addEventListener("pointerdown", event => {
    const from = placeIn(one, event);
    if (event.pointerType !== "mouse" || event.button !== 0 || !from.inside) return;
    event.preventDefault();
    const start = [event.clientX, event.clientY], frame = CB.make("div", { className: "zoom-frame" });
    const move = now => {
      if (Math.hypot(now.clientX - start[0], now.clientY - start[1]) < 6) return;
      document.body.append(frame);
      Object.assign(frame.style, { left: Math.min(start[0], now.clientX) + "px", top: Math.min(start[1], now.clientY) + "px", width: Math.abs(now.clientX - start[0]) + "px", height: Math.abs(now.clientY - start[1]) + "px" });
    };
    const end = now => {
      removeEventListener("pointermove", move);
      if (!frame.isConnected) return;
      frame.remove();
      const to = placeIn(one, now), ends = {};
      for (const letter of ["x", "y"]) {
        if (from[letter] === undefined) continue;
        const [low, high] = [Math.min(from[letter], to[letter]), Math.max(from[letter], to[letter])];
        const enough = high - low > (one.view.signal(letter + "1") - one.view.signal(letter + "0")) * 0.02;
        ends[letter + "0"] = enough ? low : one.view.signal(letter + "0");
        ends[letter + "1"] = enough ? high : one.view.signal(letter + "1");
      }
      setZoom(one, ends);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end, { once: true });
  });
}
function reachLinks(one) {
  for (const node of one.svg.querySelectorAll("[role]")) { node.removeAttribute("role"); node.removeAttribute("aria-roledescription"); }
  for (const node of one.svg.querySelectorAll("path")) {
    const item = node.__data__;
    if (!item?.href) continue;
    for (const [name, value] of [["tabindex", "0"], ["role", "link"], ["aria-label", item.datum.says]]) node.setAttribute(name, value);
    node.addEventListener("keydown", event => { if (event.key === "Enter") location.href = item.href; });
  }
}

// the tools under a chart
function tools(one) {
  const button = (words, label, act) => {
    const made = CB.make("button", { type: "button" }, words);
    made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  };
  const box = CB.make("details", { className: "tools" }, CB.make("summary", {}, one.kind === "only" ? "chart tools" : "hide, zoom, download"));
  const group = (title, ...inside) => box.append(CB.make("fieldset", {}, CB.make("legend", {}, title), ...inside));
  if (one.meta.series.length > 1)
    group("show", ...one.meta.series.map(([name, swatch]) => {
      const input = CB.make("input", { type: "checkbox", checked: !one.hidden.includes(name), value: name });
      input.addEventListener("change", () => toggleSeries(one, name));
      return CB.make("label", {}, input, CB.make("span", { className: "swatch", style: swatch }), name);
    }));
  if (one.meta.zoom !== false) group("zoom", button("+", "zoom in", () => zoomBy(one, 0.7)), button("−", "zoom out", () => zoomBy(one, 1 / 0.7)), button("reset", "reset the zoom", () => setZoom(one, one.start)),
    CB.make("small", { className: "soft" }, "or drag over the chart, or Ctrl and wheel; double-click resets"));
  const saves = [button("SVG", "download as SVG", () => saveChart(one, "svg")), button("PNG", "download as PNG", () => saveChart(one, "png"))];
  if (one.meta.table) saves.push(button("CSV", "download the numbers as CSV", () => saveChart(one, "csv")));
  group("download", ...saves);
  return box;
}

// downloads
function plainSvg(one) {
  const look = getComputedStyle(document.documentElement), copy = one.svg.cloneNode(true);
  const wide = one.svg.viewBox.baseVal.width, high = one.svg.viewBox.baseVal.height, paper = look.getPropertyValue("--paper").trim();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", wide); copy.setAttribute("height", high);
  for (const node of copy.querySelectorAll("[class*=halo] text")) for (const [name, value] of [["paint-order", "stroke"], ["stroke", paper], ["stroke-width", "4"]]) node.setAttribute(name, value);
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of [["width", wide], ["height", high], ["fill", paper]]) ground.setAttribute(name, value);
  copy.prepend(ground);
  const text = new XMLSerializer().serializeToString(copy).replace(/var\((--[\w-]+)\)/g, (all, name) => look.getPropertyValue(name).trim() || "none");
  return { text, wide, high };
}
function csvText(one) {
  const { data, columns } = one.meta.table;
  const cell = value => {
    const text = value === undefined ? "" : typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? "'" + value : String(value);
    return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  return [columns.map(([, title]) => cell(title)), ...one.data[data].map(row => columns.map(([key]) => cell(row[key])))].map(line => line.join(",")).join("\r\n") + "\r\n";
}
async function saveChart(one, kind) {
  let blob;
  if (kind === "csv") blob = new Blob(["\ufeff" + csvText(one)], { type: "text/csv" });
  else {
    const { text, wide, high } = plainSvg(one);
    blob = new Blob([text], { type: "image/svg+xml" });
    if (kind === "png") {
      const picture = new Image();
      picture.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
      await picture.decode();
      const canvas = CB.make("canvas", { width: wide * 2, height: high * 2 });
      canvas.getContext("2d").drawImage(picture, 0, 0, wide * 2, high * 2);
      blob = await new Promise(done => canvas.toBlob(done, "image/png"));
    }
  }
  const link = CB.make("a", { href: URL.createObjectURL(blob), download: one.chart.label.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 48).replace(/^-|-$/g, "") + "." + kind });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
CB.charts(document);
