for (const bar of document.querySelectorAll("[data-switch]"))
  bar.addEventListener("click", event => {
    const chosen = event.target.closest("button");
    if (!chosen) return;
    for (const button of bar.querySelectorAll("button")) {
      button.setAttribute("aria-selected", button === chosen);
      const panel = document.getElementById(button.dataset.panel);
      panel.hidden = button !== chosen;
      if (button === chosen && "later" in panel.dataset) CB.script("panels/" + panel.id + ".js");
    }
  });
