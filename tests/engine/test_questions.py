"""Questions to a model are journalled like edits; a study may branch on an answer or on a refusal."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchmarks.virtual_time import run_virtually
from convergebench.conductor import run_chains
from convergebench.engine.run import Engine, RunSummary
from convergebench.errors import Refused, StudyError, Transient, Unavailable
from convergebench.roles.base import Answered, Role
from convergebench.store.run import Run
from convergebench.types import Ask, Case, Compare, Edit, EditRequest, Limits, Settings, Steps
from tests.engine.parts import CASES, FOUR_AT_ONCE, IMAGES, CountingEditor, begun, case_of, chains_of, query


@dataclass(frozen=True)
class Judged:
    """Edit until the judge is content, three times at most; a refusal is worded more mildly."""

    name: str = "judged"
    roles = ("judge",)

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
        return 6


class Judge(Role):
    """Content at the second attempt; its first reply cannot be parsed."""

    fingerprint = "judge@1"

    def __init__(self) -> None:
        self.asked: list[Mapping[str, Any]] = []

    async def ask(self, images: tuple[bytes, ...], payload: Mapping[str, Any], *, repeat: int = 0) -> Answered:
        assert len(images) == 2
        self.asked.append(payload)
        if payload["attempt"] == 1:
            return Answered(None, "I would rather not say", "judge-1", dollars=0.01)
        return Answered({"score": 0.9}, '{"score": 0.9}', "judge-1", dollars=0.01)


def session(root: Path, editor: CountingEditor, roles: Mapping[str, Any], *, cases: list[Case] = CASES) -> RunSummary:
    with Run.create(root) as run:
        begun(run, IMAGES, cases)
        return run_chains(run, {"counting": editor}, chains_of(cases, 3, study=Judged()), roles=roles)


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


def test_a_chain_that_goes_on_takes_the_answers_it_has_as_they_were(tmp_path: Path) -> None:
    class Grading(Judge):
        async def ask(self, images: tuple[bytes, ...], payload: Mapping[str, Any], *, repeat: int = 0) -> Answered:
            self.asked.append(payload)
            score = 0.3 * payload["attempt"]
            return Answered({"score": score}, f"{score}", "judge-1")

    def breaks_once(request: EditRequest) -> None:
        if request.settings.seed == 3:
            raise ValueError("a slip")

    first = session(tmp_path / "run", CountingEditor(before=breaks_once), {"judge": Grading()}, cases=CASES[:1])
    assert first.statuses == {"failed": 1}
    editor, judge = CountingEditor(), Grading()
    assert session(tmp_path / "run", editor, {"judge": judge}, cases=CASES[:1]).statuses == {"finished": 1}
    assert editor.calls == 1
    assert [asked["attempt"] for asked in judge.asked] == [3]
    values = query(tmp_path / "run", "select value from answers order by raw")
    assert [json.loads(value)["score"] for (value,) in values] == pytest.approx([0.3, 0.6, 0.9])


def test_another_judge_is_asked_about_chains_that_were_finished_too(tmp_path: Path) -> None:
    class Stricter(Judge):
        fingerprint = "judge@2"

    session(tmp_path / "run", CountingEditor(), {"judge": Judge()}, cases=CASES[:2])
    editor, judge = CountingEditor(), Stricter()
    session(tmp_path / "run", editor, {"judge": judge})
    assert len(judge.asked) == len(CASES) * 2, "no verdict of the first judge stands beside one of the second"
    assert editor.calls == (len(CASES) - 2) * 2, "pictures do not depend on the judge"


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


def test_a_role_that_nobody_plays_is_one_line_before_the_first_call(tmp_path: Path) -> None:
    editor = CountingEditor()
    with pytest.raises(StudyError, match="the study asks a 'judge', but none is configured"):
        session(tmp_path / "run", editor, {})
    assert editor.calls == 0


def test_a_role_that_goes_away_for_good_stops_its_chains_and_is_not_asked_again(tmp_path: Path) -> None:
    def gone(number: int) -> None:
        raise Unavailable("the model is gone")

    judge = Scripted(gone, limits=Limits(at_once=1))
    summary, _, rows = judged(tmp_path / "run", judge)
    assert len(judge.begun) == 1
    assert rows == [("unavailable", "the model is gone", 0.0)]
    assert summary.stopped == "judge: the model is gone"
    assert summary.statuses == {"stopped": 1, "open": len(CASES) - 1}


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
        run_chains(run, {"counting": editor}, chains_of(CASES[:1], 1, study=Talk()))
    assert [len(request.history) for request in editor.requests] == [0, 1, 2]
    assert editor.requests[2].history[1].image == editor.requests[1].image


# --- the same rules as for editors -----------------------------------------------------------------------


class Scripted(Role):
    """Does what the test says at each call; virtual seconds pass."""

    fingerprint = "scripted@1"
    about = "scripted"

    def __init__(
        self,
        before: Callable[[int], None] = lambda number: None,
        *,
        limits: Limits = FOUR_AT_ONCE,
        dollars: float | None = 0.0,
        seconds: float = 0.0,
    ) -> None:
        self.limits, self.dollars_per_call = limits, dollars
        self.begun: list[float] = []
        self.in_flight = self.most_in_flight = 0
        self._before, self._seconds = before, seconds

    async def ask(self, images: tuple[bytes, ...], payload: Mapping[str, Any], *, repeat: int = 0) -> Answered:
        self.begun.append(asyncio.get_running_loop().time())
        number = len(self.begun)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self._seconds)
            self._before(number)
        finally:
            self.in_flight -= 1
        return Answered({"score": 0.9}, '{"score":0.9}', "scripted-1", dollars=self.dollars_per_call or 0.0)


def judged(
    root: Path, judge: Role, *, cases: list[Case] = CASES, **options: Any
) -> tuple[RunSummary, float, list[tuple[Any, ...]]]:
    """(summary, virtual seconds, attempts of the judge)."""
    with Run.create(root) as run:
        begun(run, IMAGES, cases)
        engine = Engine(run, {"counting": CountingEditor()}, roles={"judge": judge}, **options)
        summary, seconds = run_virtually(engine.run(chains_of(cases, 3, study=Judged())))
    rows = query(root, "select outcome, error, dollars from attempts where editor = 'role:judge' order by attempt")
    return summary, seconds, rows


def test_a_passing_error_is_tried_again_and_every_attempt_is_a_row(tmp_path: Path) -> None:
    def busy(number: int) -> None:
        if number < 3:
            raise Transient("503", dollars=0.01)

    judge = Scripted(busy)
    summary, _, rows = judged(tmp_path / "run", judge, cases=CASES[:1])
    assert summary.statuses == {"finished": 1}
    assert len(judge.begun) == 3
    assert rows == [("transient", "503", 0.01), ("transient", "503", 0.01), ("ok", "", 0.0)]
    with Run.create(tmp_path / "run") as run:
        assert run.journal.dollars() == pytest.approx(0.02)


def test_retry_after_is_honoured_for_every_question_of_the_role(tmp_path: Path) -> None:
    def busy(number: int) -> None:
        if number == 1:
            raise Transient("429", retry_after=40.0)

    judge = Scripted(busy, limits=Limits(at_once=1))
    summary, seconds, _ = judged(tmp_path / "run", judge)
    assert summary.statuses == {"finished": len(CASES)}
    assert judge.begun[1] >= 40.0
    assert 40.0 <= seconds < 45.0


def test_a_role_that_stays_down_fails_the_step_which_the_next_run_tries_again(tmp_path: Path) -> None:
    def down(number: int) -> None:
        raise Transient("connection refused")

    summary, _, rows = judged(tmp_path / "run", Scripted(down), cases=CASES[:1])
    assert summary.statuses == {"failed": 1}
    assert len(rows) == 5
    assert judged(tmp_path / "run", Scripted(), cases=CASES[:1])[0].statuses == {"finished": 1}


def test_no_more_questions_at_once_and_per_minute_than_the_role_can_take(tmp_path: Path) -> None:
    cases = [case_of(IMAGES[0], replicate) for replicate in range(12)]
    judge = Scripted(limits=Limits(at_once=3), seconds=10.0)
    _, seconds, _ = judged(tmp_path / "at-once", judge, cases=cases)
    assert judge.most_in_flight == 3
    assert seconds == pytest.approx(40.0, abs=1.0)
    paced = Scripted(limits=Limits(at_once=12, per_minute=6))
    judged(tmp_path / "paced", paced, cases=cases)
    assert [later - sooner for sooner, later in zip(paced.begun, paced.begun[1:], strict=False)] == [10.0] * 11


def test_a_question_that_hangs_is_given_up_and_put_again(tmp_path: Path) -> None:
    class Hanging(Scripted):
        async def ask(self, images: tuple[bytes, ...], payload: Mapping[str, Any], *, repeat: int = 0) -> Answered:
            if not self.begun:
                self.begun.append(0.0)
                await asyncio.sleep(1e6)
            return await super().ask(images, payload, repeat=repeat)

    summary, seconds, rows = judged(
        tmp_path / "run", Hanging(limits=Limits(seconds=30.0), dollars=0.5), cases=CASES[:1]
    )
    assert summary.statuses == {"finished": 1}
    assert 30.0 <= seconds < 35.0
    assert rows == [("transient", "no answer within 30 s", 0.5), ("ok", "", 0.5)]


def test_the_budget_is_asked_before_the_question_is(tmp_path: Path) -> None:
    judge = Scripted(dollars=1.0, limits=Limits(at_once=1))
    summary, _, _ = judged(tmp_path / "run", judge, max_cost=2.5)
    assert len(judge.begun) == 2
    assert summary.statuses == {"finished": 2, "stopped": len(CASES) - 2}


def test_a_limit_on_cost_needs_a_price(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="--max-cost cannot be kept: the price of the judge is unknown"):
        judged(tmp_path / "run", Scripted(dollars=None), max_cost=5.0)
    assert judged(tmp_path / "free", Scripted(dollars=None))[0].statuses == {"finished": len(CASES)}


def test_a_role_that_refuses_gives_no_value_and_is_not_asked_again(tmp_path: Path) -> None:
    def refuse(number: int) -> None:
        raise Refused("not this picture", reason="safety", dollars=0.1)

    judge = Scripted(refuse)
    summary, _, rows = judged(tmp_path / "run", judge, cases=CASES[:1])
    assert summary.statuses == {"finished": 1}, "whether the chain goes on is the study's choice, not the judge's"
    assert rows == [("refused", "not this picture", 0.1)] * 3
    assert query(tmp_path / "run", "select distinct value, raw from answers") == [(None, "safety: not this picture")]
    with Run.create(tmp_path / "run") as run:
        assert run.journal.dollars() == pytest.approx(0.3)


def test_a_slip_of_a_role_fails_its_step_and_too_many_end_the_line(tmp_path: Path) -> None:
    def slip(number: int) -> None:
        raise ValueError("a slip")

    cases = [case_of(IMAGES[0], replicate) for replicate in range(40)]
    judge = Scripted(slip, limits=Limits(at_once=1))
    summary, _, rows = judged(tmp_path / "run", judge, cases=cases)
    assert len(judge.begun) == 25
    assert summary.statuses == {"failed": 25, "open": 15}
    assert summary.stopped == "judge failed 25 times in a row (last: ValueError: a slip)"
    assert rows[0] == ("error", "ValueError: a slip", 0.0)


def test_a_stop_lets_questions_in_flight_come_home_and_begins_no_other(tmp_path: Path) -> None:
    judge = Scripted(seconds=10.0, limits=Limits(at_once=1))

    async def stopped(engine: Engine) -> RunSummary:
        work = asyncio.ensure_future(engine.run(chains_of(CASES, 3, study=Judged())))
        await asyncio.sleep(5.0)
        engine.stop("Ctrl-C")
        return await work

    with Run.create(tmp_path / "run") as run:
        begun(run, IMAGES, CASES)
        engine = Engine(run, {"counting": CountingEditor()}, roles={"judge": judge})
        summary, seconds = run_virtually(stopped(engine))
    assert len(judge.begun) == 1
    assert seconds == pytest.approx(10.0, abs=0.1)
    assert query(tmp_path / "run", "select count(*) from answers") == [(1,)]
    assert summary.stopped == "Ctrl-C"
