"""`cbench factory judges`: two judges of the same edits, held against each other."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.factory.judge_decisions import decision_table
from convergebench.conductor.factory_judges import compare_judges
from convergebench.conductor.options import RunOptions
from convergebench.conductor.running import plan, run
from convergebench.errors import StudyError
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.studies.spec import parse_spec
from convergebench.types import Edited, EditRequest
from tests.cli.inside import run_inside
from tests.factory_run import ROLES, InstantEditor, ScriptedRole, factory_run, sources


class Strict(ScriptedRole):
    """Sees what the other judge sees, and gives a tenth less."""

    def __init__(self) -> None:
        super().__init__("judge")
        self.fingerprint = "strict-judge@1"

    def value(self, images: tuple[bytes, ...], payload: Mapping[str, Any], repeat: int) -> dict[str, Any]:
        """The same order, other values."""
        found = super().value(images, payload, repeat)
        return {name: one * 0.9 if isinstance(one, float) else one for name, one in found.items()}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("judges")
    factory_run(root / "mild", count=12, metrics=(), sessions=0.3)
    factory_run(root / "strict", count=12, metrics=(), sessions=0.3, roles={"judge": Strict()})
    return root / "mild", root / "strict"


def test_judges_who_see_the_same_order_agree_by_order_and_not_by_value(runs: tuple[Path, Path]) -> None:
    found = compare_judges(*runs)
    values = {
        row["measure"]: row for row in found.agreement.filter(pl.col("question") == "score").iter_rows(named=True)
    }
    assert set(values) == {"spearman", "kendall", "quadratic kappa", "krippendorff alpha"}
    assert values["spearman"]["value"] == pytest.approx(1)
    assert 0 < values["quadratic kappa"]["value"] < 0.97
    assert values["quadratic kappa"]["low"] < values["quadratic kappa"]["value"] < values["quadratic kappa"]["high"]
    assert found.judges == ("scripted-judge@1", "strict-judge@1")


def test_decisions_are_counted_by_who_accepted(runs: tuple[Path, Path]) -> None:
    found = compare_judges(*runs)
    first, every = found.decisions.to_dicts()
    assert (first["attempts"], first["n"]) == ("first", 48), "12 pictures with 4 edits: all first attempts are common"
    assert every["n"] == found.edits
    for row in (first, every):
        assert row["both"] + row["first_only"] + row["second_only"] + row["neither"] == row["n"]
        assert row["second_only"] == 0, "the strict judge accepts nothing that the mild one rejects"
        assert row["first_only"] > 0
        assert row["differ"] == row["first_only"] / row["n"]
        assert row["low"] < row["differ"] < row["high"]


def test_edits_that_only_one_run_has_are_counted_and_not_compared(runs: tuple[Path, Path]) -> None:
    found = compare_judges(*runs)
    assert found.alone[1] > 0, "the strict judge makes more attempts"
    swapped = compare_judges(runs[1], runs[0])
    assert (swapped.edits, swapped.alone) == (found.edits, found.alone[::-1])
    assert swapped.decisions["second_only"].to_list() == found.decisions["first_only"].to_list()


class Moody(InstantEditor):
    """Another picture at every call, as an editor without a seed gives."""

    async def edit(self, request: EditRequest) -> Edited:
        """The same edit, with a grain that never comes again."""
        edited = await super().edit(request)
        pixels = decode(edited.image).pixels.copy()
        pixels[-1] = np.frombuffer(os.urandom(pixels[-1].size), np.uint8).reshape(pixels[-1].shape)
        return replace(edited, image=encode_png(pixels))


def moody_run(root: Path, judge: ScriptedRole, reuse: tuple[Path, ...] = ()) -> Moody:
    editor = Moody()
    content = {"study": "factory", "editors": [{"name": "instant", "use": "sim-identity"}]}
    spec = parse_spec({**content, "factory": {"per_image": 4}, "measure": {"metrics": []}})
    roles = {name: ScriptedRole(name) for name in ROLES} | {"judge": judge}
    planned = plan(spec, root, editors={"instant": editor}, sources=sources(6), roles=roles)
    run(planned, RunOptions(report=False, workers=1, reuse=reuse))
    return editor


def test_the_same_words_are_the_same_edit_only_with_the_same_picture(tmp_path: Path) -> None:
    moody_run(tmp_path / "one", ScriptedRole("judge"))
    moody_run(tmp_path / "again", Strict())
    with pytest.raises(StudyError, match="no judged edit in common"):
        compare_judges(tmp_path / "one", tmp_path / "again")
    made = moody_run(tmp_path / "reused", Strict(), reuse=(tmp_path / "one",))
    found = compare_judges(tmp_path / "one", tmp_path / "reused")
    assert found.decisions["n"].to_list() == [24, found.edits]
    assert made.calls == found.alone[1], "only what the mild judge never asked for is made anew"
    assert found.notes == ()


def test_a_judge_without_a_score_has_decided_nothing() -> None:
    rows = [
        {"editor": "e", "source": f"s{n}", "turn": 1, "attempt": 1, "state": f"x{n}", "accepted": n < 6}
        for n in range(8)
    ]
    first = pl.DataFrame([{**row, "score": 0.5} for row in rows])
    second = pl.DataFrame([{**row, "accepted": True, "score": None if row["state"] == "x7" else 0.9} for row in rows])
    (found, _) = decision_table(first, second, Bootstrap()).to_dicts()
    assert (found["both"], found["second_only"], found["n"]) == (6, 1, 7)
    assert found["differ"] == pytest.approx(1 / 7)


def test_other_rules_and_the_same_judge_are_noted(runs: tuple[Path, Path], tmp_path: Path) -> None:
    assert compare_judges(*runs).notes == ()
    factory_run(tmp_path / "other", count=12, metrics=(), sessions=0.3, threshold=0.8)
    notes = " ".join(compare_judges(runs[0], tmp_path / "other").notes)
    assert "the runs differ in their threshold" in notes
    assert "the same judge" in notes


def test_runs_without_a_common_edit_say_how_to_get_some(runs: tuple[Path, Path], tmp_path: Path) -> None:
    factory_run(tmp_path / "other", count=3, metrics=(), types=["color-tone"], per_image=1, seed=9)
    factory_run(tmp_path / "another", count=3, metrics=(), types=["zoom-in"], per_image=1, seed=9)
    with pytest.raises(StudyError, match=r"no judged edit in common; .* --reuse"):
        compare_judges(tmp_path / "other", tmp_path / "another")


def test_the_command_prints_both_tables_and_json(runs: tuple[Path, Path], tmp_path: Path) -> None:
    done = run_inside(["factory", "judges", *map(str, runs)], tmp_path, {})
    assert done.returncode == 0, done.stderr
    assert "A: scripted-judge@1, B: strict-judge@1; " in done.stdout
    assert "krippendorff alpha" in done.stdout
    assert "accepted by both" in done.stdout
    told = json.loads(run_inside(["factory", "judges", *map(str, runs), "--json"], tmp_path, {}).stdout)
    assert told["edits"] == compare_judges(*runs).edits
    assert {row["question"] for row in told["agreement"]} > {"score"}
    assert [row["attempts"] for row in told["decisions"]] == ["first", "all"]
