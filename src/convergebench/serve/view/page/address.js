// The address is the state: pages are drawn from it, and every action changes it first.
let changed = () => {};
export const onChange = act => { changed = act; };

export const query = () => new URLSearchParams(location.search);

// The query with some names set: null removes, a list gives one entry per item.
export function withQuery(values, from = query()) {
  const next = new URLSearchParams(from);
  for (const [name, value] of Object.entries(values)) {
    next.delete(name);
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== null && one !== undefined && one !== "") next.append(name, one);
  }
  return next;
}
const joined = next => location.pathname + (String(next) ? "?" + String(next).replaceAll("%3A", ":").replaceAll("%2C", ",") : "");

// `quiet`: the page shows the change already; only the address has to follow.
export function set(values, { push = false, quiet = false } = {}) {
  const address = joined(withQuery(values));
  if (address === location.pathname + location.search) return;
  history[push ? "pushState" : "replaceState"](null, "", address);
  if (!quiet) changed();
}
export function go(path) {
  history.pushState(null, "", path);
  changed();
}

// Many changes in a row (scrubbing, scrolling) become one: browsers limit how often the address may change.
export function later(act, wait = 150) {
  let timer = null;
  const call = () => { clearTimeout(timer); timer = setTimeout(() => { timer = null; act(); }, wait); };
  call.flush = () => { if (timer !== null) { clearTimeout(timer); timer = null; act(); } };
  call.cancel = () => { clearTimeout(timer); timer = null; };
  return call;
}
