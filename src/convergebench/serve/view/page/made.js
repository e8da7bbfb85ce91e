// How a run was made; every page of a run ends with it.
import { make } from "./make.js";

function rows(value, name = "") {
  if (value === null || value === undefined || value === "") return [];
  if (Array.isArray(value)) return [[name, value.map(String).join(", ")]];
  if (typeof value === "object") return Object.entries(value).flatMap(([key, one]) => rows(one, name ? `${name}: ${key}` : key));
  return [[name, String(value)]];
}
export function made(facts) {
  const { hashes, versions, ...short } = facts.made ?? {};
  const listed = value => make("dl", { class: "made" }, rows(value).flatMap(([name, words]) => [make("dt", {}, name), make("dd", {}, words)]));
  return make("section", { class: "how" }, make("h2", {}, "How it was made"),
    listed(short), make("details", {}, make("summary", {}, "Versions and hashes"), listed({ ...versions, ...hashes })));
}
