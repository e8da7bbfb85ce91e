// Beside the images: prompt, what the model and the judges said, failures, and every metric at this step.
import { colour } from "./colours.js";
import { make } from "./make.js";
import { lastStep, stepAt } from "./comparing.js";
import { spark } from "./spark.js";
import { arrow, dollars, duration, measured } from "./words.js";

const COUNTED = ["px", "colours"]; // units whose whole values need no decimals
const LATE = /-lag([2-9]|\d\d)$/;

const words = value => (typeof value === "string" ? value : JSON.stringify(value));

function valueAt(metric, step) {
  if (step && metric.name in (step.values ?? {}) && step.values[metric.name] !== null) return { value: step.values[metric.name] };
  if (step?.missing && metric.name in step.missing) return { why: `missing: ${step.missing[metric.name]}` };
  if (step?.index === 0 && metric.self !== null && metric.self !== undefined) return { value: metric.self };
  return { why: step?.index === 0 ? "not for the source" : "not measured here" };
}
function points(chain, metric) {
  return chain.steps.filter(step => metric.name in (step.values ?? {}) || (step.index === 0 && metric.self !== null && metric.self !== undefined))
    .map(step => [step.index, step.values?.[metric.name] ?? (step.index === 0 ? metric.self : null)]);
}
function rows(chain, metrics, index, go) {
  const step = stepAt(chain, index), last = lastStep(chain);
  return metrics.map(metric => {
    const { value, why } = valueAt(metric, step), digits = COUNTED.includes(metric.unit) && Number.isInteger(value) ? 0 : 3;
    return make("tr", { title: metric.summary, "data-metric": metric.name },
      make("th", { scope: "row" }, `${metric.name} ${arrow(metric.better)}`),
      make("td", { class: why ? "why" : null }, why ?? measured(value, metric.unit, digits)),
      make("td", {}, spark(points(chain, metric), { colour: colour(chain.editor), at: index, last, pick: go, label: `${metric.name} by step`, levels: metric.levels ?? [] })));
  });
}
const opened = new Set(["thoughts"]); // folded parts that are open stay open from step to step
function fold(name, title, ...content) {
  const node = make("details", { class: "thoughts", open: opened.has(name) }, make("summary", {}, title), ...content);
  node.addEventListener("toggle", () => (node.open ? opened.add(name) : opened.delete(name)));
  return node;
}
function said(replies) {
  return replies.map(reply => make("section", { class: "reply" },
    make("h4", {}, reply.role || "judge"), reply.question && make("p", { class: "soft" }, words(reply.question)),
    make("p", {}, words(reply.answer ?? "no answer")), reply.reasoning && make("p", { class: "soft" }, words(reply.reasoning))));
}
// `table` of the metrics has one caption per chain when several are shown.
export function facts(root, chains, state, { go, rounds }) {
  const [chain] = chains, step = stepAt(chain, state.step), last = lastStep(chain);
  const parts = [make("h2", {}, state.step === 0 ? "Source" : `Step ${state.step} of ${last}`)];
  if (!step) { root.replaceChildren(...parts, make("p", { class: "why" }, "This chain has no such step.")); return; }
  if (step.instruction) parts.push(make("blockquote", {}, step.instruction));
  const known = { ...(rounds && step.index ? { round: step.round, leg: step.leg } : {}), size: step.width ? `${step.width} × ${step.height}` : "–",
    ...(step.index ? { time: duration(step.seconds), price: dollars(step.dollars), attempts: step.attempts ?? "–" } : {}),
    ...(step.model ? { model: step.model } : {}), status: step.status + (step.detail ? `: ${step.detail}` : "") };
  parts.push(make("dl", { class: "made" }, Object.entries(known).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, String(value))])));
  if (step.failures?.length) parts.push(make("h3", {}, "Failures"), make("ul", { class: "failures" }, step.failures.map(one => make("li", {}, make("span", { class: `level f-${String(one.level ?? "").replace(/[^a-z-]/gi, "")}` }, one.name), one.detail ? ` ${one.detail}` : ""))));
  if (step.thoughts?.length) parts.push(fold("thoughts", "The model's reasoning summary", ...step.thoughts.map(([title, text]) => make("section", {}, title && make("h4", {}, title), make("p", {}, text)))));
  if (step.replies?.length) parts.push(fold("replies", `Replies of judges (${step.replies.length})`, ...said(step.replies)));
  if (step.used && words(step.used) !== "{}") parts.push(fold("settings", "Settings", make("p", { class: "settings" }, words(step.used))));
  parts.push(make("h3", {}, "Measured at this step"));
  for (const one of chains) {
    const close = one.metrics.filter(metric => !LATE.test(metric.name)), late = one.metrics.filter(metric => LATE.test(metric.name));
    if (!one.metrics.length) parts.push(make("p", { class: "why" }, "Nothing was measured yet."));
    else parts.push(make("table", { class: "measured" }, make("caption", { class: chains.length > 1 ? "of" : "unseen" }, one.editor), make("tbody", {}, rows(one, close, state.step, go))));
    if (late.length) parts.push(fold(`late ${one.editor}`, "Distances to earlier steps", make("table", { class: "measured" }, make("caption", { class: "unseen" }, "Distances to earlier steps"), make("tbody", {}, rows(one, late, state.step, go)))));
  }
  root.replaceChildren(...parts);
}
