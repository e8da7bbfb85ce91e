"""One seed: a study is disturbed session after session, then left in peace, and held against an undisturbed one."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any
from unittest.mock import patch

from convergebench.editors.composite.best_of import best_of
from convergebench.editors.find import make_editor
from convergebench.engine import attempt
from convergebench.engine.retry import RetryPolicy
from convergebench.engine.run import Engine, RunSummary
from convergebench.errors import ConvergeBenchError
from convergebench.measuring.measure import measure
from convergebench.progress import Progress
from convergebench.store.manifest import Manifest
from convergebench.store.run import Run
from convergebench.studies.roundtrip import RoundTrip
from convergebench.types import Editor, Study
from tests.engine.parts import IMAGES, begun, case_of, chains_of
from tests.engine.test_questions import Judged
from tests.gauntlet.disk import Killed, Platter, SimulatedDisk
from tests.gauntlet.invariants import (
    COMPOSED,
    Books,
    Violated,
    books,
    check_equal,
    check_files,
    check_money,
    check_steps,
    require,
    rows,
)
from tests.gauntlet.loop import Hung, SimulatedLoop, run_simulated
from tests.gauntlet.plan import NetworkFault, Plan, SessionPlan, plan_of
from tests.gauntlet.provider import KEY, LocalEditor, Provider, SimulatedJudge, connected

METRICS = ("rmse", "psnr")
CALM = SessionPlan(0)


@dataclass
class Outcome:
    """What a seed came to."""

    seed: int
    history: str
    """A hash of every event with its virtual time: the same for the same seed."""
    met: Counter[str] = field(default_factory=Counter)
    """Faults that were really met."""
    sessions: int = 0
    calls: int = 0


class World:
    """The disk, the network and the clock of one seed, over all of its sessions."""

    def __init__(self, plan: Plan, root: Path) -> None:
        self.plan, self.root = plan, root
        self.provider = Provider(plan.refusals)
        self.events: list[str] = []
        self.met: Counter[str] = Counter()
        self.platter = Platter()
        self.kept: dict[Any, Any] = {}
        self.seen: list[Violated] = []
        self.days = 0.0
        """How far the computer's clock is off."""
        self._loop: SimulatedLoop | None = None
        self._session: asyncio.Task[RunSummary] | None = None
        self._disk = SimulatedDisk(root, {}, random.Random(0))

    def session(self, plan: SessionPlan) -> None:
        """One session, as `cbench run` does it, and what must hold after it."""
        dice = random.Random(f"{self.plan.seed} {plan.number}")
        self._disk = disk = SimulatedDisk(self.root, plan.disk, dice, self.platter)
        disk.log, disk.at_kill, self.provider.log = self._log, self._killed, self._log
        self.provider.begin_session(plan.network, dice)
        self.provider.arrived = lambda image: self._arrived(image, plan.max_cost)
        self.provider.jump, self.provider.is_dead = self._jump, lambda: disk.dead
        self._loop = self._session = None
        before, called = self._books(), len(self.provider.calls)
        failure: BaseException | None = None
        with disk.mounted(), connected(self.provider), self._clock():
            try:
                self._run(plan, dice)
            except (
                ConvergeBenchError,
                OSError,
                asyncio.CancelledError,
                Killed,
            ) as error:  # one line each at the terminal
                failure = error
        if self.seen:
            raise self.seen[0]
        self.met.update(disk.met)
        self.met.update(fault for call, fault in plan.network.items() if call <= self.provider.begun)
        self._log(f"end: {type(failure).__name__}")
        if disk.snapshot is not None:
            shutil.rmtree(self.root)
            disk.snapshot.rename(self.root)
        elif failure is not None:
            require(disk.failed, f"an error from nowhere: {failure!r}")
            require("\n" not in str(failure), f"more than one line: {failure}")
        self._check(plan, before, called, peaceful=failure is None and not disk.dead and not disk.failed)

    def _run(self, plan: SessionPlan, dice: random.Random) -> None:
        grok: Editor = make_editor("grok-imagine-image", at_once=self.plan.at_once, seconds=60)
        editors: dict[str, Editor] = {"grok": grok, "local": LocalEditor(), "two": _two(self.plan.at_once)}
        editors = {name: editors[name] for name in self.plan.editors}
        cases = [case_of(IMAGES[0], number) for number in range(self.plan.cases)]
        study: Study = Judged() if self.plan.judged else RoundTrip(self.plan.rounds)
        rounds = 3 if self.plan.judged else self.plan.rounds
        chains = [chain for name in editors for chain in chains_of(cases, rounds, name, study)]
        progress = Progress()
        with Run.create(self.root) as run:
            facts = {name: {"fingerprint": editor.fingerprint} for name, editor in editors.items()}
            run.extend(Manifest("run", "roundtrip", "", spec={}, fixed={}, editors=facts))
            begun(run, IMAGES[:1], cases)
            engine = Engine(
                run,
                editors,
                roles={"judge": SimulatedJudge(self.provider)} if self.plan.judged else {},
                max_cost=plan.max_cost,
                retry=RetryPolicy(attempts=3, randomness=dice),
                progress=progress,
            )

            async def walk() -> RunSummary:
                self._session = asyncio.current_task()
                return await engine.run(chains)

            run_simulated(walk, dice, self._begun)
            shown = progress.dollars
            require(abs(shown - books(self.root).counted) < 1e-9, f"the display says {shown}, the journal another sum")
            measure(run, METRICS, align_mode="strict", workers=1)

    def _begun(self, loop: SimulatedLoop) -> None:
        self._loop = loop

    def _killed(self) -> None:
        if self._loop is not None and self._session is not None and not self._loop.is_closed():
            self._loop.call_soon(self._session.cancel)

    def _jump(self, fault: NetworkFault) -> None:
        if fault == "driver killed":
            self._disk.kill()
        elif fault == "clock set back":
            self.days -= 1.0
        elif self._loop is not None:  # the computer slept: every time limit has passed
            self._loop.now += 7200.0

    def _arrived(self, image: bytes, limit: float | None) -> None:
        """At the provider: the call is on the disk already, and so is the image that it edits."""
        try:
            self._check_arrived(image, limit)
        except Violated as violated:  # the engine would take it for an error of the editor
            self.seen.append(violated)

    def _check_arrived(self, image: bytes, limit: float | None) -> None:
        ((unknown,),) = rows(self.root, "select count(*) from attempts where outcome = 'unknown'")
        flying = self.provider.in_flight
        require(unknown >= flying, f"{flying} calls in flight, {unknown} of them on the disk")
        identity = f"i1:{hashlib.sha256(image).hexdigest()}"
        require(rows(self.root, "select 1 from images where id = ?", identity), "an image is sent that no row names")
        if limit is not None:
            require(self.provider.billed <= limit + 1e-9, f"billed {self.provider.billed} beyond the limit of {limit}")

    def _check(self, plan: SessionPlan, before: Books, called: int, *, peaceful: bool) -> None:
        if not rows_exist(self.root):
            return
        found = check_money(self.root, self.provider, limit=plan.max_cost)
        if peaceful:  # no call was lost, so every uncertain one is known by name
            new = [call for number, call in self.provider.calls.items() if number > called]
            open_calls = sum(call.dollars > 0 and call.number not in found.settled for call in new)
            added = found.unsettled - before.unsettled
            # when the clock jumps, a time limit can end the wait for a connection, for a reply that charges nothing, or
            # for the row of a part's call
            cut = f"select count(*) from attempts where editor = '{COMPOSED}' and error like 'no answer within%'"
            ((spare,),) = rows(self.root, cut) if "clock jumps" in plan.network.values() else ((0,),)
            if "clock jumps" in plan.network.values():
                spare += self.provider.unsent + sum(call.dollars == 0 for call in new)
            certain = open_calls <= added <= open_calls + spare
            require(certain, f"{open_calls} calls of unknown cost, {added} rows say so")
            require(not list(self.root.rglob(".part-*")), "a file was left half written")
        self.kept = check_steps(self.root, self.kept)
        check_files(self.root)

    def _books(self) -> Books:
        return books(self.root) if rows_exist(self.root) else Books(0.0, {}, 0)

    def _log(self, event: str) -> None:
        self.events.append(f"{self._loop.now if self._loop else 0:.6f} {event}")

    @contextmanager
    def _clock(self) -> Iterator[None]:
        world = self

        class Clock(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
                seconds = world._loop.now if world._loop else 0.0
                return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=world.days, seconds=seconds)

        with patch.object(attempt, "datetime", Clock), patch.dict(os.environ, {"XAI_API_KEY": KEY}):
            yield


def _two(at_once: int) -> Editor:
    inner = make_editor("grok-imagine-image", at_once=at_once, seconds=60)
    inner.name = "inner"
    return best_of("two", of=inner, n=2, metric="rmse")


def rows_exist(root: Path) -> bool:
    """Whether a session came far enough to have tables."""
    try:
        return bool(rows(root, "select 1 from sqlite_master where name = 'decisions'"))
    except Exception:
        return False


def fastest_folder() -> str | None:
    """Files in memory, where there are such: syncing and copying take most of the time."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def run_seed(seed: int) -> Outcome:
    """`Violated` (or whatever the engine let through) if an invariant does not hold."""
    plan = plan_of(seed)
    with tempfile.TemporaryDirectory(prefix="gauntlet-", dir=fastest_folder()) as folder:
        calm = World(plan, Path(folder) / "calm")
        world = World(plan, Path(folder) / "run")
        try:
            calm.session(CALM)
            left = rows(calm.root, "select status, detail from chains where status not in ('finished', 'refused')")
            require(not left, f"undisturbed, and yet: {left}")
            for session in plan.sessions:
                world.session(session)
            world.session(SessionPlan(98))
            check_equal(world.root, calm.root)
            called = world.provider.begun
            world.session(SessionPlan(99))
            require(world.provider.begun == 0, f"a finished study made {world.provider.begun} calls after {called}")
        except Hung as error:
            raise Violated(f"the run hangs: {error}") from error
        history = hashlib.sha256("\n".join(world.events).encode()).hexdigest()
        return Outcome(seed, history, world.met, len(plan.sessions) + 3, len(world.provider.calls))
