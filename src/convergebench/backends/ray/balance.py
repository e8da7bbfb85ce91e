"""How many copies each crew has: they grow while there is room, and give way to a crew that has none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from convergebench.backends.ray.cluster import Cluster, in_words
from convergebench.backends.ray.crew import Crew

EVERY = 0.5
"""Seconds between two looks."""
PATIENCE = 5.0
"""Seconds that a crew without any copy waits before another crew makes room for it."""
MOST_HINTS = 512
"""Bundles that an autoscaler is told of at a time."""


class Balance:
    """Looks after all crews of one command, in their event loop."""

    def __init__(self, cluster: Cluster, note: Callable[[str], None]) -> None:
        self.crews: list[Crew] = []
        self._cluster, self._note = cluster, note
        self._told: set[str] = set()
        self._task: asyncio.Task[None] | None = None
        self._hinted = False

    def begin(self) -> None:
        """Look every now and then, until `close`."""
        self._task = asyncio.get_running_loop().create_task(self._watch())

    async def close(self) -> None:
        """End all crews."""
        if self._task is not None:
            self._task.cancel()
        for crew in self.crews:
            await crew.close()
        if self._hinted:
            self._cluster.request([])

    async def look_after(self, crews: Sequence[Crew]) -> None:
        """Give these crews copies from now on."""
        self.crews += crews
        self._hint()

    def _hint(self) -> None:
        """Tell an autoscaler what all crews could use; a cluster without one ignores it."""
        bundles = [dict(crew.bundle) for crew in self.crews for _ in range(crew.most)][:MOST_HINTS]
        if bundles:
            self._cluster.request(bundles)
            self._hinted = True

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(EVERY)
            if any(crew.is_short or crew.is_starving for crew in self.crews):
                available = await asyncio.to_thread(self._cluster.available)
                self._grow(available)
                await self._make_room()

    def _grow(self, available: dict[str, float]) -> None:
        """One more copy for each crew that would use it, in turn, while there is room."""
        free = dict(available)
        for crew in self.crews:
            for _ in crew.starting:  # they may not have their room yet
                _take(crew.bundle, free)
        growing = self.crews
        while growing := [crew for crew in growing if crew.is_short and _fits(crew.bundle, free)]:
            for crew in growing:
                if _fits(crew.bundle, free):
                    _take(crew.bundle, free)
                    crew.grow()

    async def _make_room(self) -> None:
        now = asyncio.get_running_loop().time()
        for crew in self.crews:
            waited = min((now - copy.begun for copy in crew.starting), default=0.0)
            if not crew.is_starving or waited < PATIENCE:
                continue
            await self._tell_if_impossible(crew)
            self._give_way(crew, now)

    def _give_way(self, starving: Crew, now: float) -> None:
        """An idle copy of another crew ends, else one of a crew that has several."""
        others = [(crew, copy) for crew in self.crews if crew is not starving for copy in crew.ready]
        if any(copy.leaving for crew in self.crews for copy in crew.copies):
            return  # room is being made
        idle = [pair for pair in others if not pair[1].busy and now - pair[1].idle_since > PATIENCE]
        spare = [pair for pair in others if len(pair[0].ready) > 1]
        for crew, copy in (idle or spare)[:1]:
            crew.retire(copy)

    async def _tell_if_impossible(self, crew: Crew) -> None:
        nodes = await asyncio.to_thread(self._cluster.nodes)
        if crew.name not in self._told and not any(_fits(crew.bundle, node) for node in nodes):
            self._told.add(crew.name)
            self._note(
                f"no machine of the cluster has {in_words(crew.bundle)}, which {crew.name} needs; it waits for one"
            )


def _fits(bundle: Mapping[str, float], free: Mapping[str, float]) -> bool:
    return all(free.get(name, 0.0) >= amount - 1e-9 for name, amount in bundle.items())


def _take(bundle: Mapping[str, float], free: dict[str, float]) -> None:
    for name, amount in bundle.items():
        free[name] = free.get(name, 0.0) - amount
