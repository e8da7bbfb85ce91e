// A Vega-Lite chart of one metric: a line and a band per editor, levels, names at the ends of up to six lines.
import { colour, dash } from "./colours.js";
import { arrow } from "./words.js";

const NAMED = 6, LINE = 15;
const BAND = "isValid(datum.low) && isValid(datum.high)";
const bands = rows => rows.some(row => row.low !== null && row.high !== null);

export function rowsOf(curves) {
  return curves.series.flatMap(series => series.points
    .filter(point => typeof point.value === "number")
    .map(point => ({ editor: series.editor, x: point.x, value: point.value, low: point.low ?? null, high: point.high ?? null, n: point.n ?? null })));
}
export function axisTitle(curves, unit) {
  const better = curves.better === "up" ? "higher is better" : curves.better === "down" ? "lower is better" : "";
  return `${arrow(curves.better)} ${curves.metric}${unit ? `, ${unit}` : ""}${better ? ` (${better})` : ""}`.trim();
}
function domain(rows, levels) {
  const values = [...rows.flatMap(row => [row.value, row.low ?? row.value, row.high ?? row.value]), ...levels.map(([, value]) => value)].filter(Number.isFinite);
  const low = Math.min(...values), high = Math.max(...values), room = (high - low || Math.abs(high) || 1) * 0.05;
  return [low >= 0 && low - room < 0 ? 0 : low - room, high + room];
}
// The ends of the lines, moved apart so that no name covers another.
function ends(rows, [low, high], height) {
  const last = new Map();
  for (const row of rows) if (!last.has(row.editor) || last.get(row.editor).x < row.x) last.set(row.editor, row);
  const placed = [...last.values()].map(row => ({ ...row, at: ((high - row.value) / (high - low)) * height })).sort((a, b) => a.at - b.at);
  for (let turn = 0; turn < 40; turn++)
    for (let place = 1; place < placed.length; place++) {
      const short = LINE - (placed[place].at - placed[place - 1].at);
      if (short > 0.01) { placed[place].at += short / 2; placed[place - 1].at -= short / 2; }
    }
  return placed.map(row => ({ editor: row.editor, x: row.x, y: high - (row.at / height) * (high - low) }));
}

export function curveSpec(curves, { unit, of, hidden, width, height }) {
  const rows = rowsOf(curves).filter(row => !hidden.has(row.editor));
  const editors = [...new Set(rows.map(row => row.editor))], named = editors.length <= NAMED && width > 480;
  if (rows.length && new Set(rows.map(row => row.x)).size === 1) return dotSpec(curves, rows, { unit, width });
  const levels = curves.levels ?? [], range = rows.length ? domain(rows, levels) : [0, 1], most = Math.max(1, ...rows.map(row => row.x));
  const scale = { domain: editors, range: editors.map(colour) };
  const dashes = { domain: editors, range: editors.map(editor => (dash(editor) ? dash(editor).split(" ").map(Number) : [1, 0])) };
  const x = { field: "x", type: "quantitative", title: `${of} (0 = source)`, scale: { domain: [0, most], nice: false }, axis: { tickMinStep: 1, format: "d", grid: false } };
  const y = { type: "quantitative", title: axisTitle(curves, unit), scale: { domain: range, nice: false, zero: false } };
  const tint = { field: "editor", type: "nominal", scale, legend: null };
  const clip = true;
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v5.json",
    description: `${curves.metric} by ${of}, one line per editor: ${editors.join(", ")}`,
    width: width - (named ? 130 : 12), height, autosize: { type: "fit-x", contains: "padding" }, padding: { left: 4, right: named ? 4 : 12, top: 8, bottom: 4 },
    background: "transparent", data: { values: rows }, config: config(),
    layer: [
      ...(bands(rows) ? [{ mark: { type: "area", opacity: 0.14, clip }, transform: [{ filter: BAND }], encoding: { x, y: { ...y, field: "low" }, y2: { field: "high" }, color: tint } }] : []),
      ...levels.map(([name, value]) => ({ data: { values: [{ value, name }] }, layer: [
        { mark: { type: "rule", strokeDash: [2, 4], color: "var(--faint)", clip }, encoding: { y: { field: "value", type: "quantitative" } } },
        { mark: { type: "text", align: "right", baseline: "bottom", dy: -2, color: "var(--soft)", fontSize: 11, clip }, encoding: { x: { value: "width" }, y: { field: "value", type: "quantitative" }, text: { field: "name" } } },
      ] })),
      { params: [{ name: "part", select: { type: "interval", zoom: "wheel![event.shiftKey || event.ctrlKey]", translate: true }, bind: "scales" }],
        mark: { type: "line", strokeWidth: 2.2, strokeCap: "round", strokeJoin: "round", clip }, encoding: { x, y: { ...y, field: "value" }, color: tint, strokeDash: { field: "editor", type: "nominal", scale: dashes, legend: null } } },
      { params: [{ name: "near", select: { type: "point", on: "pointermove", nearest: true, clear: "pointerout" } }],
        mark: { type: "circle", size: 70, opacity: 1, clip, tooltip: { content: "data" } },
        encoding: { x, y: { ...y, field: "value" }, color: tint, opacity: { condition: { param: "near", empty: false, value: 1 }, value: 0 } } },
      ...(named ? [{ data: { values: ends(rows, range, height) }, mark: { type: "text", align: "left", dx: 8, fontSize: 13, limit: 125, clip: false }, encoding: { x: { ...x, field: "x" }, y: { ...y, field: "y" }, text: { field: "editor" }, color: tint } }] : []),
    ],
    resolve: { scale: { color: "shared" } },
  };
}

// One value per editor makes no curve: dots with their intervals, the best on top.
function dotSpec(curves, rows, { unit, width }) {
  const order = [...rows].sort((a, b) => (curves.better === "down" ? a.value - b.value : b.value - a.value)).map(row => row.editor);
  const scale = { domain: order, range: order.map(colour) }, tint = { field: "editor", type: "nominal", scale, legend: null };
  const y = { field: "editor", type: "nominal", sort: order, title: null, axis: { labelFontSize: 13, labelColor: "var(--ink)", labelLimit: 170, ticks: false, domain: false, grid: true } };
  const x = { type: "quantitative", title: axisTitle(curves, unit), scale: { domain: domain(rows, curves.levels ?? []), nice: false, zero: false } };
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v5.json", description: `${curves.metric}, one dot per editor: ${order.join(", ")}`,
    width: width - 12, height: { step: 26 }, autosize: { type: "fit-x", contains: "padding" }, padding: { left: 4, right: 12, top: 8, bottom: 4 }, background: "transparent", data: { values: rows }, config: { ...config(), axisY: {} },
    layer: [
      ...(bands(rows) ? [{ mark: { type: "rule", strokeWidth: 2.5, opacity: 0.55 }, transform: [{ filter: BAND }], encoding: { y, x: { ...x, field: "low" }, x2: { field: "high" }, color: tint } }] : []),
      { mark: { type: "circle", size: 90, opacity: 1, tooltip: { content: "data" } }, encoding: { y, x: { ...x, field: "value" }, color: tint } },
    ],
  };
}

function config() {
  const font = "system-ui, sans-serif";
  return {
    font, view: { stroke: null },
    axis: { labelColor: "var(--soft)", titleColor: "var(--soft)", domainColor: "var(--faint)", tickColor: "var(--faint)", gridColor: "var(--grid)", labelFontSize: 12, titleFontSize: 13, titleFontWeight: "normal", labelFont: font, titleFont: font },
    axisY: { titleAngle: 0, titleAlign: "left", titleAnchor: "start", titleY: -8, titleX: 0, titleBaseline: "bottom", tickCount: 6, domain: false, ticks: false },
    text: { font },
  };
}
