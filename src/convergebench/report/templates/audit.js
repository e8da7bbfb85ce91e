const heat = document.querySelector("[data-heat]");
if (heat) {
  const choices = Number(heat.dataset.heat), state = { view: 0, editor: 0 };
  const show = () => {
    const wanted = "heat-" + (state.view * choices + state.editor + 1);
    for (const panel of document.querySelectorAll(".heat-panel")) {
      panel.hidden = panel.id !== wanted;
      if (panel.id === wanted && "later" in panel.dataset) CB.script("panels/" + panel.id + ".js");
    }
    for (const button of heat.querySelectorAll("[data-view]"))
      button.setAttribute("aria-selected", Number(button.dataset.view) === state.view);
  };
  heat.addEventListener("click", event => {
    const chosen = event.target.closest("[data-view]");
    if (chosen) { state.view = Number(chosen.dataset.view); show(); }
  });
  document.getElementById("heat-editor")?.addEventListener("change", event => { state.editor = Number(event.target.value); show(); });
}
