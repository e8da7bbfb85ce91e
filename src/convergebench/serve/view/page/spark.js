// A small line of numbers; gaps stay gaps.
import { draw } from "./make.js";

const WIDE = 100, HIGH = 26;

// `points`: [[x, value]]; `at`: the x to mark; `pick(x)` is called when the line is clicked; `levels`: [[name, value]].
export function spark(points, { colour, at = null, last = null, pick = null, label = "", levels = [] }) {
  const known = points.filter(([, value]) => typeof value === "number" && Number.isFinite(value)), values = known.map(([, value]) => value);
  const most = last ?? Math.max(1, ...points.map(([x]) => x)), low = Math.min(...values), top = Math.max(...values), high = top - low > 1e-4 * Math.abs(top) ? top : low + 1;
  const X = x => (x / (most || 1)) * WIDE, Y = value => 22 - ((value - low) / (high - low)) * 18;
  const svg = draw("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", class: "spark", role: "img", "aria-label": label });
  if (!known.length) return svg;
  const line = (attributes) => svg.append(draw("polyline", { fill: "none", "vector-effect": "non-scaling-stroke", ...attributes }));
  for (const [, value] of levels) if (value >= low && value <= high) svg.append(draw("line", { x1: 0, x2: WIDE, y1: Y(value), y2: Y(value), stroke: "var(--faint)", "stroke-dasharray": "2 3", "vector-effect": "non-scaling-stroke" }));
  if (at !== null) svg.append(draw("line", { class: "now-line", x1: X(at), x2: X(at), y1: 0, y2: HIGH, stroke: "var(--accent)", "vector-effect": "non-scaling-stroke" }));
  let part = [];
  const flush = () => { if (part.length) line({ points: (part.length > 1 ? part : [part[0], part[0]]).join(" "), stroke: colour, "stroke-width": 1.6, "stroke-linecap": "round" }); part = []; };
  for (const [x, value] of points) if (typeof value === "number" && Number.isFinite(value)) part.push(`${X(x).toFixed(2)},${Y(value).toFixed(2)}`); else if (value === null) flush();
  flush();
  if (pick) svg.addEventListener("click", event => { const box = svg.getBoundingClientRect(); pick(Math.round(((event.clientX - box.left) / box.width) * most)); });
  return svg;
}
