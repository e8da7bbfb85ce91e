"""Exporting a run as a data set for others."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from convergebench.conductor.observer import Observer
from convergebench.datasets.export import Exported, ExportOptions, ExportProgress
from convergebench.datasets.export import export as write_dataset
from convergebench.progress import Progress


def export(root: Path, out: Path, options: ExportOptions, observer: Observer | None = None) -> Exported:
    """Every picture of a run with all that is known about it, a card, a Croissant file and check sums."""
    observer, progress = observer or Observer(), Progress()
    with ExitStack() as shown:

        def advanced(done: ExportProgress) -> None:
            begun = bool(progress.steps)
            progress.steps, progress.steps_done, progress.steps_called = done.of_pictures, done.pictures, done.pictures
            progress.chains, progress.chains_done = done.of_chains, done.chains
            if not begun:  # a mistake in the command is told without a progress line above it
                shown.enter_context(observer.watch("exporting", progress, unit="pictures"))

        return write_dataset(root, out, options, advanced)
