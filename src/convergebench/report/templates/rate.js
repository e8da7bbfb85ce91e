(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const find = id => document.getElementById(id);
  const rows = [...document.querySelectorAll(".criterion")];
  const formula = /^'*[=+\-@\t\r\n＝＋－＠]/;
  const key = ["convergebench-rate", data.run, data.sample, data.rater].join("|");
  let state = { rater: data.rater, answers: {} }; // place → {made, criterion: value or null}
  let place = 0, current = 0, kept = true;

  try {
    const before = JSON.parse(localStorage.getItem(key));
    if (before && typeof before.answers === "object") state = before;
  } catch (error) { kept = false; }
  const keep = () => {
    try { localStorage.setItem(key, JSON.stringify(state)); } catch (error) { kept = false; }
    if (!kept) tell("This browser keeps no answers: download them before you close the page.");
  };
  const tell = words => { find("trouble").textContent = words; find("trouble").hidden = !words; };

  const answered = at => data.criteria.every(name => state.answers[at] && name in state.answers[at]);
  const firstUnrated = () => data.edits.findIndex((edit, at) => !answered(at));

  function mark() {
    const own = state.answers[place] || {};
    rows.forEach((row, at) => {
      row.classList.toggle("current", at === current);
      for (const button of row.querySelectorAll("button")) {
        const value = button.dataset.value === "" ? null : Number(button.dataset.value);
        button.setAttribute("aria-pressed", String(row.dataset.name in own && own[row.dataset.name] === value));
      }
    });
    const done = data.edits.filter((edit, at) => answered(at)).length;
    find("place").textContent = `Edit ${place + 1} of ${data.edits.length}`;
    find("count").textContent = done === data.edits.length ? "all scored: download the file" : `${done} scored`;
    find("done").style.width = `${100 * done / data.edits.length}%`;
    find("download").classList.toggle("ready", done === data.edits.length);
    find("previous").disabled = place === 0;
    find("next").disabled = place === data.edits.length - 1;
    find("unrated").disabled = done === data.edits.length;
    document.body.dataset.ready = `${place}:${done}`;
  }

  function show(at) {
    place = Math.max(0, Math.min(data.edits.length - 1, at));
    const edit = data.edits[place], own = state.answers[place] || {};
    current = Math.max(0, data.criteria.findIndex(name => !(name in own)));
    blink(false);
    find("instruction").textContent = edit.instruction;
    for (const [id, picture] of [["before", edit.before], ["after", edit.after], ["under", edit.before]])
      find(id).src = data.pictures[picture];
    mark();
  }
  for (const id of ["before", "after"]) find(id).addEventListener("load", event => {
    const picture = event.target;
    picture.parentNode.style.setProperty("--aspect", picture.naturalWidth / picture.naturalHeight);
  });

  function rate(row, value) {
    // all answers to one showing carry the time of the first: so the two showings of an edit are told apart
    const own = state.answers[place] = state.answers[place] || { made: new Date().toISOString() };
    own[rows[row].dataset.name] = value;
    const open = data.criteria.findIndex(name => !(name in own));
    current = row + 1 < rows.length ? row + 1 : open < 0 ? row : open;
    keep();
    mark();
  }
  rows.forEach((row, at) => row.addEventListener("click", event => {
    const button = event.target.closest("button");
    if (button) rate(at, button.dataset.value === "" ? null : Number(button.dataset.value));
  }));

  function blink(on) {
    document.body.classList.toggle("blinking", on);
    find("which").textContent = on ? "input" : "edited";
  }
  find("edited").addEventListener("pointerdown", () => blink(true));
  for (const name of ["pointerup", "pointercancel", "blur"]) window.addEventListener(name, () => blink(false));
  find("edited").addEventListener("contextmenu", event => event.preventDefault()); // a long press would open a menu

  const keys = {
    ArrowLeft: () => show(place - 1), ArrowRight: () => show(place + 1),
    ArrowUp: () => { current = Math.max(0, current - 1); mark(); },
    ArrowDown: () => { current = Math.min(rows.length - 1, current + 1); mark(); },
    b: () => blink(true), B: () => blink(true), 0: () => rate(current, null),
  };
  data.levels.forEach((level, at) => { keys[at + 1] = () => rate(current, level); });
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "INPUT" || !keys[event.key]) return;
    event.preventDefault();
    if (!event.repeat || event.key.startsWith("Arrow")) keys[event.key]();
  });
  document.addEventListener("keyup", event => { if (event.key.toLowerCase() === "b") blink(false); });
  find("previous").addEventListener("click", () => show(place - 1));
  find("next").addEventListener("click", () => show(place + 1));
  find("unrated").addEventListener("click", () => show(firstUnrated()));

  const line = cells => cells.map(cell => {
    const text = typeof cell === "string" && formula.test(cell) ? "'" + cell : String(cell ?? "");
    return /[,"\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }).join(",") + "\n";
  CB.ratingsFile = () => {
    const head = ["run", "editor", "case", "position", "image", "question", "value", "rater", "made"];
    const given = data.edits.flatMap((edit, at) => data.criteria
      .filter(name => state.answers[at] && name in state.answers[at])
      .map(name => line([data.run, edit.editor, edit.case, edit.position, edit.image, name, state.answers[at][name],
        state.rater.trim(), state.answers[at].made])));
    return line(head) + given.join("");
  };
  find("download").addEventListener("click", () => {
    const name = state.rater.trim();
    const wrong = !name ? "Write your name first." : name.toLowerCase() === "people" ? "“people” stands for everybody: write your own name."
      : formula.test(name) ? "A spreadsheet would take this name for a formula: begin it with a letter."
      : !Object.keys(state.answers).length ? "Nothing is scored yet." : "";
    tell(wrong);
    if (wrong) { if (!name || !wrong.startsWith("Nothing")) find("rater").focus(); return; }
    const address = URL.createObjectURL(new Blob([CB.ratingsFile()], { type: "text/csv;charset=utf-8" }));
    const link = CB.make("a", { href: address, download: "ratings.csv" });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  });
  find("anew").addEventListener("click", () => {
    if (!confirm("Forget every answer on this page?")) return;
    state = { rater: data.rater, answers: {} };
    find("rater").value = state.rater;
    keep();
    show(0);
  });
  find("rater").value = state.rater;
  find("rater").addEventListener("input", event => { state.rater = event.target.value; tell(""); keep(); });
  if (Object.keys(state.answers).length) find("help").open = false;
  if (!kept) keep();
  show(Math.max(0, firstUnrated()));
})();
