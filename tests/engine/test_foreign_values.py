"""Values of foreign code that nothing can hold: one chain ends, the others go on, and what was paid is on record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from convergebench.errors import EditorError, Refused, StudyError
from convergebench.types import Case, Compare, Edit, Edited, EditRequest, Settings, Steps
from tests.engine.parts import CASES, CountingEditor, query, walk

HALF = "\ud800"


def outcomes(root: Path) -> list[tuple[Any, ...]]:
    return query(root, "select outcome, dollars from attempts order by outcome, dollars")


class Echoing(CountingEditor):
    """Repeats halves of characters wherever words go, for the first case only."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(dollars=0.5)
        self._fields = fields

    async def edit(self, request: EditRequest) -> Edited:
        edited = await super().edit(request)
        return replace(edited, **self._fields) if request.case == CASES[0].id else edited


@pytest.mark.parametrize(
    "fields",
    [{"model": HALF}, {"raw": f'{{"id": "{HALF}"}}'}, {"reasoning": HALF}, {"used": {HALF: HALF}}],
    ids=lambda fields: next(iter(fields)),
)
def test_halves_of_characters_in_an_answer_are_stored_as_question_marks(tmp_path: Path, fields: dict[str, Any]) -> None:
    summary, _, _ = walk(tmp_path / "run", Echoing(**fields), rounds=1)
    assert summary.statuses == {"finished": len(CASES)}
    assert outcomes(tmp_path / "run") == [("ok", 0.5)] * 2 * len(CASES)


@pytest.mark.parametrize(
    "error",
    [EditorError(HALF, dollars=0.5, raw=HALF), Refused(HALF, reason=HALF, dollars=0.5), ValueError(HALF)],
    ids=lambda error: type(error).__name__,
)
def test_halves_of_characters_in_an_error_end_one_chain_and_are_paid_for(tmp_path: Path, error: Exception) -> None:
    def fail(request: EditRequest) -> None:
        if request.case == CASES[0].id:
            raise error

    summary, _, _ = walk(tmp_path / "run", CountingEditor(before=fail, dollars=0.5), rounds=1)
    assert summary.statuses["finished"] == len(CASES) - 1
    paid = [dollars for outcome, dollars in outcomes(tmp_path / "run") if outcome != "ok"]
    assert paid == [0.5]


@dataclass(frozen=True)
class Odd:
    """A study whose first case yields something that no row can hold."""

    compare: Any = None
    settings: Settings | None = None
    slip: bool = False
    name: str = "odd"

    def steps(self, case: Case) -> Steps:
        edited = yield Edit(case.source, "add one", (self.settings if case == CASES[0] else None) or Settings())
        if case == CASES[0] and self.slip:
            raise KeyError("a slip")
        yield Compare(edited, case.source, "return", self.compare if case == CASES[0] and self.compare else 1, 1)

    def calls(self, case: Case) -> int:
        return 1


@pytest.mark.parametrize("number", [2**63, "first", 1.5, HALF])
def test_a_comparison_that_cannot_be_stored_ends_its_chain_alone(tmp_path: Path, number: Any) -> None:
    editor = CountingEditor(dollars=0.5)
    summary, _, progress = walk(tmp_path / "run", editor, rounds=1, study=Odd(number))
    assert summary.statuses == {"finished": len(CASES) - 1, "failed": 1}
    assert "comparisons.round cannot hold" in progress.note
    assert outcomes(tmp_path / "run") == [("ok", 0.5)] * len(CASES)


def test_a_seed_that_no_row_can_hold_ends_its_chain_before_anything_is_paid(tmp_path: Path) -> None:
    """The study file refuses such a seed; a study of somebody else's may still ask for one."""
    editor = CountingEditor(dollars=0.5)
    editor.capabilities = replace(editor.capabilities, seed=True)
    study = Odd(settings=Settings(seed=2**63, seed_policy="fixed"))
    for _ in range(3):
        summary, _, _ = walk(tmp_path / "run", editor, rounds=1, study=study)
        assert summary.statuses == {"finished": len(CASES) - 1, "failed": 1}
        assert editor.calls == len(CASES) - 1
        assert sum(dollars for _, dollars in outcomes(tmp_path / "run")) == 0.5 * editor.calls


class Warm(Edit):
    """A third party's own kind of edit."""

    __slots__ = ()


class Warming(Odd):
    """A study that yields it."""

    def steps(self, case: Case) -> Steps:
        edited = yield Warm(case.source, "add one")
        yield Compare(edited, case.source, "return", 1, 1)


def test_a_study_may_have_edits_of_its_own_kind(tmp_path: Path) -> None:
    summary, _, _ = walk(tmp_path / "run", CountingEditor(), rounds=1, study=Warming())
    assert summary.statuses == {"finished": len(CASES)}


def test_a_slip_of_a_study_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=f"^the study 'odd' failed at {CASES[0].id}: KeyError: 'a slip'$"):
        walk(tmp_path / "run", CountingEditor(), rounds=1, study=Odd(slip=True))
