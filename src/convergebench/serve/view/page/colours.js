// The same editor has the same colour in every chart and badge; the colours follow the theme.
const known = new Map();

export function colours(editors) {
  known.clear();
  const dark = [], light = [];
  editors.forEach((editor, place) => {
    const given = editor.colour ?? {};
    const own = `--editor-${place}`;
    if (given.slot === undefined || given.slot === null) { light.push([own, given.light]); dark.push([own, given.dark]); }
    known.set(editor.name, { variable: given.slot === undefined || given.slot === null ? `var(${own})` : `var(--e${given.slot + 1})`, dash: given.dash ?? "", simulated: editor.simulated });
  });
  if (!light.length) return;
  const rules = list => list.filter(([, value]) => /^#[0-9a-f]{3,8}$/i.test(value ?? "")).map(([name, value]) => `${name}:${value};`).join("");
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`:root{${rules(light)}}@media (prefers-color-scheme:dark){:root:not([data-theme=light]){${rules(dark)}}}:root[data-theme=dark]{${rules(dark)}}`);
  document.adoptedStyleSheets = [sheet];
}
export const colour = editor => known.get(editor)?.variable ?? "var(--soft)";
export const dash = editor => known.get(editor)?.dash ?? "";
// A dot before an editor's name: full in the first pass through the colours, a ring after that.
export const swatch = editor => (dash(editor) ? { "box-shadow": `inset 0 0 0 3px ${colour(editor)}` } : { background: colour(editor) });

// A CSS colour with its variables filled in, for files that leave this page.
export function resolved(text) {
  const style = getComputedStyle(document.documentElement);
  let found = text;
  for (let turn = 0; turn < 3; turn++) found = found.replace(/var\((--[\w-]+)\)/g, (all, name) => style.getPropertyValue(name).trim() || all);
  return found;
}
