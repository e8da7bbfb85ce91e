"""Slots whose number changes while they are in use."""

from __future__ import annotations

import asyncio

from convergebench.engine.gate import Gate, Slots
from convergebench.types import Limits


def test_slots_come_and_go_first_come_first_served() -> None:
    async def work() -> None:
        slots, order, done = Slots(1), list[int](), asyncio.Event()

        async def one(number: int) -> None:
            async with slots:
                order.append(number)
                await done.wait()

        tasks = [asyncio.create_task(one(number)) for number in range(4)]
        await asyncio.sleep(0)
        assert order == [0]
        slots.resize(3)
        await asyncio.sleep(0.01)
        assert order == [0, 1, 2]
        slots.resize(1)
        done.set()
        await asyncio.gather(*tasks)
        assert order == [0, 1, 2, 3]

    asyncio.run(work())


def test_who_stops_waiting_takes_no_slot_with_it() -> None:
    async def work() -> None:
        slots = Slots(1)
        await slots.__aenter__()
        waiting = [asyncio.create_task(slots.__aenter__()) for _ in range(2)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await slots.__aexit__()
        await asyncio.wait_for(waiting[1], 1)
        late = asyncio.create_task(slots.__aenter__())
        await asyncio.sleep(0)
        await slots.__aexit__()  # its turn has come
        late.cancel()  # and at the same moment it is no longer wanted
        await asyncio.gather(late, return_exceptions=True)
        await asyncio.wait_for(slots.__aenter__(), 1)

    asyncio.run(work())


def test_a_gate_without_any_room_still_lets_one_call_in() -> None:
    async def work() -> None:
        gate = Gate(Limits(at_once=4))
        gate.resize(0)
        async with gate.slot():
            pass

    asyncio.run(work())
