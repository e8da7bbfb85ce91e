"""Scores of single pictures: every picture once, and none of them in the curves unless a study compares it."""

from __future__ import annotations

from pathlib import Path

from convergebench.store.frames import SCORES, RunFrames
from convergebench.store.journal import Journal
from convergebench.store.manifest import Manifest, write_manifest
from convergebench.store.tables import CaseRow, ComparisonRow, ImageRow, MeasurementRow, TableRow

CHAIN = ("sim", "case")


def comparison(role: str, step: int, number: int) -> ComparisonRow:
    key = f"{role}-{step}"
    return ComparisonRow(key, *CHAIN, role, number, step, 0, f"image-{step}", None, None, None)


def value(key: str, metric: str, number: float | None, *, align: str = "none", status: str = "ok") -> MeasurementRow:
    return MeasurementRow(key, metric, align, f"{metric}@1", number, status, "")


def run(root: Path, *rows: TableRow) -> RunFrames:
    root.mkdir()
    write_manifest(root / "manifest.json", Manifest("run", "roundtrip", "", spec={}, fixed={}))
    journal = Journal(root / "run.sqlite")
    images = [ImageRow(f"image-{step}", "file", "image/png", 8, 8, 1) for step in range(3)]
    case = CaseRow("case", "cup", "image-0", "object", "turn", "geometric", 0)
    roles = (("source", 0, 0), ("alone", 1, 1), ("return", 2, 1), ("lag", 2, 1), ("alone", 2, 1))
    journal.commit_now([*images, case, *(comparison(*one) for one in roles), *rows])
    journal.close()
    return RunFrames(root)


def test_every_picture_has_one_score_and_a_comparison_counts_before_a_picture_alone(tmp_path: Path) -> None:
    frames = run(
        tmp_path / "run",
        *(value(key, "niqe", number) for key, number in (("source-0", 3.0), ("alone-1", 4.0), ("alone-2", 9.0))),
        value("return-2", "niqe", None, status="too-small"),
        value("alone-1", "own", 7.0, align="strict"),
        value("alone-1", "own", 7.0, align="fit"),
        value("lag-2", "rmse", 1.0),
    )
    found = frames.scores(["niqe", "own", "rmse"])
    assert dict(found.schema) == SCORES
    assert found.select("step", "metric", "value", "status", "role", "round").rows() == [
        (0, "niqe", 3.0, "ok", "source", 0),
        (1, "niqe", 4.0, "ok", "alone", 1),
        (1, "own", 7.0, "ok", "alone", 1),
        (2, "niqe", None, "too-small", "return", 1),
    ]
    assert set(found["source"]) == {"cup"}
    assert frames.scores(["own"]).height == 1


def test_curves_do_not_see_what_only_an_audit_wanted_rated(tmp_path: Path) -> None:
    frames = run(tmp_path / "run", value("alone-1", "niqe", 4.0), value("return-2", "niqe", 5.0))
    assert frames.measurements("strict").select("step", "role").rows() == [(2, "return")]
