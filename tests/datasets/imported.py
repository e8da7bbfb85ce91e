"""A set read, laid out and written into a run, inside this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from convergebench.cli.interrupt import run_engine
from convergebench.datasets.chains import Beside
from convergebench.datasets.layouts import read_chains
from convergebench.engine.measure import measure
from convergebench.engine.progress import Progress
from convergebench.engine.recordings import Told, prepare_recordings
from convergebench.engine.session import begin
from convergebench.store.frames import RunFrames
from convergebench.store.run import Run


def import_set(place: Path, run: Path, *, layout: str = "auto", images: Path | None = None, **told: Any) -> RunFrames:
    """Import every chain and give the tables."""
    _, _, found = read_chains(place, layout, Beside(images))
    prepared = prepare_recordings(found.chains, Told(**told), faults=found.faults)
    assert not prepared.left_out, prepared.left_out
    with Run.create(run) as opened:
        begin(opened, prepared)
        ended = run_engine(opened, prepared, Progress(), max_cost=None, reuse=[])
    assert ended.stopped is None
    return RunFrames(run)


def measured(frames: RunFrames, *metrics: str) -> pl.DataFrame:
    """Values of these metrics."""
    with Run.existing(frames.root) as opened:
        measure(opened, metrics, align_mode="strict", workers=1)
    return frames.measurements("strict").sort("editor", "case", "step", "metric")
