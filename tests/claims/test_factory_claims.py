"""P1 to P8 on the tables of a factory run, in either direction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from convergebench.analysis.factory.result import SCHEMAS
from convergebench.claims.check import check
from convergebench.claims.read import find, read_claims
from convergebench.edits.taxonomy import taxonomy
from convergebench.studies.factory_table import CRITERIA
from tests.factory_run import factory_run

YES, NO, UNKNOWN = "holds", "does not hold", "cannot be told"


def answers(run: Path) -> dict[str, str]:
    files = [read_claims(find("pico-banana"))]
    return {one.claim.id: one.verdict for one in check(files, [run]).results if one.run is not None}


def put(run: Path, name: str, *rows: dict[str, Any]) -> Path:
    folder = run / "tables"
    folder.mkdir(parents=True, exist_ok=True)
    columns = SCHEMAS[name]
    assert all(set(row) <= set(columns) for row in rows)
    pl.DataFrame([{**dict.fromkeys(columns), **row} for row in rows], schema=columns).write_parquet(
        folder / f"{name}.parquet"
    )
    return run


def rate(group: str, share: float, unit: str = "edit", **facts: Any) -> dict[str, Any]:
    return {"editor": "a", "turns": "first", "group": group, "unit": unit, "share": share, **facts}


def judged(score: float, accepted: bool) -> dict[str, Any]:
    return {"case": "a", "accepted": accepted, "score": score, **dict.fromkeys(CRITERIA, score)}


def test_a_run_by_the_papers_rules_confirms_its_rules(tmp_path: Path) -> None:
    factory_run(tmp_path / "run", count=8, report=True)
    found = answers(tmp_path / "run")
    assert [found[name] for name in ("P2", "P3", "P4")] == [YES, YES, YES]
    assert found.keys() == {f"P{number}" for number in range(1, 9)}


def test_all_types_and_categories_must_be_there(tmp_path: Path) -> None:
    every = [{"turn": 1, "edit_type": one.id, "category": one.category} for one in taxonomy().values()]
    later = {**every[-1], "turn": 2}
    assert answers(put(tmp_path / "a", "edits", *every))["P1"] == YES
    assert answers(put(tmp_path / "b", "edits", *every[:-1], later))["P1"] == NO


def test_a_run_by_other_rules_does_not(tmp_path: Path) -> None:
    weights = {"instruction_compliance": 1, "seamlessness": 1, "preservation_balance": 1, "technical_quality": 1}
    parameters: dict[str, Any] = {"types": ["Stylistic"], "attempts": 5, "threshold": 0.95, "weights": weights}
    factory_run(tmp_path / "run", count=6, per_image=3, report=True, **parameters)
    found = answers(tmp_path / "run")
    assert {name: found[name] for name in ("P1", "P2", "P3", "P4")} == dict.fromkeys(("P1", "P2", "P3", "P4"), NO)
    assert found["P7"] == UNKNOWN, "no such type was edited"


def test_a_rejected_edit_above_the_threshold_is_against_the_rule(tmp_path: Path) -> None:
    assert answers(put(tmp_path / "a", "attempts", judged(0.71, True), judged(0.7, False)))["P4"] == YES
    assert answers(put(tmp_path / "b", "attempts", judged(0.71, True), judged(0.72, False)))["P4"] == NO


@pytest.mark.parametrize(("sft", "verdict"), [(0.65, YES), (0.60, NO)])
def test_the_composition_is_the_papers_within_five_points(tmp_path: Path, sft: float, verdict: str) -> None:
    row = {"editor": "a", "subset": "sft", "share": sft, "paper_share": 0.668}
    assert answers(put(tmp_path, "composition", row))["P5"] == verdict


def test_success_rates_are_held_against_the_papers_ranges(tmp_path: Path) -> None:
    easy = ("category:Pixel & Photometric", "category:Stylistic")
    good = put(tmp_path / "a", "success_by_type", *(rate(one, 0.9) for one in easy), rate("type:outpaint", 0.6))
    bad = put(tmp_path / "b", "success_by_type", *(rate(one, 0.8) for one in easy), rate("type:outpaint", 0.9))
    assert (answers(good)["P6"], answers(good)["P7"]) == (YES, YES)
    assert (answers(bad)["P6"], answers(bad)["P7"]) == (NO, NO)


def test_a_rate_per_attempt_or_per_edit_may_be_the_papers(tmp_path: Path) -> None:
    per_edit = rate("type:outpaint", 0.9, low=0.8, high=0.95, paper=0.66)
    per_attempt = rate("type:outpaint", 0.65, "attempt", low=0.6, high=0.7, paper=0.66)
    assert answers(put(tmp_path / "a", "success_by_type", per_edit, per_attempt))["P8"] == YES
    far = {**per_attempt, "high": 0.65}
    assert answers(put(tmp_path / "b", "success_by_type", per_edit, far))["P8"] == NO
    few = [{**one, "low": None, "high": None} for one in (per_edit, per_attempt)]
    assert answers(put(tmp_path / "c", "success_by_type", *few))["P8"] == UNKNOWN
