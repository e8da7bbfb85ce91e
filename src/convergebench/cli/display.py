"""What a person sees while a run works: one live panel in a terminal, plain lines when piped."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from convergebench.progress import Progress, progress_line
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


def rows_as_text(rows: Sequence[Mapping[str, str]]) -> str:
    """A plain table, each column as wide as it must be."""
    columns = list(rows[0]) if rows else []
    widths = {column: max(len(column), *(len(row[column]) for row in rows)) for column in columns}
    lines = [dict(zip(columns, columns, strict=True)), *rows]
    return "\n".join("  ".join(row[column].ljust(widths[column]) for column in columns).rstrip() for row in lines)


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

    def text(seconds: float) -> str:
        return progress_line(stage, progress, unit, seconds, of)

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
