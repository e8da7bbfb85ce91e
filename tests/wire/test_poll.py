"""Looking at a task until it is done."""

from __future__ import annotations

import asyncio
import time

import pytest

from convergebench.errors import Transient
from convergebench.wire import poll
from convergebench.wire.poll import until_done


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poll, "FIRST", 0.001)
    monkeypatch.setattr(poll, "LONGEST", 0.004)


def test_it_looks_until_there_is_something() -> None:
    answers = iter([None, None, None, "done"])

    async def look() -> str | None:
        return next(answers)

    assert asyncio.run(until_done(look, seconds=5, who="it")) == "done"


def test_nothing_that_counts_as_false_is_taken_for_waiting() -> None:
    async def look() -> dict[str, str] | None:
        return {}

    assert asyncio.run(until_done(look, seconds=5, who="it")) == {}


def test_it_looks_less_often_as_time_goes_by(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def rest(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", rest)
    answers = iter([None] * 5 + ["done"])

    async def look() -> str | None:
        return next(answers)

    asyncio.run(until_done(look, seconds=5, who="it"))
    assert pauses == pytest.approx([0.001, 0.0015, 0.00225, 0.003375, 0.004])


def test_it_gives_up_in_time_and_says_what_may_have_been_paid() -> None:
    async def look() -> None:
        return None

    begun = time.monotonic()
    with pytest.raises(Transient, match=r"it is not ready after 0\.05 s") as late:
        asyncio.run(until_done(look, seconds=0.05, who="it", dollars=0.04))
    assert late.value.dollars == 0.04
    assert time.monotonic() - begun < 2


def test_what_a_look_raises_ends_the_waiting() -> None:
    async def look() -> None:
        raise Transient("gone")

    with pytest.raises(Transient, match="gone"):
        asyncio.run(until_done(look, seconds=5, who="it"))


@pytest.mark.parametrize("dollars", [0.0, 0.04])
def test_a_task_that_is_not_ready_may_still_be_charged(dollars: float) -> None:
    async def never() -> None:
        return None

    with pytest.raises(Transient) as late:
        asyncio.run(until_done(never, seconds=0.0, who="it", dollars=dollars))
    assert (late.value.dollars, late.value.unsettled) == (dollars, not dollars)
