"""Where a study's generator ends, and what is said of errors of foreign code."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from convergebench.engine import driver
from convergebench.engine.channel import InFlight, Stopped
from convergebench.engine.driver import StudyDriver
from convergebench.engine.foreign import describe_error
from convergebench.errors import StudyError
from convergebench.types import Case, Compare, Edit
from tests.engine.parts import CASES, chains_of


@dataclass(frozen=True)
class Comparing:
    """Compares several times in a row, edits, and compares again."""

    count: int
    name: str = "comparing"

    def steps(self, case: Case) -> Iterator[Any]:
        for _ in range(2):
            for _ in range(self.count):
                yield Compare(case.source, None, "source", 0, 0)
            yield Edit(case.source, "add one")

    def calls(self, case: Case) -> int:
        return 2


def requests(study: Any) -> int:
    """How many requests a study makes until its end."""
    steps = StudyDriver(chains_of(CASES[:1], 1, study=study)[0])
    count, word = 0, steps.start()
    while word is not None:
        count, word = count + 1, steps.send(CASES[0].source if isinstance(word, Edit) else None)
    return count


def test_comparisons_in_a_row_are_bounded_and_a_call_begins_a_new_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "MOST_ROWS", 3)
    assert requests(Comparing(3)) == 8
    with pytest.raises(StudyError, match="3 comparisons or decisions in a row"):
        requests(Comparing(4))


def test_an_error_whose_message_cannot_be_read_is_named_by_its_class() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise ValueError

    assert describe_error(Mute()) == "Mute without a readable message"
    assert describe_error(ValueError()) == "ValueError"
    assert describe_error(ValueError("too small")) == "ValueError: too small"


@pytest.mark.parametrize(("raised", "expected"), [(ValueError("no"), ValueError), (asyncio.CancelledError(), Stopped)])
def test_whoever_waits_for_a_call_in_flight_gets_its_error_and_stops_if_it_was_cancelled(
    raised: BaseException, expected: type[Exception]
) -> None:
    async def both() -> tuple[Any, Any]:
        calls: InFlight[int] = InFlight()

        async def fail() -> int:
            await asyncio.sleep(0)
            raise raised

        return await asyncio.gather(calls.once("key", fail), calls.once("key", fail), return_exceptions=True)

    first, second = asyncio.run(both())
    assert isinstance(first, type(raised))
    assert isinstance(second, expected)
