"""Decisions of a study: journalled in order, decided anew by a replay, and never twice."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from convergebench.engine.run import Engine
from convergebench.errors import StudyError
from convergebench.store.run import Run
from convergebench.store.verify import problems
from convergebench.types import Case, Decision, Edit, Settings, Steps
from tests.engine.parts import CASES, IMAGES, CountingEditor, begun, chains_of, query


@dataclass(frozen=True)
class Deciding:
    """Decides before, between and after its edits."""

    rounds: int
    facts: Mapping[str, Any] = field(default_factory=lambda: {"why": "it is fine", "score": 0.5})
    name: str = "deciding"
    settings: Settings = field(default_factory=Settings)

    def steps(self, case: Case) -> Steps:
        state = case.source
        yield Decision("begun", {"case": case.id})
        for number in range(1, self.rounds + 1):
            state = yield Edit(state, "go on", self.settings)
            yield Decision("kept", {**self.facts, "number": number, "state": state.id})
        yield Decision("end", {})

    def calls(self, case: Case) -> int:
        return self.rounds


def walk(root: Path, study: Deciding, editor: CountingEditor) -> None:
    with Run.create(root) as run:
        begun(run, IMAGES, CASES)
        asyncio.run(Engine(run, {editor.name: editor}).run(chains_of(CASES, study.rounds, study=study)))


def rows(root: Path) -> list[tuple[Any, ...]]:
    return query(
        root, 'select number, position, kind from decisions where "case" = (select min(id) from cases) order by 1'
    )


def test_decisions_are_rows_in_the_order_of_the_chain(tmp_path: Path) -> None:
    walk(tmp_path / "run", Deciding(2), CountingEditor())
    assert rows(tmp_path / "run") == [(1, 0, "begun"), (2, 1, "kept"), (3, 2, "kept"), (4, 2, "end")]
    ((facts,),) = query(tmp_path / "run", 'select facts from decisions where number = 2 order by "case" limit 1')
    assert json.loads(facts)["why"] == "it is fine"
    assert not [line for line in problems(tmp_path / "run") if "decision" in line]


def test_a_replay_decides_the_same_and_adds_nothing(tmp_path: Path) -> None:
    walk(tmp_path / "run", Deciding(2), CountingEditor())
    before = query(tmp_path / "run", "select * from decisions")
    editor = CountingEditor()
    walk(tmp_path / "run", Deciding(2), editor)
    assert editor.calls == 0
    assert query(tmp_path / "run", "select * from decisions") == before


@pytest.mark.parametrize("value", [object(), float("nan"), b"bytes"])
def test_facts_that_json_cannot_hold_are_told_in_one_line(tmp_path: Path, value: Any) -> None:
    with pytest.raises(StudyError, match="decides on facts that JSON cannot hold"):
        walk(tmp_path / "run", Deciding(1, {"odd": value}), CountingEditor())


def test_a_kind_is_one_word() -> None:
    with pytest.raises(StudyError, match="one short, lower-case word"):
        Decision("Two Words", {})


def test_a_decision_without_its_case_is_found(tmp_path: Path) -> None:
    walk(tmp_path / "run", Deciding(1), CountingEditor())
    with Run.create(tmp_path / "run") as run:
        run.journal._write.execute('update decisions set "case" = \'nowhere-\' || "case" where number = 1')
    assert any("decisions without their case" in line for line in problems(tmp_path / "run"))
