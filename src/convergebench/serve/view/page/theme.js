// Runs before the page is drawn. The key is that of the reports, so the choice holds for both.
const THEME = "convergebench-theme";
try {
  const chosen = localStorage.getItem(THEME);
  if (chosen) document.documentElement.dataset.theme = chosen;
} catch (error) { /* storage is off: the system's choice holds */ }
addEventListener("DOMContentLoaded", () => {
  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem(THEME, root.dataset.theme); } catch (error) { /* the choice lasts for this page */ }
  });
});
