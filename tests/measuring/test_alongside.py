"""Pictures are measured while later calls are in flight, and nothing depends on it."""

from __future__ import annotations

import asyncio
import multiprocessing
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from convergebench.backends.local import LocalBackend
from convergebench.conductor.observer import Observer
from convergebench.conductor.options import RunOptions
from convergebench.conductor.running import plan, run
from convergebench.conductor.stages.base import Stage
from convergebench.conductor.stages.measure import MeasureStage
from convergebench.errors import Prerequisite, StudyError
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.measuring import alongside
from convergebench.progress import Progress
from convergebench.store.frames import RunFrames
from convergebench.store.queries.measuring import measured_metrics
from convergebench.store.records import Records
from convergebench.studies.spec import parse_spec
from convergebench.types import Capabilities, Edited, EditRequest, Limits

NAME = "slow"


class SlowEditor:
    """Darkens by one after a while, and looks at what the run has measured by then."""

    name, fingerprint = NAME, "slow@1"
    capabilities = Capabilities()
    limits = Limits(at_once=2, account="test")

    def __init__(self, root: Path, seconds: float) -> None:
        self.root, self.seconds = root, seconds
        self.calls = 0
        self.seen: list[set[str]] = []
        """The metrics with a value, at every call."""

    async def edit(self, request: EditRequest) -> Edited:
        self.calls += 1
        await asyncio.sleep(self.seconds)
        records = Records(self.root / "run.sqlite")
        self.seen.append(measured_metrics(records))
        records.close()
        pixels = decode(request.image).pixels
        return Edited(encode_png(pixels - (pixels > 0)), "image/png", NAME)


class MeasuringStages(Observer):
    """Keeps the counters of measuring."""

    progress: Progress

    def watch(self, stage: str, progress: Progress, *, unit: str, of: str = "chains") -> AbstractContextManager[object]:
        if stage == "measuring":
            self.progress = progress
        return nullcontext()


def spec(metrics: list[str]) -> Any:
    return parse_spec(
        {
            "study": "roundtrip",
            "editors": [NAME],
            "images": {"suite": "quick", "limit": 2},
            "edits": {"pairs": ["flip-horizontal"]},
            "roundtrip": {"rounds": 4},
            "measure": {"metrics": metrics},
        },
        where="test",
    )


def values(root: Path) -> pl.DataFrame:
    frames = RunFrames(root)
    try:
        return frames.measurements("auto")
    finally:
        frames.close()


def test_pictures_are_measured_while_calls_are_in_flight_and_the_values_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alongside, "WORTH_STARTING", 0.05)
    slow, seen = SlowEditor(tmp_path / "beside", 0.8), MeasuringStages()
    options = RunOptions(workers=1, report=False)
    run(plan(spec(["ssim", "rmse", "piqe"]), slow.root, editors={NAME: slow}), options, seen)
    watched = seen.progress
    assert slow.seen[0] == set()
    assert {"ssim", "rmse", "piqe"} in slow.seen, "no call saw a value of an earlier step"
    assert watched.steps == watched.steps_done
    assert watched.chains == watched.chains_done == 2, "each chain counts once, however often it has grown"

    monkeypatch.setattr(MeasureStage, "begin", Stage.begin)
    quick = SlowEditor(tmp_path / "after", 0.0)
    run(plan(spec(["ssim", "rmse", "piqe"]), quick.root, editors={NAME: quick}), RunOptions(workers=1, report=False))
    assert not any(quick.seen)
    assert values(slow.root).equals(values(quick.root))
    assert not multiprocessing.active_children()


def test_a_run_too_short_for_worker_processes_starts_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    monkeypatch.setattr(LocalBackend, "pool", lambda *_, **__: started.append(1))
    quick = SlowEditor(tmp_path / "run", 0.0)
    run(plan(spec(["rmse"]), quick.root, editors={NAME: quick}), RunOptions(workers=1, report=False))
    assert not started
    assert values(quick.root).height > 0


def test_a_metric_that_fails_meanwhile_stops_no_edit_and_is_told_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alongside, "WORTH_STARTING", 0.0)

    def broken(*given: object) -> object:
        raise StudyError("metric 'rmse' failed on purpose")

    monkeypatch.setattr("convergebench.measuring.measure.measure_task", broken)
    monkeypatch.setattr(alongside, "measurement_rows", broken)
    slow = SlowEditor(tmp_path / "run", 0.3)
    with pytest.raises(StudyError, match="failed on purpose"):
        run(plan(spec(["rmse"]), slow.root, editors={NAME: slow}), RunOptions(workers=1, report=False))
    assert slow.calls == 2 * 4 * 2
    assert not multiprocessing.active_children()


def test_leaving_early_ends_the_workers_and_keeps_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alongside, "WORTH_STARTING", 0.0)

    class Impatient(SlowEditor):
        async def edit(self, request: EditRequest) -> Edited:
            if any(self.seen):
                raise Prerequisite("the licence has run out")
            return await super().edit(request)

    slow = Impatient(tmp_path / "run", 0.5)
    with pytest.raises(Prerequisite, match="run out"):
        run(plan(spec(["ssim"]), slow.root, editors={NAME: slow}), RunOptions(workers=1, report=False))
    assert not multiprocessing.active_children()
    found = values(slow.root)
    assert found.height > 0
    assert found["status"].unique().to_list() == ["ok"]
