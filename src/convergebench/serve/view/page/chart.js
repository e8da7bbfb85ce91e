// A chart of curves: hover, legend, zoom, and files to take away.
import { colour, resolved, swatch } from "./colours.js";
import { curveSpec, rowsOf } from "./curve_spec.js";
import { button, make } from "./make.js";
import { number } from "./words.js";

let loading = null;
const vega = () => (loading ??= import("/static/vega.js"));

function saved(content, name, type) {
  const url = content instanceof Blob ? URL.createObjectURL(content) : URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
// A cell that a spreadsheet would run as a formula is text.
const cell = value => {
  const text = value === null || value === undefined ? "" : String(value);
  const safe = typeof value !== "number" && /^[=+\-@\t\r]/.test(text) ? "'" + text : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
const HEADS = ["editor", "x", "value", "low", "high", "n"];
export const sheet = curves => [HEADS, ...rowsOf(curves).map(row => HEADS.map(name => row[name]))].map(row => row.map(cell).join(",")).join("\n") + "\n";

async function png(svg, width, height) {
  const picture = new Image(), url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  picture.src = url;
  await picture.decode();
  const canvas = make("canvas", { width: width * 2, height: height * 2 }), pen = canvas.getContext("2d");
  pen.fillStyle = resolved("var(--paper)");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  return new Promise(done => canvas.toBlob(done, "image/png"));
}

// `hide(set)` is called when the legend was used: the address says what is hidden.
export function chart(name, { hide }) {
  const drawing = make("div", { class: "vega" }), tip = make("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  const legend = make("div", { class: "legend", role: "group", "aria-label": "editors; press to hide or show" });
  const files = make("p", { class: "note files" }), caption = make("figcaption"), table = make("details", { class: "numbers" });
  const node = make("figure", {}, legend, make("div", { class: "drawing" }, drawing, tip), caption, files, table);
  let shown = null, given = null, turn = 0, width = 0;

  function pointed(handler, event, item, value) {
    if (!value || typeof value !== "object") { tip.hidden = true; return; }
    const row = item.datum?.datum ?? item.datum;
    tip.replaceChildren(make("b", {}, make("span", { class: "swatch", style: swatch(row.editor) }), row.editor),
      make("span", {}, `${given.of} ${row.x}: ${number(row.value)}${given.unit ? " " + given.unit : ""}`),
      row.low === null ? "" : make("span", {}, `95%: ${number(row.low)} to ${number(row.high)}`), row.n === null ? "" : make("span", {}, `n = ${row.n}`));
    tip.hidden = false;
    const box = drawing.getBoundingClientRect(), at = event.clientX - box.left;
    tip.style.left = `${Math.max(0, Math.min(at + 14, box.width - tip.offsetWidth))}px`;
    tip.style.top = `${event.clientY - box.top + 14}px`;
  }
  async function redraw() {
    const mine = ++turn, { curves, unit, of, hidden } = given;
    await vega();
    width = node.clientWidth || 600;
    if (mine !== turn) return;
    const spec = curveSpec(curves, { unit, of, hidden, width, height: width < 500 ? 260 : 340 });
    const made = await window.vegaEmbed(drawing, spec, { ast: true, renderer: "svg", actions: false, defaultStyle: false, tooltip: pointed });
    if (mine !== turn) return made.finalize();
    shown?.finalize();
    shown = made;
    const svg = drawing.querySelector("svg");
    svg?.setAttribute("role", "img");
    svg?.setAttribute("aria-label", spec.description);
    node.dataset.drawn = curves.metric;
  }
  const files_of = () => `${name}-${given.curves.metric}`;
  const svg = async () => resolved(await shown.view.toSVG());
  files.append("Download ", button("SVG", async () => saved(await svg(), files_of() + ".svg", "image/svg+xml")), " ",
    button("PNG", async () => saved(await png(await svg(), shown.view._width + 160, shown.view._height + 60), files_of() + ".png")), " ",
    button("data", () => saved(sheet(given.curves), files_of() + ".csv", "text/csv")), " ",
    button("reset zoom", redraw), make("span", { class: "soft" }, " Drag moves, shift and wheel zoom."));

  function show(curves, { unit, of, hidden }) {
    given = { curves, unit, of, hidden };
    const editors = curves.series.filter(series => series.points.length).map(series => series.editor);
    legend.replaceChildren(...editors.map(editor => button([make("span", { class: "swatch", style: swatch(editor) }), editor], () => {
      const next = new Set(hidden);
      next.has(editor) ? next.delete(editor) : next.add(editor);
      hide(next.size < editors.length ? next : new Set());
    }, { "aria-pressed": String(!hidden.has(editor)) })));
    caption.textContent = curves.note ?? "";
    caption.hidden = !curves.note;
    table.replaceChildren(make("summary", {}, "The numbers"), make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Numbers of the chart" }, numbers(curves, of)));
    return redraw();
  }
  const resize = new ResizeObserver(() => { if (given && Math.abs(node.clientWidth - width) > 8) redraw(); });
  resize.observe(node);
  return { node, show, close() { turn++; resize.disconnect(); shown?.finalize(); } };
}

function numbers(curves, of) {
  const columns = [...new Set(rowsOf(curves).map(row => row.x))].sort((a, b) => a - b);
  return make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "editor"), columns.map(x => make("th", { scope: "col", class: "num" }, `${of} ${x}`)))),
    make("tbody", {}, curves.series.map(series => make("tr", {}, make("th", { scope: "row" }, make("span", { class: "swatch", style: { background: colour(series.editor) } }), series.editor),
      columns.map(x => make("td", { class: "num" }, number(series.points.find(point => point.x === x)?.value)))))));
}
