"""`cbench runs` and `cbench open`: which runs there are, and the page of one of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from convergebench.store.overview import RunOverview

NARROWEST, WIDEST = 60, 160
LONGEST_NAME = 30


def runs(
    folder: Annotated[Path, typer.Argument(help="Folder that holds runs, or a run.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List runs, the latest first: study, editors, chains finished, dollars, last change, and what was found."""
    import json

    from convergebench.cli.display import say
    from convergebench.store.overview import overview

    found = overview(folder)
    if as_json:
        say(json.dumps([_facts(one) for one in found], ensure_ascii=False, indent=1, allow_nan=False))
        return
    if not found:
        say(f"no runs in {folder} (make one with: cbench run demo-light --run {folder / 'first'})")
        return
    for line in _table(found):
        say(line)


def open_run(
    run: Annotated[Path, typer.Argument(help="Run directory.")],
    print_only: Annotated[bool, typer.Option("--print", help="Print the path of the page; open nothing.")] = False,
) -> None:
    """Open a run's report in the browser."""
    import webbrowser

    from convergebench.cli.display import say
    from convergebench.errors import StudyError
    from convergebench.store.overview import report_page
    from convergebench.store.run import require_run

    page = report_page(run) if run.is_dir() else None
    if page is None:
        require_run(run)
        raise StudyError(f"{run} has no report yet; type: cbench report {run}")
    say(str(page))
    if not print_only and not webbrowser.open(page.resolve().as_uri()):
        raise StudyError(f"no browser could be started; open {page.resolve()} yourself")


def _facts(one: RunOverview) -> dict[str, Any]:
    return {
        "run": str(one.root),
        "study": one.study,
        "editors": list(one.editors),
        "finished": one.finished,
        "chains": one.chains,
        "failed": one.failed,
        "dollars": one.dollars,
        "finding": one.finding,
        "outdated": one.outdated,
        "changed": _moment(one.changed) if one.changed else None,
        "problem": one.problem,
    }


def _table(found: list[RunOverview]) -> list[str]:
    """A line per run with its finding indented under it; as wide as the terminal, at most."""
    from convergebench.cli.display import rows_as_text, width_of_terminal

    width = max(NARROWEST, min(width_of_terminal() or WIDEST, WIDEST))
    sound = [one for one in found if not one.problem]
    head, lines = "", [""] * len(sound)
    for room in range(LONGEST_NAME, 5, -1) if sound else ():
        head, *lines = rows_as_text([_row(one, room) for one in sound], width=10 * WIDEST).splitlines()
        if max(map(len, (head, *lines))) <= width:
            break
    said = [head] if sound else []
    for one, line in zip(sound, lines, strict=True):
        said += [line, *_remarks(one, width)]
    return [*said, *(_cut(f"{one.root.resolve().name}: {one.problem}", width) for one in found if one.problem)]


def _row(one: RunOverview, room: int) -> dict[str, str]:
    more = f" +{len(one.editors) - 1}" if len(one.editors) > 1 else ""
    return {
        "run": _short(one.root.resolve().name, room),
        "study": _short(one.study, 11),
        "editors": _short(one.editors[0], room - len(more)) + more if one.editors else "",
        "chains": f"{one.finished:,}/{one.chains:,}",
        "dollars": f"{one.dollars or 0:,.2f}",
        "changed": _ago(one.changed),
    }


def _remarks(one: RunOverview, width: int) -> list[str]:
    parts = [f"{one.failed:,} failed or refused"] if one.failed else []
    if not one.finding:
        parts.append(f"no report; type: cbench report {one.root}")
    parts += ["the report is older than the run"] if one.outdated else []
    return [_cut(f"  {text}", width) for text in ([one.finding] if one.finding else []) + ["; ".join(parts)] if text]


def _short(text: str, room: int) -> str:
    """The text, with its middle left out when it is longer than `room` characters."""
    tail = max(1, room // 3)
    return text if len(text) <= room else f"{text[: max(1, room - tail - 1)]}…{text[-tail:]}"


def _cut(text: str, width: int) -> str:
    """At most `width` characters, cut between words."""
    if len(text) <= width:
        return text
    kept = text[: width - 1]
    return (kept.rpartition(" ")[0] if " " in kept.strip() else kept) + "…"


def _ago(seconds: float) -> str:
    import time

    minutes = max(0, int(time.time() - seconds)) // 60
    for size, word in ((24 * 60, "d"), (60, "h")):
        if minutes >= size:
            return f"{minutes // size} {word} ago"
    return f"{minutes} min ago"


def _moment(seconds: float) -> str:
    from datetime import datetime

    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")
