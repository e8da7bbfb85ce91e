"""The main loop: drive every chain's generator, answering each request from the journal or else by a call.

Resume, cache, more rounds and recovery after a crash are this one replay; there is no resume code.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from convergebench.engine.attempt import stored_text
from convergebench.engine.call_group import CallGroup
from convergebench.engine.caller import Caller
from convergebench.engine.channel import StepFailed, Stopped
from convergebench.engine.driver import StudyDriver
from convergebench.engine.edit_calls import ChainPosition, EditorEndpoint, PriorTurn, StepRequest, state_after
from convergebench.engine.plan import Chain, interleave
from convergebench.engine.retry import RetryPolicy
from convergebench.engine.reuse import ReusableRun
from convergebench.engine.role_calls import Answer, Question, RoleEndpoint
from convergebench.errors import (
    BudgetSpent,
    ConvergeBenchError,
    Exhausted,
    Prerequisite,
    Refused,
    StudyError,
    Unavailable,
    Unstorable,
)
from convergebench.ids import canonical, comparison_id
from convergebench.kinds import ends_round
from convergebench.progress import Progress
from convergebench.redaction import redact
from convergebench.roles import require_role
from convergebench.roles.base import Answered, Role
from convergebench.store.run import Run
from convergebench.store.tables import ChainStatusRow, ChainStepRow, ComparisonRow, DecisionRow, StepRow, TableRow
from convergebench.types import Ask, Compare, Decision, Edit, Edited, Editor, Reply, State, Word

OPEN_AT_ONCE = 4096
"""Chains in progress at the same time; more would only cost memory."""


@dataclass(frozen=True)
class RunSummary:
    """How editing ended."""

    statuses: dict[str, int] = field(default_factory=dict)
    stopped: str | None = None
    """Why it ended early, or None."""


class Engine:
    """Runs chains. One per session."""

    def __init__(
        self,
        run: Run,
        editors: Mapping[str, Editor],
        *,
        roles: Mapping[str, Role] | None = None,
        max_cost: float | None = None,
        retry: RetryPolicy | None = None,
        progress: Progress | None = None,
        reuse: Sequence[ReusableRun] = (),
        chain_grew: Callable[[str, str], None] | None = None,
    ) -> None:
        """`chain_grew(editor, case)` is called after a chain has stored a step, so that it can be measured."""
        self.journal, self.images = run.journal, run.images
        self._calls = CallGroup(run.journal, max_cost=max_cost, retry=retry, progress=progress)
        self.progress = self._calls.progress
        self._roles = {name: RoleEndpoint(role, name, journal=run.journal) for name, role in (roles or {}).items()}
        self._role_callers: dict[str, Caller[Question, Answered, Answer]] = {
            name: self._calls.caller(endpoint) for name, endpoint in self._roles.items()
        }
        self._editors = {
            name: EditorEndpoint(editor, name, journal=run.journal, images=run.images, reuse=reuse)
            for name, editor in editors.items()
        }
        self._edit_callers: dict[str, Caller[StepRequest, Edited, StepRow]] = {
            name: self._calls.caller(endpoint) for name, endpoint in self._editors.items()
        }
        self._chain_grew = chain_grew or (lambda editor, case: None)
        self._fatal: ConvergeBenchError | None = None
        self._before: dict[tuple[str, str], ChainStatusRow] = {}
        """Earlier states of chains that are continued."""

    def stop(self, reason: str) -> None:
        """Begin no further call; the answers of calls in flight are waited for."""
        self._calls.stop(Stopped(reason))

    async def run(self, chains: Sequence[Chain]) -> RunSummary:
        """Run all chains, as far as limits and budget allow."""
        known = self.journal.chains()
        todo: list[Chain] = []
        opened: list[TableRow] = []
        for chain in chains:
            steps = chain.study.calls(chain.case)
            self.progress.chains += 1
            self.progress.steps += steps
            row = known.get((chain.editor, chain.case.id))
            if row is not None and row.has_done(self._plan(chain), chain.rounds):
                self.progress.steps_done += steps
                self.progress.chain_ended(row.status)
            else:
                todo.append(chain)
                if row is not None:
                    self._before[chain.editor, chain.case.id] = row
                opened.append(self._chain_row(chain, "open", "", 0))
        await self.journal.commit(opened)
        room = asyncio.Semaphore(OPEN_AT_ONCE)
        self._calls.begin()
        try:
            async with asyncio.TaskGroup() as group:
                for chain in interleave(todo):
                    await room.acquire()
                    task = group.create_task(self._walk(chain))
                    task.add_done_callback(lambda _: room.release())
        except* ConvergeBenchError as several:  # the journal failed: one reason is enough
            raise self._fatal or several.exceptions[0] from several
        finally:
            await self._calls.close()
        if self._fatal is not None:
            raise self._fatal
        return RunSummary(dict(self.progress.statuses), "; ".join(self._calls.stopped) or None)

    def _plan(self, chain: Chain) -> str:
        """The chain's plan; an error, before the first call, if a role of its study is not configured."""
        roles = {name: self._roles[require_role(name, self._roles, "the study")] for name in chain.roles}
        fingerprints = {name: endpoint.role.fingerprint for name, endpoint in roles.items()}
        return chain.plan(self._editors[chain.editor].editor.fingerprint, fingerprints)

    async def _walk(self, chain: Chain) -> None:
        """Run one chain to its end and store its status."""
        walk = _Walk(chain)
        status, detail = "finished", ""
        try:
            await self._follow(walk)
        except Refused as refusal:
            status, detail = "refused", str(refusal)
        except Exhausted as end:
            status, detail = "ended", str(end)
        except (StepFailed, Unstorable) as failure:
            status, detail = "failed", str(failure)
            self.progress.failures += 1
            self.progress.note = f"{chain.editor}, {chain.case.id}: {failure}"
        except BudgetSpent as limit:
            status, detail = "stopped", str(limit)
        except Unavailable as reason:
            status, detail = "stopped", redact(str(reason))
        except Stopped as reason:
            status, detail = "open", str(reason)
        except (Prerequisite, StudyError) as reason:  # no chain can continue; calls in flight may still be answered
            status, detail = "open", str(reason)
            self._fatal = self._fatal or reason
            self.stop(str(reason))
        await self._ended(walk, status, stored_text(detail))

    async def _ended(self, walk: _Walk, status: str, detail: str) -> None:
        """Commit the chain's status, with its rows since the last call."""
        try:
            await self.journal.commit([*walk.rows, self._chain_row(walk.chain, status, detail, walk.rounds)])
        except Unstorable as reason:  # its rows cannot be stored: only this chain has failed
            status = "failed"
            self.progress.failures += 1
            self.progress.note = f"{walk.chain.editor}, {walk.chain.case.id}: {reason}"
            await self.journal.commit([self._chain_row(walk.chain, status, str(reason), walk.rounds)])
        self._chain_grew(walk.chain.editor, walk.chain.case.id)
        self.progress.chain_ended(status)

    def _chain_row(self, chain: Chain, status: str, detail: str, rounds: int) -> ChainStatusRow:
        """The chain's present state: rounds done and planned never decrease."""
        plan, planned = self._plan(chain), chain.rounds
        before = self._before.get((chain.editor, chain.case.id))
        if before is not None:
            rounds, planned = max(rounds, before.rounds), max(planned, before.planned)
        if status == "finished" and planned > chain.rounds:
            status, detail = "open", f"{chain.rounds} of {planned} rounds were requested this time"
        return ChainStatusRow(chain.editor, chain.case.id, plan, status, detail, rounds, planned)

    async def _follow(self, walk: _Walk) -> None:
        """Answer the study's requests until it has no more."""
        study = StudyDriver(walk.chain)
        try:
            word = study.start()
            while word is not None:
                try:
                    answer = await self._answer(word, walk)
                except (Refused, Exhausted) as outcome:
                    word = study.throw(outcome)
                else:
                    word = study.send(answer)
        finally:
            study.close()

    async def _answer(self, word: Word, walk: _Walk) -> State | Reply | None:
        if isinstance(word, Edit):
            return await self._edit(word, walk)
        if isinstance(word, Ask):
            return await self._ask(word, walk)
        row = walk.decided(word) if isinstance(word, Decision) else _comparison(walk.chain, word)
        self.journal.require([row])
        walk.rows.append(row)
        if isinstance(word, Compare) and ends_round(word.role):
            walk.rounds = word.round
        return None

    async def _edit(self, edit: Edit, walk: _Walk) -> State:
        walk.steps += 1
        editor, replicate = walk.chain.editor, walk.chain.case.replicate
        edit = replace(edit, settings=edit.settings.at(walk.steps))
        key = self._editors[editor].step_key(edit, replicate)
        request = StepRequest(key, edit, walk.position, replicate, walk.rows, tuple(walk.history))
        step = await self._edit_callers[editor].answer(request)
        walk.rows.append(ChainStepRow(*walk.position, key))
        self.progress.steps_done += 1
        self._chain_grew(editor, walk.chain.case.id)
        state = state_after(step)
        if edit.settings.session == "single":
            walk.history.append(PriorTurn(state.id, edit.instruction, edit.state.image, state.image))
        return state

    async def _ask(self, ask: Ask, walk: _Walk) -> Reply:
        """The reply to a study's question. A refusal has no value: whether the chain goes on is the study's choice."""
        chain = walk.chain
        chain.require_declared(ask.role)

        async def pictures() -> tuple[bytes, ...]:
            files = [self.journal.image_row(state.image).file for state in ask.states]
            return tuple([await self.images.in_thread(self.images.read, file) for file in files])

        parents = tuple(state.id for state in ask.states)
        # the first draw has no number in its key, so that answers of older runs are found
        payload = {**ask.payload, "draw": ask.draw} if ask.draw else ask.payload
        repeat = chain.case.replicate + ask.draw
        question = self._roles[ask.role].question(
            payload, parents, pictures, repeat, position=walk.position, rows=walk.rows
        )
        answer = await self._role_callers[ask.role].answer(question)
        return Reply(question.key, answer.value, answer.raw)


@dataclass
class _Walk:
    """The progress of one chain."""

    chain: Chain
    rows: list[TableRow] = field(default_factory=list)
    """Comparisons and positions not yet committed."""
    rounds: int = 0
    steps: int = 0
    decisions: int = 0
    history: list[PriorTurn] = field(default_factory=list)
    """Earlier turns, kept only for editors in a single session."""

    @property
    def position(self) -> ChainPosition:
        """The chain's present position."""
        return ChainPosition(self.chain.editor, self.chain.case.id, self.steps)

    def decided(self, word: Decision) -> DecisionRow:
        """The row of the chain's next decision."""
        self.decisions += 1
        try:
            facts = canonical(dict(word.facts))
        except (TypeError, ValueError, RecursionError) as error:
            name = self.chain.study.name
            raise StudyError(f"the study '{name}' decides on facts that JSON cannot hold: {error}") from error
        return DecisionRow(self.chain.editor, self.chain.case.id, self.decisions, self.steps, word.kind, facts)


def _comparison(chain: Chain, word: Compare) -> ComparisonRow:
    identity = comparison_id(
        editor=chain.editor,
        case=chain.case.id,
        subject=word.subject.id,
        reference=word.reference.id if word.reference else None,
        role=word.role,
        lag=word.lag,
    )
    return ComparisonRow(
        id=identity,
        editor=chain.editor,
        case=chain.case.id,
        role=word.role,
        round=word.round,
        step=word.step,
        lag=word.lag,
        subject=word.subject.image,
        reference=word.reference.image if word.reference else None,
        via=word.via.image if word.via else None,
        operation=word.operation,
    )
