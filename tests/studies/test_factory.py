"""The factory as a specification: what it asks, edits and decides, told by scripted answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.documents import check_document
from convergebench.edits.taxonomy import taxonomy
from convergebench.errors import Refused, StudyError
from convergebench.studies.factory import Factory
from convergebench.studies.factory_table import CRITERIA, FactoryTable, Weights
from convergebench.types import Ask, Case, Compare, Decision, Edit, Reply, Settings, SourceImage, State

GOOD, BAD = dict.fromkeys(CRITERIA, 0.9), dict.fromkeys(CRITERIA, 0.4)


@dataclass
class Script:
    """Answers a factory's words as told, and keeps them."""

    judged: Callable[[int], dict[str, Any] | None] = lambda number: {**GOOD, "reason": "fine"}
    content: dict[str, Any] | None = field(default_factory=lambda: {"person": 1, "text": 0, "seen": "a man"})
    quality: float = 1.0
    refuses: frozenset[int] = frozenset()
    prompts: list[str] = field(default_factory=lambda: ["Add a red   cup\non the table."])
    asked: list[Ask] = field(default_factory=list)
    edited: list[Edit] = field(default_factory=list)
    decided: list[Decision] = field(default_factory=list)
    compared: list[Compare] = field(default_factory=list)

    def walk(self, study: Factory, case: Case) -> Script:
        steps = study.steps(case)
        word = next(steps)
        try:
            while True:
                if isinstance(word, Edit):
                    self.edited.append(word)
                    if len(self.edited) in self.refuses:
                        word = steps.throw(Refused("no", reason="policy"))
                        continue
                    answer: Any = State(f"s{len(self.edited)}", f"i{len(self.edited)}")
                elif isinstance(word, Ask):
                    self.asked.append(word)
                    answer = Reply(f"a{len(self.asked)}", self._reply(word), "")
                else:
                    (self.decided if isinstance(word, Decision) else self.compared).append(word)  # type: ignore[arg-type]
                    answer = None
                word = steps.send(answer)
        except StopIteration:
            return self

    def _reply(self, ask: Ask) -> Any:
        rubric = ask.payload["rubric"]
        if rubric == "judge-edit":
            return self.judged(self.count("judge-edit"))
        return {
            "find-content": self.content,
            "write-instruction": {"prompts": self.prompts},
            "write-next-instruction": {"prompts": ["Now paint it blue."]},
            "rewrite-instruction": {"short": "add a cup"},
            "judge-two-edits": {"better": 0.8, "reason": "first"},
            "inspect-quality": {"quality": self.quality, "damage": []},
        }[rubric]

    def count(self, rubric: str) -> int:
        return sum(ask.payload["rubric"] == rubric for ask in self.asked)

    def facts(self, kind: str) -> list[dict[str, Any]]:
        return [dict(one.facts) for one in self.decided if one.kind == kind]


def image(name: str, kind: str = "scene", holds: tuple[str, ...] | None = ()) -> SourceImage:
    return SourceImage(name, kind, "0" * 64, 64, 64, "CC0-1.0", "ours", lambda: b"", holds=holds)


def made(**parameters: Any) -> Factory:
    return Factory.of(check_document({"sessions": 0, **parameters}, FactoryTable, where="[factory]"), Settings())


def case_of(study: Factory, label: str = "add-object", shows: str = "") -> Case:
    one = taxonomy()[label]
    return Case(f"img/{label}/0", State("s0", "i0"), "img", "scene", label=label, category=one.category, shows=shows)


def laid_out(study: Factory, *images: SourceImage) -> list[Case]:
    return study.cases([(one, State(f"i1:{one.id}", f"i1:{one.id}")) for one in images], ())


def test_an_accepted_edit_ends_the_case() -> None:
    script = Script().walk(made(), case_of(made()))
    assert [ask.role for ask in script.asked] == ["writer", "rewriter", "judge"]
    assert script.facts("instruction")[0]["long"] == "Add a red cup on the table."
    assert script.facts("instruction")[0]["short"] == "add a cup"
    (attempt,) = script.facts("attempt")
    assert attempt["accepted"]
    assert attempt["score"] == pytest.approx(0.9)
    assert script.facts("end") == [
        {"outcome": "accepted", "ended": "accepted", "turns_planned": 1, "turns_done": 1, "turns_fit": 1,
         "edit_type": "add-object"}
    ]  # fmt: skip


def test_the_judge_sees_the_edited_picture_first_and_then_the_input() -> None:
    script = Script().walk(made(), case_of(made()))
    (judged,) = [ask for ask in script.asked if ask.role == "judge"]
    assert [state.id for state in judged.states] == ["s1", "s0"]
    assert "«Add a red cup on the table.»" in judged.payload["text"]


def test_a_failed_edit_is_tried_again_from_the_same_picture_and_kept() -> None:
    script = Script(judged=lambda number: BAD if number < 3 else GOOD).walk(made(), case_of(made()))
    assert [(edit.state.id, edit.draw) for edit in script.edited] == [("s0", 0), ("s0", 1), ("s0", 2)]
    assert [one["accepted"] for one in script.facts("attempt")] == [False, False, True]
    assert [one["state"] for one in script.facts("attempt")] == ["s1", "s2", "s3"]


def test_three_failures_discard_the_case() -> None:
    script = Script(judged=lambda number: BAD).walk(made(), case_of(made()))
    assert len(script.edited) == 3
    assert script.facts("end")[0]["outcome"] == "discarded"


def test_the_threshold_itself_is_not_enough() -> None:
    script = Script(judged=lambda number: dict.fromkeys(CRITERIA, 0.7)).walk(
        made(threshold=0.7, attempts=1), case_of(made())
    )
    assert script.facts("attempt")[0]["accepted"] is False


def test_an_edit_that_does_next_to_nothing_can_be_rejected_whatever_its_score() -> None:
    weak = {**dict.fromkeys(CRITERIA, 1.0), "instruction_compliance": 0.3}
    lenient = Script(judged=lambda number: weak).walk(made(attempts=1), case_of(made()))
    assert lenient.facts("attempt")[0]["score"] == pytest.approx(0.72)
    assert lenient.facts("attempt")[0]["accepted"]
    strict = Script(judged=lambda number: weak).walk(made(attempts=1, least_compliance=0.5), case_of(made()))
    assert not strict.facts("attempt")[0]["accepted"]


def test_a_refused_edit_is_a_failed_attempt_with_its_reason() -> None:
    script = Script(refuses=frozenset({1})).walk(made(), case_of(made()))
    assert script.facts("attempt")[0] | {"refused": ""} == {
        "turn": 1, "attempt": 1, "edit_type": "add-object", "position": 1, "accepted": False, "refused": ""
    }  # fmt: skip
    assert script.facts("attempt")[1]["accepted"]
    assert script.facts("attempt")[1]["position"] == 2


def test_weights_count_as_the_paper_says_and_are_scaled() -> None:
    scores = {"instruction_compliance": 1.0, "seamlessness": 0.0, "preservation_balance": 0.5, "technical_quality": 0.0}
    assert Weights().score(scores) == pytest.approx(0.4 + 0.1)
    assert Weights(instruction_compliance=4, seamlessness=2.5, preservation_balance=2, technical_quality=1.5).score(
        scores
    ) == pytest.approx(0.5)


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_a_score_lies_between_the_worst_and_the_best_criterion(values: list[float]) -> None:
    score = Weights().score(dict(zip(CRITERIA, values, strict=True)))
    assert min(values) - 1e-9 <= score <= max(values) + 1e-9


def test_an_unparsable_judge_is_asked_again_and_then_counts_as_no_judgement() -> None:
    script = Script(judged=lambda number: None).walk(made(attempts=1, reasked=2), case_of(made()))
    judged = [ask for ask in script.asked if ask.role == "judge"]
    assert [ask.draw for ask in judged] == [0, 1, 2]
    (attempt,) = script.facts("attempt")
    assert attempt["score"] is None
    assert attempt["asked"] == 3
    assert not attempt["accepted"]


def test_repeated_judgements_are_separate_questions_and_their_spread_is_kept() -> None:
    script = Script(judged=lambda number: dict.fromkeys(CRITERIA, 0.6 + 0.2 * (number % 2))).walk(
        made(judged=2, reasked=1, attempts=1), case_of(made())
    )
    assert [ask.draw for ask in script.asked if ask.role == "judge"] == [0, 2]
    (attempt,) = script.facts("attempt")
    assert attempt["scores"] == pytest.approx([0.8, 0.6])
    assert attempt["score"] == pytest.approx(0.7)
    assert attempt["spread"] == pytest.approx(0.1)


@pytest.mark.parametrize("prompts", [["  "], [], ["long " * 500]])
def test_a_writer_without_an_instruction_is_asked_again_and_then_nothing_is_edited(prompts: list[str]) -> None:
    script = Script(prompts=prompts).walk(made(reasked=2), case_of(made()))
    assert [ask.draw for ask in script.asked] == [0, 1, 2]
    assert script.edited == []
    assert script.facts("end")[0]["outcome"] == "unwritten"


def test_pairs_are_judged_in_both_orders() -> None:
    script = Script(judged=lambda number: BAD if number == 1 else GOOD).walk(made(pairwise=True), case_of(made()))
    both = [ask for ask in script.asked if ask.payload["rubric"] == "judge-two-edits"]
    assert [[state.id for state in ask.states] for ask in both] == [["s2", "s1", "s0"], ["s1", "s2", "s0"]]
    (pair,) = script.facts("pair")
    assert pair["chosen_first"] == pytest.approx(0.8)
    assert pair["chosen_second"] == pytest.approx(0.2)  # the judge preferred whatever came first


def test_a_type_that_needs_a_person_looks_for_one_first() -> None:
    case = case_of(made(), "expression")
    there = Script(content={"person": 1, "text": 0, "seen": ""}).walk(made(), case)
    assert there.asked[0].role == "detector"
    assert there.facts("filtered") == []
    gone = Script(content={"person": 0, "text": 0, "seen": ""}).walk(made(), case)
    (filtered,) = gone.facts("filtered")
    assert filtered["needs"] == "person"
    assert taxonomy()[filtered["instead"]].needs is None
    assert gone.facts("attempt")[0]["edit_type"] == filtered["instead"]


def test_an_unparsable_detector_is_no_person() -> None:
    script = Script(content=None).walk(made(), case_of(made(), "expression"))
    assert script.facts("filtered")


def test_what_the_suite_says_is_not_asked() -> None:
    script = Script().walk(made(), case_of(made(), "expression", shows="person"))
    assert "detector" not in {ask.role for ask in script.asked}


def test_people_only_types_go_to_people_only() -> None:
    study = made(per_image=35)
    cases = laid_out(study, image("face", "face"), image("room", holds=("chair",)), image("own", holds=None))
    of = {name: {case.label for case in cases if case.source_id == name} for name in ("face", "room", "own")}
    assert "expression" in of["face"] & of["own"]
    assert not {label for label in of["room"] if taxonomy()[label].needs == "person"}
    assert len(of["face"]) == len(of["own"]) == 35


def test_types_are_dealt_evenly_and_more_images_change_nothing_before_them() -> None:
    study = made(per_image=2)
    faces = [image(f"f{number}", "face") for number in range(70)]
    cases = laid_out(study, *faces)
    counts = Counter(case.label for case in cases)
    assert set(counts.values()) == {4}
    assert len(counts) == 35
    assert laid_out(study, *faces[:30]) == cases[:60]


def test_a_session_goes_on_from_the_accepted_picture_with_its_history() -> None:
    study = made(sessions=1, turns=[3, 3])
    script = Script(judged=lambda number: BAD if number == 1 else GOOD).walk(study, case_of(study))
    assert [edit.state.id for edit in script.edited] == ["s0", "s0", "s2", "s3"]
    second = next(ask for ask in script.asked if ask.payload["rubric"] == "write-next-instruction")
    assert "1. Add a red cup on the table." in second.payload["text"]
    assert second.states[0].id == "s2"
    types = [one["edit_type"] for one in script.facts("instruction")]
    assert len(set(types)) == 3
    assert script.facts("end")[0]["turns_done"] == 3
    assert [one.step for one in script.compared if one.role == "return"] == [2, 3, 4]


def test_a_session_whose_quality_falls_is_stopped() -> None:
    study = made(sessions=1, turns=[4, 4], least_quality=0.5)
    script = Script(quality=0.4).walk(study, case_of(study))
    assert len(script.edited) == 1
    (end,) = script.facts("end")
    assert (end["ended"], end["turns_done"], end["turns_fit"]) == ("damaged", 1, 0)


def test_a_session_without_a_gate_asks_no_inspector() -> None:
    study = made(sessions=1, turns=[2, 2], least_quality=0)
    script = Script(quality=0.0).walk(study, case_of(study))
    assert script.count("inspect-quality") == 0
    assert len(script.edited) == 2


def test_about_the_asked_share_becomes_sessions_of_every_length() -> None:
    study = made(sessions=0.25)
    case = case_of(study)
    turns = Counter(study.turns_of(replace(case, id=f"img-{number}/add-object/0")) for number in range(2000))
    assert sum(count for length, count in turns.items() if length > 1) == pytest.approx(500, abs=80)
    assert set(turns) == {1, 2, 3, 4, 5}


@given(st.integers(0, 10_000), st.lists(st.booleans(), min_size=60, max_size=60), st.booleans(), st.integers(1, 3))
def test_no_case_takes_more_than_was_forecast(number: int, good: list[bool], pairwise: bool, judged: int) -> None:
    study = made(sessions=0.5, pairwise=pairwise, judged=judged)
    case = replace(case_of(study, "expression"), id=f"img{number}/expression/0")
    script = Script(judged=lambda n: GOOD if good[n % 60] else BAD).walk(study, case)
    assert len(script.edited) <= study.calls(case)
    for role, most in study.questions(case).items():
        assert sum(ask.role == role for ask in script.asked) <= most, role


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"types": ["add-objekt"]}, "add-object"),
        ({"threshold": 1.0}, "threshold"),
        ({"turns": [5, 2]}, "smallest number of turns"),
        ({"weights": dict.fromkeys(CRITERIA, 0)}, "all weights are 0"),
    ],
)
def test_wrong_parameters_are_told_in_one_line(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=message) as error:
        made(**parameters)
    assert "\n" not in str(error.value)
