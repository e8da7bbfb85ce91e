"""The store against a model of it that fits into a dict: steps, lost calls, crashes, renames, forks and merges.

Every operation opens the run, works and closes it, on a disk that may fail or lose the process at any write. Whatever
happened, the rows of one commit are all there or none of them, and everything older is as it was.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from convergebench.errors import StudyError, Unstorable
from convergebench.ids import canonical, comparison_id, image_id, step_id
from convergebench.settings import DEFAULT_SETTINGS
from convergebench.store.images import file_of
from convergebench.store.manifest import Manifest
from convergebench.store.merge import merge_runs
from convergebench.store.rename import rename_editor
from convergebench.store.run import Run
from convergebench.store.tables import (
    AttemptRow,
    CaseRow,
    ChainStatusRow,
    ChainStepRow,
    ComparisonRow,
    ImageRow,
    MeasurementRow,
    StepRow,
    TableRow,
)
from convergebench.store.verify import problems
from tests.engine.parts import picture
from tests.gauntlet.disk import Killed, Platter, SimulatedDisk
from tests.gauntlet.invariants import rows
from tests.gauntlet.plan import DISK_FAULTS
from tests.gauntlet.world import fastest_folder

FINGERPRINT = "model@1"
SOURCE = picture(50)
NAMES = ("alpha", "beta", "gamma")
TROUBLE = st.one_of(st.none(), st.tuples(st.integers(1, 14), st.sampled_from(DISK_FAULTS)))
"""At which write of an operation what goes wrong, if anything."""


@dataclass
class Model:
    """What a run should hold."""

    editor: str = NAMES[0]
    chains: dict[str, list[tuple[str, str, float]]] = field(default_factory=dict)
    """Case → (step, image, score) of its steps."""
    calls: dict[tuple[str, int], float] = field(default_factory=dict)
    """(step, attempt) → dollars."""


def image_row(data: bytes) -> ImageRow:
    identity = image_id(data)
    return ImageRow(identity, file_of(identity, "image/png"), "image/png", 8, 8, len(data))


class StoreMachine(RuleBasedStateMachine):
    """One run, and now and then a copy of it that goes its own way until the two are merged."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="store-model-", dir=fastest_folder()))
        self.root, self.model = self.folder / "run", Model()
        self.fork: tuple[Path, Model] | None = None
        self.platters: dict[Path, Platter] = {}
        self.number = 0
        with Run.create(self.root) as run:
            facts = {self.model.editor: {"fingerprint": FINGERPRINT}}
            run.extend(Manifest("run", "roundtrip", "", spec={}, fixed={}, editors=facts))
            run.images.put(SOURCE, "image/png")
            run.journal.commit_now([image_row(SOURCE)])

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)

    def _operate(self, work: Callable[[Run], None], trouble: Any) -> bool:
        """Whether it was done, as far as the one who asked for it can tell."""
        platter = self.platters.setdefault(self.root, Platter(synced=_files(self.root)))
        faults = {trouble[0]: trouble[1]} if trouble else {}
        disk = SimulatedDisk(self.root, faults, random.Random(self.number), platter)
        done = False
        with disk.mounted(), suppress(Killed, StudyError, OSError), Run.existing(self.root) as run:
            work(run)
            done = not disk.dead
        if disk.snapshot is not None:
            shutil.rmtree(self.root)
            disk.snapshot.rename(self.root)
        assert done or disk.dead or disk.failed, "it failed for no reason"
        return done

    def _has(self, query: str, *values: object) -> bool:
        return bool(rows(self.root, query, *values))

    # --- rules ---------------------------------------------------------------------------------------------

    @rule(chain=st.integers(0, 2), trouble=TROUBLE)
    def store_a_step(self, chain: int, trouble: Any) -> None:
        """Intent, image, answer, score: three commits, as the engine makes them."""
        self.number += 1
        case = f"{'fork' if self.fork else 'run'}-{chain}"
        done = self.model.chains.get(case, [])
        parent = done[-1][0] if done else image_id(SOURCE)
        settings_ = DEFAULT_SETTINGS.as_key()
        replicate = chain + (10 if self.fork else 0)
        # chains of the copy are chains of their own: the same key twice would be the same step, which is called once
        step = step_id(
            parent=parent,
            instruction="add",
            settings=settings_,
            fingerprint=FINGERPRINT,
            replicate=replicate,
            draw=0,
        )
        attempt = 1 + max((number for key, number in self.model.calls if key == step), default=0)
        data, score = picture(self.number % 250), float(self.number)
        begun = f"moment {self.number:05}"  # merging takes equal calls at one moment for one call
        call = AttemptRow(step, attempt, self.model.editor, begun, 1.0, 2.0, "unknown", "", settled=False)
        answered = self._rows(case, replicate, step, parent, data, len(done) + 1)
        compared, measured = self._scores(case, step, data, len(done) + 1, score)
        paid = AttemptRow(step, attempt, self.model.editor, begun, 1.0, 1.5, "ok", "", "model", "{}")

        def work(run: Run) -> None:
            run.journal.commit_now([call])
            run.images.put(data, "image/png")
            run.journal.commit_now([*answered, paid, compared])
            run.journal.commit_now([measured])

        finished = self._operate(work, trouble)
        stored = self._has("select 1 from steps where id = ?", step)
        called = self._has("select 1 from attempts where step = ? and attempt = ?", step, attempt)
        scored = self._has("select 1 from measurements where comparison = ?", compared.id)
        assert stored or not finished, "a step that was said to be stored is not there"
        assert called or not stored, "a step without its call"
        assert stored or not scored, "a score without its step"
        if called:
            self.model.calls[step, attempt] = 1.5 if stored else 2.0
        if stored:
            self.model.chains.setdefault(case, []).append((step, image_id(data), score if scored else -1.0))

    def _rows(self, case: str, chain: int, step: str, parent: str, data: bytes, place: int) -> list[TableRow]:
        editor, settings_ = self.model.editor, canonical(DEFAULT_SETTINGS.as_key())
        return [
            CaseRow(case, "source", image_id(SOURCE), "scene", "plus", "test", chain),
            image_row(data),
            StepRow(step, parent, editor, "add", settings_, None, chain, "ok", image_id(data)),
            ChainStepRow(editor, case, place, step),
            ChainStatusRow(editor, case, "plan", "open", "", place, 99),
        ]

    def _scores(self, case: str, step: str, data: bytes, place: int, score: float) -> tuple[Any, MeasurementRow]:
        source = image_id(SOURCE)
        known: dict[str, Any] = {"role": "return", "lag": 0}
        key = comparison_id(editor=self.model.editor, case=case, subject=step, reference=source, **known)
        row = ComparisonRow(
            key, self.model.editor, case, "return", place, place, 0, image_id(data), source, None, None
        )  # fmt: skip
        return row, MeasurementRow(key, "rmse", "strict", "rmse@1", score, "ok", "")

    @rule(trouble=TROUBLE)
    def store_what_cannot_be_stored(self, trouble: Any) -> None:
        """A bad row takes back the good one that came with it."""

        def work(run: Run) -> None:
            good = image_row(picture(251))
            bad = AttemptRow("s1:bad", 1, self.model.editor, "now", 1.0, float("nan"), "ok", "")
            with pytest.raises((Unstorable, StudyError)):
                run.journal.commit_now([good, bad])

        self._operate(work, trouble)
        assert not self._has("select 1 from images where id = ?", image_id(picture(251)))

    @rule(trouble=TROUBLE)
    def roll_back(self, trouble: Any) -> None:
        """A change that fails half-way has changed nothing."""

        def work(run: Run) -> None:
            def half(connection: Any) -> None:
                connection.execute("delete from steps")
                raise ValueError("half-way")

            with suppress(ValueError):
                run.journal.rewrite(half)

        self._operate(work, trouble)

    @precondition(lambda self: self.fork is None and self.model.chains)
    @rule(name=st.sampled_from(NAMES), trouble=TROUBLE)
    def rename(self, name: str, trouble: Any) -> None:
        old = self.model.editor
        if name == old:
            return
        self.number += 1

        def work(run: Run) -> None:
            rename_editor(run, old, name, {"command": "rename"})

        done = self._operate(work, trouble)
        while not done:
            now = {editor for (editor,) in rows(self.root, "select distinct editor from steps")}
            assert len(now) == 1, "half of the rows have the new name"
            with Run.existing(self.root) as run:
                if set(run.manifest.editors) == {name}:
                    break
            done = self._operate(work, None)
        self.model.editor = name

    @precondition(lambda self: self.fork is None and self.model.chains)
    @rule()
    def fork_off(self) -> None:
        """A copy of the run, as for another machine; from now on the copy is worked on."""
        other = self.folder / f"fork-{self.number}"
        self.number += 1
        shutil.copytree(self.root, other)
        self.fork = (self.root, deepcopy(self.model))
        self.root = other

    @precondition(lambda self: self.fork is not None)
    @rule()
    def merge(self) -> None:
        assert self.fork is not None
        root, model = self.fork
        out = self.folder / f"merged-{self.number}"
        self.number += 1
        out.mkdir()
        merged = merge_runs([root, self.root], out, "merged", {"command": "merge"})
        self.model.chains = {**model.chains, **self.model.chains}
        self.model.calls = {**model.calls, **self.model.calls}
        assert merged.dollars == pytest.approx(sum(self.model.calls.values()))
        self.root, self.fork = out, None

    # --- what holds after each -----------------------------------------------------------------------------

    @invariant()
    def the_run_is_its_model(self) -> None:
        if not hasattr(self, "root"):
            return
        chains: dict[str, list[tuple[str, str, float]]] = {}
        for case, step, image, score in rows(
            self.root,
            """select c."case", s.id, s.image, coalesce(m.value, -1) from chain_steps c join steps s on s.id = c.step
               left join comparisons k on k."case" = c."case" and k.step = c.position
               left join measurements m on m.comparison = k.id where c.editor = ? order by c."case", c.position""",
            self.model.editor,
        ):
            chains.setdefault(case, []).append((step, image, score))
        assert chains == self.model.chains
        calls = {(step, number): dollars for step, number, dollars in rows(self.root, _CALLS)}
        assert calls == self.model.calls
        assert problems(self.root) == []


_CALLS = "select step, attempt, dollars from attempts"


def _files(root: Path) -> set[Path]:
    return {path.relative_to(root) for path in root.rglob("*")}


TestStoreModel = StoreMachine.TestCase
TestStoreModel.settings = settings(
    max_examples=12,
    stateful_step_count=10,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
    derandomize=True,  # `python -m tests.gauntlet` looks further
)
