"""Trackers: told what a run was asked and what came out, without keys; a missing or failing one costs nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convergebench.images.encode import encode_png
from convergebench.store.manifest import read_manifest
from convergebench.studies.spec import parse_spec
from convergebench.trackers import base
from convergebench.trackers.base import TrackedResult, TrackedStart
from tests.cli.in_process import cbench
from tests.trackers.parts import Remembering

SECRET = "correct-horse-battery"
STUDY = """
title = "with correct-horse-battery inside"
editors = [{ name = "sim-jpeg", use = "sim-jpeg" }, "sim-blur"]
[roundtrip]
rounds = 2
[images]
suite = "pictures"
[edits]
pairs = ["flip-horizontal"]
[measure]
metrics = ["ssim", "rmse"]
[analysis]
draws = 100
"""


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for seed in range(2):
        pixels = np.random.default_rng(seed).integers(0, 256, (6, 6, 3), np.uint8).repeat(8, 0).repeat(8, 1)
        path = tmp_path / "pictures" / "scene" / f"scene-{seed}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode_png(pixels))
    (tmp_path / "study.toml").write_text(STUDY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAB_API_KEY", SECRET)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    for name in ("Remembering", "FailsAtBegin", "FailsAtLog", "FailsAtEnd"):
        monkeypatch.setitem(base.TABLE, name, base._Known(f"tests.trackers.parts:{name}", "json"))
    Remembering.told.clear()
    return tmp_path


def run(*words: str) -> Any:
    return cbench("run", "study.toml", "--run", "run", "--plots", "none", *words)


def test_a_tracker_is_told_the_study_and_the_result_without_keys(world: Path) -> None:
    done = run("--track", "Remembering")
    assert done.code == 0, done.err
    start, result, status = Remembering.told
    assert isinstance(start, TrackedStart)
    assert isinstance(result, TrackedResult)
    assert status == "finished"
    assert start.name == "run"
    assert start.config["spec"]["roundtrip"]["rounds"] == 2
    assert start.config["editors"].keys() == {"sim-jpeg", "sim-blur"}
    assert SECRET not in json.dumps(start.config)
    assert [step for step, _ in result.curves["ssim/sim-jpeg"]] == [0, 1, 2]
    assert result.curves["ssim/sim-jpeg"][0][1] == 1.0
    shown = json.loads(cbench("show", "run", "--json").out)
    scores = {row["editor"]: row["score"] for row in shown["ranking"]}
    assert result.values["score/sim-blur"] == pytest.approx(scores["sim-blur"])
    assert result.texts["report"] == str(Path("run/report/index.html"))
    assert "| sim-blur |" in result.texts["ranking"]
    assert not start.folder.is_relative_to(world / "run"), "links that a tracker makes would spoil the run"


def test_a_missing_package_is_one_line_before_anything_begins(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(base.TABLE, "tensorboard", base.TABLE["tensorboard"]._replace(needs="not_installed_at_all"))
    done = run("--track", "tensorboard")
    assert done.code == 2
    assert done.err == (
        'error: tracking with tensorboard needs not_installed_at_all: pip install "convergebench[tensorboard]"\n'
    )
    assert not (world / "run").exists()
    assert "did you mean 'mlflow'" in run("--track", "mflow").err
    assert not (world / "run").exists()


@pytest.mark.parametrize("name", ["FailsAtBegin", "FailsAtLog", "FailsAtEnd"])
def test_a_tracker_that_fails_does_not_end_the_run(world: Path, name: str) -> None:
    done = run("--track", name)
    assert done.code == 0, done.err
    notes = [line for line in done.err.splitlines() if "tracker" in line]
    assert len(notes) == 1
    assert notes[0].startswith(f"note: tracker {name} failed, the run goes on: ")
    assert SECRET not in done.err
    assert (world / "run" / "report" / "index.html").is_file()
    assert cbench("verify", "run").code == 0


def test_the_study_can_name_its_tracker_and_without_one_nothing_is_recorded(world: Path) -> None:
    (world / "study.toml").write_text(STUDY + '[track]\nwith = "Remembering"\n')
    assert run("--no-report").code == 0
    assert Remembering.told[-1] == "finished"
    assert isinstance(Remembering.told[1], TrackedResult)
    assert Remembering.told[1].texts["report"] == "not written"
    assert read_manifest(world / "run" / "manifest.json").spec["track"] == {"with": "Remembering"}
    assert "track" not in parse_spec({"editors": ["sim-jpeg"]}).model_dump(mode="json", by_alias=True)


def test_a_run_that_stops_closes_its_tracker(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import convergebench.conductor.running as running

    def broken(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(running, "edit", broken)
    assert run("--track", "Remembering").code == 2
    assert Remembering.told[-1] == "stopped"


def test_tensorboard_reads_what_was_written(world: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util.tensor_util import make_ndarray

    done = run("--track", "tensorboard")
    assert done.code == 0, done.err
    assert "tracker" not in done.err
    found = EventAccumulator(str(world / "run-tracking" / "tensorboard"))
    found.Reload()
    events = found.Tensors("ssim/sim-jpeg")
    assert [event.step for event in events] == [0, 1, 2]
    assert float(make_ndarray(events[0].tensor_proto)) == 1.0
    assert {"score/sim-blur", "finding", "ranking", "config", "report"} <= set(found.Tags()["tensors"])
    assert _without_secret(world)


def test_mlflow_reads_what_was_written(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mlflow")
    from mlflow import MlflowClient

    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    done = run("--track", "mlflow")
    assert done.code == 0, done.err
    assert "tracker" not in done.err
    folder = world / "run-tracking"
    store = f"sqlite:///{folder / 'mlflow.db'}" if (folder / "mlflow.db").exists() else (folder / "mlruns").as_uri()
    client = MlflowClient(tracking_uri=store)
    experiment = client.get_experiment_by_name("convergebench")
    assert experiment is not None
    (found,) = client.search_runs([experiment.experiment_id])
    assert found.info.status == "FINISHED"
    assert found.data.params["spec.roundtrip.rounds"] == "2"
    assert [point.step for point in client.get_metric_history(found.info.run_id, "ssim/sim-jpeg")] == [0, 1, 2]
    assert _without_secret(world)


def test_wandb_works_without_a_network(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    done = run("--track", "wandb")
    assert done.code == 0, done.err
    assert "tracker" not in done.err
    (written,) = (world / "run-tracking").rglob("*.wandb")
    assert b"ssim/sim-jpeg" in written.read_bytes()
    assert _without_secret(world)
    assert cbench("verify", "run").code == 0


def _without_secret(world: Path) -> bool:
    files = [path for path in (world / "run-tracking").rglob("*") if path.is_file()]
    return bool(files) and all(SECRET.encode() not in path.read_bytes() for path in files)
