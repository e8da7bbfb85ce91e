// Numbers and times as people read them. A value that is missing is a dash, never 0.
export function number(value, digits = 3) {
  if (value === null || value === undefined || value === "") return "–";
  if (value === "Infinity" || value === Infinity) return "∞";
  if (value === "-Infinity" || value === -Infinity) return "−∞";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return grouped(value);
  const small = value !== 0 && Math.abs(value) < 10 ** -digits;
  return (small ? value.toPrecision(2) : value.toFixed(digits)).replace("-", "−");
}
export const grouped = value => String(value).replace(/\B(?=(\d{3})+$)/g, " ").replace("-", "−");
export const counted = (value, one, several = one + "s") => `${grouped(value)} ${value === 1 ? one : several}`;

export function dollars(value) {
  if (value === null || value === undefined) return "price unknown";
  return value && value < 0.1 ? `$${value.toFixed(4)}` : `$${value.toFixed(2)}`;
}
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 10) return `${seconds.toFixed(seconds < 1 ? 2 : 1)} s`;
  if (seconds < 100) return `${Math.round(seconds)} s`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
  return seconds < 172800 ? `${(seconds / 3600).toFixed(1)} h` : `${Math.round(seconds / 86400)} days`;
}
// `when`: seconds since 1970, or a date as text.
export function moment(when) {
  if (!when) return null;
  const date = new Date(typeof when === "number" ? when * 1000 : when);
  return Number.isNaN(date.getTime()) ? null : date;
}
export function ago(when, now = Date.now()) {
  const date = moment(when);
  if (!date) return "–";
  const seconds = Math.max(0, (now - date.getTime()) / 1000);
  if (seconds < 90) return "just now";
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h ago`;
  return seconds < 2592000 ? `${Math.round(seconds / 86400)} days ago` : date.toISOString().slice(0, 10);
}
export const arrow = better => (better === "up" ? "↑" : better === "down" ? "↓" : "");
export function measured(value, unit, digits = 3) {
  return number(value, digits) + (unit && typeof value === "number" ? " " + unit : "");
}
