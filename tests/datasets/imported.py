"""A set read, laid out and written into a run, inside this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from convergebench.analysis.series import named_series
from convergebench.conductor import run_chains
from convergebench.conductor.begin import begin
from convergebench.datasets.layouts import read_chains
from convergebench.datasets.recordings import ImportChoices, prepare_recordings
from convergebench.measuring.measure import measure
from convergebench.store.frames import RunFrames
from convergebench.store.run import Run


def import_set(
    place: Path, run: Path, *, layout: str = "auto", images: Path | None = None, **choices: Any
) -> RunFrames:
    """Import every chain and give the tables."""
    _, _, found = read_chains(place, layout, images)
    prepared = prepare_recordings(found.chains, ImportChoices(**choices), faults=found.faults)
    assert not prepared.left_out, prepared.left_out
    with Run.create(run) as opened:
        begin(opened, prepared)
        ended = run_chains(opened, prepared.editors, prepared.chains)
    assert ended.stopped is None
    return RunFrames(run)


def measured(frames: RunFrames, *metrics: str) -> pl.DataFrame:
    """Values of these metrics."""
    with Run.existing(frames.root) as opened:
        measure(opened, metrics, align_mode="strict", workers=1)
    return named_series(frames.measurements("strict")).sort("editor", "case", "step", "metric")
