// What the theme leaves out for people who use a keyboard or a screen reader.
addEventListener("load", () => {
  document.querySelector("[data-md-component=search]")?.setAttribute("aria-label", "Search")
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0
  }
})
