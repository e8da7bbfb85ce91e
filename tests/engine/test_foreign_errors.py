"""Whatever a plug-in raises or yields is one line: its call is counted, and what is not its own goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from convergebench.engine.attempt import LONGEST_TEXT
from convergebench.engine.retry import RetryPolicy
from convergebench.errors import EditorError, StudyError, Transient
from convergebench.types import Capabilities, Case, Compare, Edit, Edited, EditRequest, State
from tests.engine.parts import CASES, CountingEditor, query, walk

PRICE = 0.5
QUICK = RetryPolicy(attempts=2, first_wait=0.001, longest_wait=0.001)


class Speechless(EditorError):
    def __str__(self) -> str:
        raise ValueError("nothing to say")


class Wordless(Exception):
    __str__ = Speechless.__str__


class Unwilling(str):
    """Text that cannot be written down."""

    def encode(self, *args: Any, **options: Any) -> bytes:
        raise ValueError("not me")


def outcomes(root: Path) -> list[tuple[Any, ...]]:
    return query(root, "select outcome, dollars, settled from attempts where outcome <> 'ok'")


RAISED: dict[str, Callable[[], BaseException]] = {
    "exit": lambda: SystemExit(0),
    "cancelled by nobody": asyncio.CancelledError,
    "group": lambda: BaseExceptionGroup("several", [KeyboardInterrupt()]),
    "base": lambda: BaseException("odd"),
    "recursion": RecursionError,
    "stop": StopIteration,
    "without words": Wordless,
    "study": lambda: StudyError("the answer cannot be decoded"),
    "unsettled without words": lambda: Speechless("", unsettled=True),
    "a price of many digits": lambda: EditorError("odd", dollars=10**400),
}


@pytest.mark.parametrize("kind", RAISED)
def test_anything_raised_ends_one_chain_and_counts_at_its_price(tmp_path: Path, kind: str) -> None:
    def fail(request: EditRequest) -> None:
        if request.case == CASES[0].id:
            raise RAISED[kind]()

    summary, _, progress = walk(tmp_path / "run", CountingEditor(before=fail, dollars=PRICE), rounds=1)
    assert summary.statuses == {"finished": len(CASES) - 1, "failed": 1}
    assert outcomes(tmp_path / "run") == [("error", PRICE, 0)]
    assert "\n" not in progress.note
    assert progress.failures == 1


@pytest.mark.parametrize("wish", ["soon", float("nan"), float("inf"), 10**400, b"1"])
def test_a_wish_for_a_pause_that_is_no_number_of_seconds_is_left_out(tmp_path: Path, wish: Any) -> None:
    def fail(request: EditRequest) -> None:
        if request.case == CASES[0].id:
            raise Transient("busy", retry_after=wish)

    summary, _, _ = walk(tmp_path / "run", CountingEditor(before=fail), rounds=1, retry=QUICK)
    assert summary.statuses == {"finished": len(CASES) - 1, "failed": 1}


def test_a_time_out_of_the_editors_own_is_tried_again_and_told_as_its_own(tmp_path: Path) -> None:
    def fail(request: EditRequest) -> None:
        raise TimeoutError("the upload took too long")

    _, _, progress = walk(tmp_path / "run", CountingEditor(before=fail, dollars=PRICE), rounds=1, cases=CASES[:1],
                          retry=QUICK)  # fmt: skip
    assert outcomes(tmp_path / "run") == [("transient", PRICE, 0)] * 2
    assert "the upload took too long" in progress.note


# --- answers -----------------------------------------------------------------------------------------------


class Answering(CountingEditor):
    def __init__(self, answer: Callable[[Edited], Any]) -> None:
        super().__init__(dollars=PRICE)
        self._answer = answer

    async def edit(self, request: EditRequest) -> Edited:
        edited = await super().edit(request)
        return self._answer(edited) if request.case == CASES[0].id else edited


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda edited: None, "the editor answered with a NoneType instead of Edited"),
        (lambda edited: edited.image, "the editor answered with a bytes"),
        (lambda edited: replace(edited, dollars=10**400), "the editor says that the call cost"),
        (lambda edited: replace(edited, model=Unwilling("x")), "ValueError: not me"),
        (lambda edited: replace(edited, reasoning=Unwilling("x")), "ValueError: not me"),
    ],
)
def test_an_answer_that_is_none_counts_at_its_price(tmp_path: Path, answer: Any, message: str) -> None:
    summary, _, progress = walk(tmp_path / "run", Answering(answer), rounds=1)
    assert summary.statuses == {"finished": len(CASES) - 1, "failed": 1}
    assert outcomes(tmp_path / "run") == [("error", PRICE, 0)]
    assert message in progress.note


def test_texts_are_kept_up_to_a_length(tmp_path: Path) -> None:
    long = "x" * (3 * LONGEST_TEXT)
    walk(tmp_path / "run", Answering(lambda edited: replace(edited, model=long, raw=long, reasoning=long)), rounds=1)
    lengths = query(tmp_path / "run", "select max(length(model)), max(length(raw)) from attempts")
    lengths += query(tmp_path / "run", "select max(length(reasoning)) from steps")
    assert all(LONGEST_TEXT <= length < LONGEST_TEXT + 100 for row in lengths for length in row)


def test_settings_that_are_too_long_to_keep_end_the_chain_and_are_paid_for(tmp_path: Path) -> None:
    used = {"noise": "x" * (2 * LONGEST_TEXT)}
    walk(tmp_path / "run", Answering(lambda edited: replace(edited, used=used)), rounds=1)
    assert outcomes(tmp_path / "run") == [("error", PRICE, 1)]


# --- prices ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("price", [float("nan"), float("inf"), -1.0, "free", 10**400])
def test_a_price_that_is_no_amount_is_refused_before_the_first_call(tmp_path: Path, price: Any) -> None:
    """Not a number is neither below nor above any limit, so that one such price would lift the limit for all."""
    editor = CountingEditor()
    editor.capabilities = Capabilities(dollars_per_call=price)
    with pytest.raises(StudyError, match=r"^counting says that a call costs .* dollars; a price is 0 or more"):
        walk(tmp_path / "run", editor, max_cost=1.0)
    assert editor.calls == 0


# --- studies -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Yielding:
    """A study that says odd things after its first edit."""

    words: Any
    name: str = "odd"

    def steps(self, case: Case) -> Any:
        return self.words(case)

    def calls(self, case: Case) -> int:
        return 1


def one_word(word: Callable[[Case], Any]) -> Callable[[Case], Any]:
    def steps(case: Case) -> Any:
        yield word(case)

    return steps


def leaving(case: Case) -> Any:
    yield Edit(case.source, "add one")
    raise SystemExit(0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (lambda case: [Edit(case.source, "add one")], "TypeError: steps() returned a list instead of a generator"),
        (lambda case: None, "TypeError: steps() returned a NoneType"),
        (lambda case: 1 / 0, "ZeroDivisionError: division by zero"),
        (
            one_word(lambda case: None),
            "TypeError: it yielded a NoneType instead of an Edit, Ask, Compare or Decision",
        ),
        (one_word(lambda case: "add one"), "TypeError: it yielded a str"),
        (one_word(lambda case: Edit("here", "add one")), "TypeError: state of its Edit is a str"),  # type: ignore[arg-type]
        (one_word(lambda case: Edit(case.source, None)), "TypeError: instruction of its Edit is a NoneType"),  # type: ignore[arg-type]
        (one_word(lambda case: Compare("a", None, "return", 1, 1)), "TypeError: subject of its Compare is a str"),  # type: ignore[arg-type]
        (one_word(lambda case: Edit(State("x", "i1:none"), "add one")), "image i1:none is not in"),
        (leaving, "SystemExit: 0"),
    ],
)
def test_an_odd_word_of_a_study_is_one_line(tmp_path: Path, words: Any, message: str) -> None:
    with pytest.raises(StudyError) as caught:
        walk(tmp_path / "run", CountingEditor(dollars=PRICE), rounds=1, study=Yielding(words))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_study_that_slips_while_it_is_closed_takes_nothing_away(tmp_path: Path) -> None:
    def clinging(case: Case) -> Any:
        try:
            yield Edit(case.source, "add one")
        finally:
            yield Edit(case.source, "add one")

    def refuse(request: EditRequest) -> None:
        raise EditorError("no", dollars=PRICE)

    summary, _, _ = walk(
        tmp_path / "run", CountingEditor(before=refuse, dollars=PRICE), rounds=1, study=Yielding(clinging)
    )
    assert summary.statuses == {"failed": len(CASES)}
