"""Write the pages that are made from the code, so that they cannot say anything else than the code does.

python -m docs.generate                        the pages of docs/reference, the imports in docs/design/rooms.md,
                                               the table of docs/how-many-images.md
python -m docs.generate --costs                and the table of docs/costs.md; needs the photographs of `builtin`
python -m docs.generate --ranking runs/demo    and the ranking in README.md, from that run
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from pathlib import Path

from docs.pages import (
    commands,
    costs,
    editors,
    images_needed,
    metrics,
    models,
    names,
    pairs,
    rooms,
    study_file,
    suites,
    tables,
    weights,
)
from docs.pages.markdown import fill

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
MADE = "<!-- Made by `python -m docs.generate` from the code; change the code, not this page. -->\n\n"

PAGES: Mapping[str, tuple[str, Callable[[], str]]] = {
    "commands": ("every command and option of `cbench`", commands.page),
    "study-file": ("every key of a study file, with its default", study_file.page),
    "editors": ("the editors that come with the package, with their options", editors.page),
    "models": ("the models behind providers and on your own machine: nicknames, settings, prices, ends", models.page),
    "metrics": ("the metrics, with range, direction, levels and source", metrics.page),
    "weights": ("the weight files, with size, licence and where they come from", weights.page),
    "suites": ("the source images of every shipped suite", suites.page),
    "pairs": ("the edit pairs and sessions, with their words", pairs.page),
    "tables": ("every table of a run, an audit and the Python API, column by column", tables.page),
    "python": ("the names of `import convergebench`, and those that plug-ins are written with", names.page),
}


def write_reference(folder: Path) -> list[Path]:
    """Write every reference page into a folder; returns the paths, the index first."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = "\n".join(f"- [{name}]({name}.md): {what}" for name, (what, _) in PAGES.items())
    pages = {"README": f"# Reference\n\n{rows}\n", **{name: make() for name, (_, make) in PAGES.items()}}
    written = []
    for name, text in pages.items():
        path = folder / f"{name}.md"
        path.write_text(MADE + text, encoding="utf-8")
        written.append(path)
    return written


def ranking(run: Path) -> str:
    """What `cbench show RUN` prints, as a block for a page."""
    from rich.console import Console

    from convergebench.conductor.analyse import report_input
    from convergebench.report.terminal import print_ranking

    said = StringIO()
    print_ranking(report_input(run), Console(file=said, width=80, no_color=True, force_terminal=False))
    lines = [line.rstrip() for line in said.getvalue().splitlines()]
    return "\n".join([f"$ cbench show {run.as_posix()}", *lines])


def main(words: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m docs.generate", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=REFERENCE, help="where the reference pages go")
    parser.add_argument("--ranking", type=Path, metavar="RUN", help="also fill README.md's ranking from this run")
    parser.add_argument("--costs", action="store_true", help="also fill docs/costs.md")
    given = parser.parse_args(words)
    fill(rooms.PAGE, "imports", rooms.block())
    fill(images_needed.PAGE, "images", images_needed.block())
    if given.costs:
        fill(costs.PAGE, "costs", costs.block())
    for path in (*write_reference(given.out), rooms.PAGE, images_needed.PAGE):
        sys.stdout.write(f"{path}\n")
    if given.ranking is not None:
        fill(ROOT / "README.md", "ranking", f"```text\n{ranking(given.ranking)}\n```\n")
        sys.stdout.write(f"{ROOT / 'README.md'}\n")


if __name__ == "__main__":
    main()
