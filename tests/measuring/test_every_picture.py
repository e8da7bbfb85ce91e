"""Pictures that no study compares are rated when an audit asks for it, and nothing else notices."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from convergebench.conductor.analyse import report_input
from convergebench.datasets.export import ExportOptions, export
from convergebench.measuring.batches import roles_filled
from convergebench.measuring.every_picture import rate_every_picture
from convergebench.measuring.measure import measure
from convergebench.metrics import load_metric
from convergebench.metrics.judged.rubric_quality import rubric_quality
from convergebench.metrics.judged.visualquality_r1 import visualquality_r1
from convergebench.roles import make_role
from convergebench.store.frames import RunFrames
from convergebench.store.run import Run
from convergebench.store.verify import problems
from tests.engine.audited_run import STEPS, make_round_trips, make_run
from tests.engine.parts import ask_missing, query
from tests.roles.server import message, serving


def rated(root: Path) -> int:
    with Run.existing(root) as run:
        return rate_every_picture(run)


def measured(root: Path, *metrics: str) -> int:
    with Run.existing(root) as run:
        return measure(run, metrics, align_mode="strict", workers=1)


def alone(root: Path) -> list[tuple[int, int]]:
    return query(root, "select step, round from comparisons where role = 'alone' order by editor, \"case\", step")


@pytest.fixture
def trips(tmp_path: Path) -> Path:
    return make_round_trips(tmp_path)


def test_in_a_round_trip_the_pictures_in_between_are_rated_and_no_others(trips: Path) -> None:
    assert rated(trips) == 2
    assert alone(trips) == [(1, 1), (3, 2)]
    assert rated(trips) == 0, "asked again, nothing is added"


def test_inside_a_cycle_nothing_is_compared_so_it_is_rated_by_itself(tmp_path: Path) -> None:
    root = make_run(tmp_path)
    assert rated(root) == 2 * STEPS // 2, "two editors, the first of two steps of each cycle"
    pairs = query(
        root, "select distinct c.pair from comparisons k join cases c on c.id = k.\"case\" where role = 'alone'"
    )
    assert pairs == [("monochrome-colour",)]
    measured(root, "brisque")
    frames = RunFrames(root)
    scores = frames.scores(["brisque"])
    assert scores.height == frames.steps().height, "one score per picture, whatever role it came by"
    assert set(scores["role"]) == {"source", "return", "around", "alone"}


def test_only_metrics_that_rate_single_pictures_fill_these_rows(trips: Path) -> None:
    rated(trips)
    measured(trips, "ssim", "brisque", "sharpness")
    rows = query(trips, "select distinct metric from measurements m join comparisons k on k.id = m.comparison "
                        "where k.role = 'alone'")  # fmt: skip
    assert rows == [("brisque",)]
    assert roles_filled(load_metric("niqe").facts) == ("source", "return", "around", "alone")
    assert "alone" not in roles_filled(load_metric("ssim").facts)


def test_report_and_export_and_verify_see_no_difference(trips: Path, tmp_path: Path) -> None:
    measured(trips, "ssim", "brisque")
    before = report_input(trips)
    rated(trips)
    measured(trips, "ssim", "brisque")
    after = report_input(trips)
    assert_frame_equal(after.measurements, before.measurements)
    assert_frame_equal(after.analysis.ranking, before.analysis.ranking)
    assert after.measurements.filter(metric="brisque").select("case", "round").is_unique().all()
    assert problems(trips) == []
    out = export(trips, tmp_path / "set", ExportOptions("imagefolder")).out
    rows = [json.loads(line) for line in (out / "data/train/metadata.jsonl").read_text().splitlines()]
    scores = {row["step"]: row["value"] for row in RunFrames(trips).scores(["brisque"]).iter_rows(named=True)}
    assert {row["step_index"]: row["measurements"]["brisque"] for row in rows} == scores
    assert not any("alone" in key for row in rows for key in row["measurements"])


def test_a_served_rater_is_asked_about_these_pictures_too(tmp_path: Path) -> None:
    root = make_run(tmp_path, editors=["sim-blur"])
    rated(root)
    with serving(lambda request, number: message("<answer>3.5</answer>")) as server, Run.existing(root) as run:
        done = ask_missing(run, (visualquality_r1,), {"rater": make_role("rater", server.table())})
    scores = RunFrames(root).scores(["visualquality-r1"])
    assert done.added == scores.height == RunFrames(root).steps().height
    assert scores.group_by("role").len().sort("role").rows() == [
        ("alone", 2),
        ("around", 8),
        ("return", 10),
        ("source", 5),
    ]


def test_what_is_asked_of_a_picture_does_not_depend_on_where_it_stands() -> None:
    assert {rubric_quality.rubric_for(role) for role in ("return", "around", "alone")} == {"quality-rubric"}
    judge = load_metric("judge-happened")
    assert not judge.concerns("alone", None)  # type: ignore[attr-defined]
    assert not judge.concerns("around", None)  # type: ignore[attr-defined]


def test_scores_of_no_metric_are_none(trips: Path) -> None:
    assert RunFrames(trips).scores([]).height == 0
    assert RunFrames(trips).scores(["niqe"]).columns == RunFrames(trips).scores([]).columns
    assert isinstance(RunFrames(trips).scores(["niqe"]), pl.DataFrame)
