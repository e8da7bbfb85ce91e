"""Who shares a call with whom, and what becomes of those who leave. No model is needed for that."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from convergebench.editors.composite.base import adding_cost
from convergebench.editors.diffusers.batcher import Batcher
from convergebench.errors import Transient


class Work:
    """Doubles numbers, remembers its batches, and waits at a door if there is one."""

    def __init__(self, door: threading.Event | None = None) -> None:
        self.batches: list[list[int]] = []
        self.threads: set[int] = set()
        self.door = door

    def __call__(self, items: Sequence[int]) -> list[int | Exception]:
        self.batches.append(list(items))
        self.threads.add(threading.get_ident())
        if self.door is not None:
            assert self.door.wait(5)
        return [2 * item for item in items]


def ask(batcher: Batcher[int, int], *items: int, key: Callable[[int], object] = lambda item: 0) -> list[int]:
    async def batch_size() -> list[int]:
        answers = await asyncio.gather(*(batcher.ask(key(item), item) for item in items))
        await batcher.close()
        return list(answers)

    return asyncio.run(batch_size())


def test_those_who_wait_together_go_together() -> None:
    work = Work()
    assert ask(Batcher(work, most=4), 1, 2, 3, 4, 5) == [2, 4, 6, 8, 10]
    assert work.batches == [[1, 2, 3, 4], [5]]


def test_only_the_alike_share_a_call_and_the_oldest_goes_first() -> None:
    work = Work()
    ask(Batcher(work, most=4), 1, 2, 3, 4, 5, key=lambda item: item % 2)
    assert work.batches == [[1, 3, 5], [2, 4]]


def test_one_at_a_time_does_not_linger() -> None:
    work = Work()
    ask(Batcher(work, most=1, linger=60), 1, 2)
    assert work.batches == [[1], [2]]


def test_latecomers_are_waited_for() -> None:
    work = Work()
    batcher = Batcher(work, most=2, linger=5)

    async def late() -> None:
        first = asyncio.create_task(batcher.ask(0, 1))
        await asyncio.sleep(0.05)
        assert await batcher.ask(0, 2) == 4
        assert await first == 2

    asyncio.run(late())
    assert work.batches == [[1, 2]]


def test_work_is_done_in_one_thread_that_is_not_the_loop() -> None:
    work = Work()
    ask(Batcher(work, most=1), 1, 2, 3)
    assert len(work.threads) == 1
    assert threading.get_ident() not in work.threads


def test_a_cancelled_request_drops_out_of_the_queue() -> None:
    door = threading.Event()
    work = Work(door)
    batcher = Batcher(work, most=1)

    async def leave() -> list[int]:
        tasks = [asyncio.create_task(batcher.ask(0, item)) for item in (1, 2, 3)]
        while not work.batches:
            await asyncio.sleep(0.001)
        tasks[1].cancel()
        await asyncio.sleep(0)
        door.set()
        return [await tasks[0], await tasks[2]]

    assert asyncio.run(leave()) == [2, 6]
    assert work.batches == [[1], [3]]


def test_a_request_cancelled_in_the_middle_of_its_batch_takes_nothing_from_the_others() -> None:
    door = threading.Event()
    work = Work(door)
    batcher = Batcher(work, most=2)

    async def leave() -> int:
        tasks = [asyncio.create_task(batcher.ask(0, item)) for item in (1, 2)]
        while not work.batches:
            await asyncio.sleep(0.001)
        tasks[0].cancel()
        door.set()
        return await tasks[1]

    assert asyncio.run(leave()) == 4


def test_an_error_is_everybodys_and_the_next_call_goes_well() -> None:
    failing = [True]

    def work(items: Sequence[int]) -> list[int | Exception]:
        if failing.pop() if failing else False:
            raise RuntimeError("no luck")
        return list(items)

    batcher: Batcher[int, int] = Batcher(work, most=2)

    async def three() -> list[int | BaseException]:
        first = await asyncio.gather(batcher.ask(0, 1), batcher.ask(0, 2), return_exceptions=True)
        return [*first, await batcher.ask(0, 3)]

    one, two, three_ = asyncio.run(three())
    assert [str(one), str(two), three_] == ["no luck", "no luck", 3]


def test_one_of_a_batch_may_be_refused() -> None:
    batcher: Batcher[int, int] = Batcher(lambda items: [ValueError("odd") if i % 2 else i for i in items], most=2)

    async def two() -> list[int | BaseException]:
        return list(await asyncio.gather(batcher.ask(0, 1), batcher.ask(0, 2), return_exceptions=True))

    odd, even = asyncio.run(two())
    assert (str(odd), even) == ("odd", 2)


@pytest.mark.parametrize("loops", [2])
def test_it_outlives_an_event_loop(loops: int) -> None:
    work = Work()
    batcher = Batcher(work, most=2)
    for _ in range(loops):
        assert ask(batcher, 1, 2) == [2, 4]


def test_a_loop_that_ends_in_the_middle_leaves_nobody_waiting() -> None:
    door = threading.Event()
    batcher = Batcher(Work(door), most=1)

    async def give_up() -> None:
        await asyncio.wait_for(asyncio.gather(batcher.ask(0, 1), batcher.ask(0, 2)), 0.05)

    with pytest.raises(TimeoutError):
        asyncio.run(give_up())
    door.set()
    assert ask(batcher, 4) == [8]


def test_an_error_of_all_carries_the_price_of_each() -> None:
    """Whoever was charged for an earlier part of the call writes it into the error, which must not be the others'."""

    def work(items: Sequence[int]) -> list[int | Exception]:
        raise Transient("busy", retry_after=2)

    batcher: Batcher[int, int] = Batcher(work, most=3)

    async def paying(item: int) -> int:
        with adding_cost(0.04):
            return await batcher.ask(0, item)

    async def all_of_them() -> list[Any]:
        return list(await asyncio.gather(*map(paying, range(3)), return_exceptions=True))

    errors = asyncio.run(all_of_them())
    assert [(str(error), error.retry_after, error.dollars) for error in errors] == [("busy", 2, 0.04)] * 3


def test_too_few_answers_leave_nobody_waiting() -> None:
    batcher: Batcher[int, int] = Batcher(lambda items: list(items)[1:], most=2)

    async def two() -> list[int | BaseException]:
        asking = asyncio.gather(batcher.ask(0, 1), batcher.ask(0, 2), return_exceptions=True)
        return list(await asyncio.wait_for(asking, 5))

    assert [str(answer) for answer in asyncio.run(two())] == ["1 answers to 2 items"] * 2
