// Elements. Text goes in as text only: prompts, replies and file names come from elsewhere.
const SVG = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "style") for (const [property, set] of Object.entries(value)) node.style.setProperty(property, set);
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.setAttribute("class", value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(2).filter(child => child !== null && child !== undefined && child !== false));
  return node;
}

export const make = (name, attributes = {}, ...children) => filled(document.createElement(name), attributes, children);
export const draw = (name, attributes = {}, ...children) => filled(document.createElementNS(SVG, name), attributes, children);

export function button(words, act, more = {}) {
  return make("button", { type: "button", onclick: act, ...more }, words);
}

// Sets what differs, so that a screen reader is not told again what it has read.
export function say(node, words) {
  if (node.textContent !== words) node.textContent = words;
}

// For screen readers: a change that is seen elsewhere on the page.
export const announce = words => say(document.getElementById("said"), words);

export function options(select, values, chosen) {
  select.replaceChildren(...values.map(one => {
    const [value, words] = Array.isArray(one) ? one : [one, one];
    return make("option", { value }, words);
  }));
  select.value = chosen;
}

export const reduced = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
