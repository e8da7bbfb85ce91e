"""What a person sees while a run works: one live panel in a terminal, plain lines when piped."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from convergebench.progress import Pace, Progress, progress_line
from convergebench.texts import escaped, one_line

if TYPE_CHECKING:
    from rich.table import Table

PLAIN_EVERY = 10.0
"""Seconds between two plain lines."""


def say(line: str) -> None:
    """One line for the person, on stdout."""
    sys.stdout.write(escaped(line) + "\n")
    sys.stdout.flush()


def say_beside(line: str) -> None:
    """One line that is no result, on stderr."""
    sys.stderr.write(one_line(line) + "\n")
    sys.stderr.flush()


def width_of_terminal() -> int | None:
    """Columns to fit tables into: COLUMNS if it is set, else those of the terminal; None where output is piped."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def rows_as_text(rows: Sequence[Mapping[str, str]], *, width: int | None = None, may_lack: Sequence[str] = ()) -> str:
    """A plain table; within `width` columns (of the terminal, if there is one) cells break their lines between words.

    A table that cannot be made so narrow does without the columns of `may_lack`, one after the other, and says so. If
    that does not suffice it becomes a list: a heading per row, its other cells indented under it.
    """
    from textwrap import wrap

    columns = list(rows[0]) if rows else []
    width = width or width_of_terminal()
    lines = [dict(zip(columns, columns, strict=True)), *rows]
    widths, lacking = _widths(lines, columns, width), 0
    while widths is None and lacking < len(may_lack):
        lacking += 1
        columns = [column for column in columns if column not in may_lack[:lacking]]
        widths = _widths(lines, columns, width)
    if widths is None:
        return _as_list(rows, list(rows[0]), width or 80)
    text = []
    for row in lines:
        cells = [wrap(row[column], widths[column], **_BETWEEN_WORDS) or [""] for column in columns]
        for number in range(max(map(len, cells), default=0)):
            parts = (cell[number] if number < len(cell) else "" for cell in cells)
            text.append("  ".join(part.ljust(widths[one]) for part, one in zip(parts, columns, strict=True)).rstrip())
    if lacking:
        text.append(f"({', '.join(may_lack[:lacking])}: in a wider terminal, or with --json)")
    return "\n".join(text)


_BETWEEN_WORDS: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
NARROWEST_COLUMN = 9
"""Columns are not made narrower than this, or than their longest word."""


def _widths(rows: Sequence[Mapping[str, str]], columns: Sequence[str], width: int | None) -> dict[str, int] | None:
    """How wide each column is: as it must be, the widest narrowed until all fit; None if that cannot be."""
    found = {column: max(len(row[column]) for row in rows) for column in columns}
    if width is None:
        return found
    words = {column: max((len(word) for row in rows for word in row[column].split()), default=1) for column in columns}
    least = {column: min(found[column], max(NARROWEST_COLUMN, words[column])) for column in columns}
    excess = sum(found.values()) + 2 * (len(columns) - 1) - width
    while excess > 0:
        widest = max(columns, key=lambda column: found[column] - least[column])
        if found[widest] == least[widest]:
            return None
        found[widest] -= 1
        excess -= 1
    return found


def _as_list(rows: Sequence[Mapping[str, str]], columns: Sequence[str], width: int) -> str:
    from textwrap import wrap

    first, *others = columns
    lines = []
    for row in rows:
        lines.append(row[first])
        told = (f"{column}: {row[column]}" for column in others if row[column])
        for text in told:
            lines += wrap(text, width, initial_indent="  ", subsequent_indent="    ", **_BETWEEN_WORDS)
    return "\n".join(lines)


@contextmanager
def downloading(name: str) -> Iterator[Callable[[int, int], None]]:
    """A bar in a terminal, nothing when piped; what is yielded wants bytes so far and bytes in all."""
    if not sys.stdout.isatty():
        yield lambda done, total: None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

    with Progress("{task.description}", BarColumn(), DownloadColumn(), TransferSpeedColumn(), transient=True) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total or None)


@contextmanager
def watch(stage: str, progress: Progress, *, unit: str, of: str = "chains") -> Iterator[None]:
    """Show a stage until it ends; the last line stays."""
    pace = Pace(progress)

    def text(seconds: float) -> str:
        return progress_line(stage, progress, unit, seconds, of, pace)

    shown = _live(stage, progress, text) if sys.stdout.isatty() else _plain(text)
    with shown:
        yield


@contextmanager
def _plain(text: Callable[[float], str]) -> Iterator[None]:
    started, done = time.monotonic(), threading.Event()

    def lines() -> None:
        while not done.wait(PLAIN_EVERY):
            say(text(time.monotonic() - started))

    thread = threading.Thread(target=lines, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        say(text(time.monotonic() - started))


@contextmanager
def _live(stage: str, progress: Progress, text: Callable[[float], str]) -> Iterator[None]:
    from rich.console import Console
    from rich.live import Live

    started = time.monotonic()
    with Live(
        get_renderable=lambda: panel(stage, progress, text(time.monotonic() - started)),
        console=Console(),
        refresh_per_second=5,
        transient=True,
    ):
        yield
    say(text(time.monotonic() - started))


def panel(stage: str, progress: Progress, text: str) -> Table:
    """The line with a bar, for a terminal."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1), expand=False)
    grid.add_row(
        Text(stage, style="bold"),
        ProgressBar(total=max(1, progress.steps), completed=progress.steps_done, width=40),
        f"{100 * progress.steps_done / max(1, progress.steps):3.0f} %",
    )
    outer = Table.grid()
    outer.add_row(grid)
    outer.add_row(Text(one_line(text), style="dim", overflow="fold"))
    if progress.note:
        outer.add_row(Text(one_line(progress.note), style="yellow", overflow="ellipsis", no_wrap=True))
    return outer
