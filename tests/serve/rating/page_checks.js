// What a reader or a screen reader would stumble over; `return unnamed()` or `return faint()` follows.
function unnamed() {
  const nodes = [...document.querySelectorAll("button, img:not([aria-hidden]), fieldset, [role]")];
  return nodes.filter(node => {
    if (node.closest("[hidden]") || ["alert", "status"].includes(node.getAttribute("role"))) return false;
    const words = node.querySelector("legend") || node;
    return !(node.getAttribute("aria-label") || node.getAttribute("alt") || words.textContent).trim();
  }).map(node => node.outerHTML);
}
function luminance(colour) {
  const [r, g, b] = colour.match(/[\d.]+/g).slice(0, 3).map(value => value / 255)
    .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function behind(node) {
  for (let one = node; one; one = one.parentElement) {
    const colour = getComputedStyle(one).backgroundColor;
    if (!/, 0\)$/.test(colour)) return colour;
  }
  return "rgb(255, 255, 255)";
}
function faint() { // text whose contrast is below AA
  const nodes = [...document.querySelectorAll("p, li, dt, dd, b, button, legend, h1, span, figcaption, output")];
  return nodes.filter(node => {
    const words = [...node.childNodes].some(one => one.nodeType === 3 && one.textContent.trim());
    if (!node.offsetParent || node.disabled || !words) return false;
    const [light, dark] = [luminance(getComputedStyle(node).color), luminance(behind(node))].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05) < 4.5;
  }).map(node => node.outerHTML.slice(0, 120));
}
function shownPanes() {
  return [...document.querySelectorAll(".pane")].filter(pane => pane.offsetParent).map(pane => pane.dataset.role);
}
function pictureSizes() { // in elements of the screen, and where they lie in their frames
  return [...document.querySelectorAll(".main")].map(image => [
    image.offsetWidth * devicePixelRatio, image.offsetHeight * devicePixelRatio, image.offsetLeft, image.offsetTop,
  ]);
}
function tooSmall() { // for a finger
  const nodes = [...document.querySelectorAll(".levels button, .faults button, .turn button")];
  return nodes.filter(node => node.offsetParent && node.offsetHeight < 44).map(node => node.outerHTML);
}
