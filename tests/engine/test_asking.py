"""Questions to a model are journalled like edits; a study may branch on an answer or on a refusal."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from convergebench.engine.roles import Answered
from convergebench.engine.run import Engine, Summary
from convergebench.errors import Refused, StudyError
from convergebench.store.run import Run
from convergebench.types import Ask, Case, Compare, Edit, EditRequest, Settings, Steps
from tests.engine.parts import CASES, IMAGES, CountingEditor, begun, chains_of, query


@dataclass(frozen=True)
class Judged:
    """Edit until the judge is content, three times at most; a refusal is worded more mildly."""

    name: str = "judged"

    def steps(self, case: Case) -> Steps:
        for number in range(1, 4):
            try:
                edited = yield Edit(case.source, "add one", Settings(seed=number))
            except Refused:
                edited = yield Edit(case.source, "add one, please", Settings(seed=number))
            yield Compare(edited, case.source, "return", number, number)
            verdict = yield Ask("judge", (edited, case.source), {"attempt": number})
            if verdict.value is not None and verdict.value["score"] > 0.7:
                return

    def calls(self, case: Case) -> int:
        return 3


class Judge:
    """Content at the second attempt; its first reply cannot be parsed."""

    fingerprint = "judge@1"

    def __init__(self) -> None:
        self.asked: list[Mapping[str, Any]] = []

    async def ask(self, images: tuple[bytes, ...], payload: Mapping[str, Any]) -> Answered:
        assert len(images) == 2
        self.asked.append(payload)
        if payload["attempt"] == 1:
            return Answered(None, "I would rather not say", "judge-1", dollars=0.01)
        return Answered({"score": 0.9}, '{"score": 0.9}', "judge-1", dollars=0.01)


def session(root: Path, editor: CountingEditor, roles: Mapping[str, Any], *, cases: list[Case] = CASES) -> Summary:
    with Run.create(root) as run:
        begun(run, IMAGES, cases)
        engine = Engine(run, {"counting": editor}, roles=roles)
        return asyncio.run(engine.run(chains_of(cases, 3, study=Judged())))


def test_a_study_asks_and_goes_by_the_answer(tmp_path: Path) -> None:
    editor, judge = CountingEditor(), Judge()
    assert session(tmp_path / "run", editor, {"judge": judge}).statuses == {"finished": len(CASES)}
    assert editor.calls == len(CASES) * 2, "content at the second attempt"
    assert len(judge.asked) == len(CASES) * 2


def test_answers_are_kept_and_never_asked_for_again(tmp_path: Path) -> None:
    session(tmp_path / "run", CountingEditor(), {"judge": Judge()}, cases=CASES[:2])
    editor, judge = CountingEditor(), Judge()
    session(tmp_path / "run", editor, {"judge": judge})
    assert len(judge.asked) == (len(CASES) - 2) * 2
    assert editor.calls == (len(CASES) - 2) * 2


def test_a_reply_that_cannot_be_parsed_is_kept_raw_and_has_no_value(tmp_path: Path) -> None:
    session(tmp_path / "run", CountingEditor(), {"judge": Judge()}, cases=CASES[:1])
    rows = query(tmp_path / "run", "select value, raw, model from answers order by value is not null")
    assert rows == [(None, "I would rather not say", "judge-1"), ('{"score":0.9}', '{"score": 0.9}', "judge-1")]


def test_questions_cost_money_too(tmp_path: Path) -> None:
    session(tmp_path / "run", CountingEditor(dollars=0.1), {"judge": Judge()}, cases=CASES[:1])
    with Run.create(tmp_path / "run") as run:
        assert run.journal.dollars() == pytest.approx(2 * 0.1 + 2 * 0.01)


def test_a_study_may_branch_on_a_refusal(tmp_path: Path) -> None:
    def refuse(request: EditRequest) -> None:
        if request.instruction == "add one":
            raise Refused("not like that")

    editor = CountingEditor(before=refuse)
    assert session(tmp_path / "run", editor, {"judge": Judge()}, cases=CASES[:1]).statuses == {"finished": 1}
    assert [request.instruction for request in editor.requests] == ["add one", "add one, please"] * 2


def test_a_role_that_nobody_plays_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="the study asks a 'judge', and none is configured"):
        session(tmp_path / "run", CountingEditor(), {})


def test_a_single_session_hands_the_earlier_turns_to_the_editor(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Talk:
        name: str = "talk"

        def steps(self, case: Case) -> Steps:
            state = case.source
            for _ in range(3):
                state = yield Edit(state, "add one", Settings(session="single"))

        def calls(self, case: Case) -> int:
            return 3

    editor = CountingEditor()
    with Run.create(tmp_path / "run") as run:
        begun(run, IMAGES, CASES[:1])
        asyncio.run(Engine(run, {"counting": editor}).run(chains_of(CASES[:1], 1, study=Talk())))
    assert [len(request.history) for request in editor.requests] == [0, 1, 2]
    assert editor.requests[2].history[1].image == editor.requests[1].image
