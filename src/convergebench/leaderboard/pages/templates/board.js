{
  const chosen = document.getElementById("filter");
  const show = name => {
    for (const panel of document.querySelectorAll(".panel")) panel.hidden = panel.dataset.filter !== name;
  };
  if (chosen) {
    const names = [...chosen.options].map(option => option.value);
    const read = () => {
      const name = decodeURIComponent(location.hash.replace(/^#filter=/, ""));
      return location.hash.startsWith("#filter=") && names.includes(name) ? name : null;
    };
    chosen.addEventListener("change", () => {
      show(chosen.value);
      history.replaceState(null, "", "#filter=" + encodeURIComponent(chosen.value));
    });
    addEventListener("hashchange", () => { const name = read(); if (name) { chosen.value = name; show(name); } });
    chosen.value = read() || names[0];
    show(chosen.value);
  }
}
