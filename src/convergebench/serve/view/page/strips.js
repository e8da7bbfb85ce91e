// Evidence first: the chain that changed least and the one that changed most, as strips of images.
import { api, ask, chainPath, thumbPath } from "./asking.js";
import { swatch } from "./colours.js";
import { make } from "./make.js";
import { arrow, number } from "./words.js";

const FRAMES = 6;

const objects = ({ columns, rows }) => rows.map(row => Object.fromEntries(columns.map((column, place) => [column.name, row[place]])));

// The first, the last, and some between: dense where the change is.
function chosen(rows) {
  if (rows.length <= FRAMES) return rows;
  const last = rows.length - 1;
  const places = Array.from({ length: FRAMES }, (_, place) => Math.round(last * (place / (FRAMES - 1)) ** 1.6));
  return [...new Set(places)].map(place => rows[place]);
}
async function strip(run, chain, words, metric) {
  const found = objects(await ask(`${api(run, "images")}?where=chain:is:${encodeURIComponent(chain.chain)}&sort=step&limit=200`));
  if (found[0]?.step !== 0 && chain.first) found.unshift({ step: 0, image: chain.first });
  const measured = found.filter(frame => frame.step === 0 || typeof frame[metric.name] === "number"); // the ends of rounds, where there are rounds
  const frames = chosen(measured.length > 2 ? measured : found);
  return make("div", { class: "strip" },
    make("header", {}, make("b", {}, make("span", { class: "swatch", style: swatch(chain.editor) }), chain.editor), make("span", { class: "soft" }, `${words}: ${chain.case}`)),
    make("ol", { class: "frames", style: { "--n": String(FRAMES) } }, frames.map(frame => make("li", {}, make("a", { href: chainPath(run, chain.chain, `step=${frame.step}`) },
      make("img", { src: thumbPath(run, frame.image, 192), alt: `step ${frame.step}`, loading: "lazy" }),
      make("span", { class: "n" }, make("b", {}, frame.step === 0 ? "source" : `step ${frame.step}`), make("span", {}, typeof frame[metric?.name] === "number" ? number(frame[metric.name]) : "")))))));
}
export async function strips(root, run, facts) {
  const metric = facts.metrics.find(one => one.name === facts.main) ?? facts.metrics[0];
  if (!metric?.better) return;
  const [least, most] = metric.better === "up" ? ["-last", "last"] : ["last", "-last"];
  const ends = await Promise.all([least, most].map(sort => ask(`${api(run, "chains")}?sort=${sort}&where=status:is:finished&limit=1`)));
  const [kept, lost] = ends.map(found => objects(found)[0]);
  if (!kept || !lost || !("last" in kept) || kept.chain === lost.chain) return;
  const made = [await strip(run, kept, "changed least", metric), await strip(run, lost, "changed most", metric)];
  root.replaceChildren(make("section", { class: "evidence" }, make("h2", {}, "Images"), make("p", { class: "note" }, `The chains with the best and the worst last value of ${metric.name} ${arrow(metric.better)}.`), made));
}
