"""The loop: walk every chain's generator, answering each word from the journal if it is there, else by doing it.

Resume, cache, more rounds and recovery after a crash are this one replay; there is no resume code.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from convergebench.editors.base import close
from convergebench.engine.attempt import Past, Place, told
from convergebench.engine.budget import Budget
from convergebench.engine.calls import Calls
from convergebench.engine.foreign import foreign_code
from convergebench.engine.gate import Patience
from convergebench.engine.ledger import Ledger
from convergebench.engine.line import Line, StepFailed, Stopped
from convergebench.engine.plan import Chain, interleave
from convergebench.engine.progress import Progress
from convergebench.engine.retry import RetryPolicy
from convergebench.engine.reuse import Lender
from convergebench.engine.roles import Questions, answer_question
from convergebench.engine.words import Words
from convergebench.errors import (
    BudgetSpent,
    ConvergeBenchError,
    EditorError,
    Exhausted,
    Prerequisite,
    Refused,
    StudyError,
    Unavailable,
    Unstorable,
)
from convergebench.ids import comparison_id
from convergebench.redaction import redact
from convergebench.roles.base import Role
from convergebench.store.journal import ChainRow, Row
from convergebench.store.run import Run
from convergebench.types import Ask, Compare, Editor, Limits, Reply, State, Word

OPEN_AT_ONCE = 4096
"""Chains that may be under way together; more would only cost memory."""


@dataclass(frozen=True)
class Summary:
    """How a session ended."""

    statuses: dict[str, int] = field(default_factory=dict)
    stopped: str | None = None
    """Why it ended before its time, or None."""


class Engine:
    """Walks chains. One per session."""

    def __init__(
        self,
        run: Run,
        editors: Mapping[str, Editor],
        *,
        roles: Mapping[str, Role] | None = None,
        max_cost: float | None = None,
        retry: RetryPolicy | None = None,
        progress: Progress | None = None,
        reuse: Sequence[Lender] = (),
    ) -> None:
        self.journal, self.images = run.journal, run.images
        self.progress = progress or Progress()
        self.budget = Budget(max_cost, spent=run.journal.dollars())
        self.progress.dollars = self.budget.spent
        retry = retry or RetryPolicy()
        ledger = Ledger(run.journal, self.budget, self.progress)
        shared: Any = {"journal": run.journal, "ledger": ledger, "retry": retry, "progress": self.progress}
        accounts: dict[str, Patience] = {}

        def patience(limits: Limits) -> Patience | None:
            return accounts.setdefault(limits.account, Patience(limits.together)) if limits.account else None

        self._questions = {
            name: Questions(role, name=name, patience=patience(role.limits), **shared)
            for name, role in (roles or {}).items()
        }
        self._calls = {
            name: Calls(editor, name=name, images=run.images, reuse=reuse, patience=patience(editor.limits), **shared)
            for name, editor in editors.items()
        }
        self._fatal: ConvergeBenchError | None = None
        self._before: dict[tuple[str, str], ChainRow] = {}
        """What chains that go on had done before this session."""

    def stop(self, reason: str) -> None:
        """Begin no further call; calls in flight come home."""
        for line in self._lines():
            line.stop(Stopped(reason))

    def _lines(self) -> Iterator[Line]:
        yield from (calls.line for calls in self._calls.values())
        yield from (questions.line for questions in self._questions.values())

    async def run(self, chains: Sequence[Chain]) -> Summary:
        """Walk them all, as far as limits and budget let."""
        known = self.journal.chains()
        todo: list[Chain] = []
        opened: list[Row] = []
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
        try:
            async with asyncio.TaskGroup() as group:
                for chain in interleave(todo):
                    await room.acquire()
                    task = group.create_task(self._walk(chain))
                    task.add_done_callback(lambda _: room.release())
        except* ConvergeBenchError as several:  # the journal itself failed: one reason is enough
            raise self._fatal or several.exceptions[0] from several
        finally:
            for questions in self._questions.values():
                await self._let_go(questions.name, questions.role.close())
            for calls in self._calls.values():
                await self._let_go(calls.name, close(calls.editor))
        if self._fatal is not None:
            raise self._fatal
        halted = list(dict.fromkeys(str(line.stopping) for line in self._lines() if line.stopping))
        return Summary(dict(self.progress.statuses), "; ".join(halted) or None)

    async def _let_go(self, name: str, closing: Awaitable[None]) -> None:
        try:
            with foreign_code():
                await closing
        except (EditorError, Prerequisite) as error:  # foreign code: its slip must not take away what was done
            self.progress.note = redact(f"{name} did not close: {error}")

    def _plan(self, chain: Chain) -> str:
        return chain.plan(self._calls[chain.editor].editor.fingerprint)

    async def _walk(self, chain: Chain) -> None:
        """One chain to its end, whatever that is; its status becomes a row."""
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
            self._calls[chain.editor].line.stop(limit)  # another editor's calls may cost less, or nothing
        except Unavailable as reason:  # another editor has another key, or none
            status, detail = "stopped", redact(str(reason))
            self.progress.note = f"{chain.editor}: {detail}"
            self._calls[chain.editor].line.stop(Stopped(f"{chain.editor}: {detail}"))
        except Stopped as reason:
            status, detail = "open", str(reason)
        except (Prerequisite, StudyError) as reason:  # no chain can go on; calls in flight may still come home
            status, detail = "open", str(reason)
            self._fatal = self._fatal or reason
            self.stop(str(reason))
        await self._ended(walk, status, told(detail))

    async def _ended(self, walk: _Walk, status: str, detail: str) -> None:
        """The chain's status as a row, with what it gathered on its last way."""
        try:
            await self.journal.commit([*walk.rows, self._chain_row(walk.chain, status, detail, walk.rounds)])
        except Unstorable as reason:  # what was gathered cannot be kept: this chain has failed, the others have not
            status = "failed"
            self.progress.failures += 1
            self.progress.note = f"{walk.chain.editor}, {walk.chain.case.id}: {reason}"
            await self.journal.commit([self._chain_row(walk.chain, status, str(reason), walk.rounds)])
        self.progress.chain_ended(status)

    def _chain_row(self, chain: Chain, status: str, detail: str, rounds: int) -> Row:
        """The chain's present state: what it has done stays true, and what it was once asked for stays asked."""
        plan, planned = self._plan(chain), chain.rounds
        before = self._before.get((chain.editor, chain.case.id))
        if before is not None:
            rounds, planned = max(rounds, before.rounds), max(planned, before.planned)
        if status == "finished" and planned > chain.rounds:
            status, detail = "open", f"{chain.rounds} of {planned} rounds were asked for this time"
        return ("chains", (chain.editor, chain.case.id, plan, status, detail, rounds, planned))

    async def _follow(self, walk: _Walk) -> None:
        """Send the study what it asked for until it has nothing more to say."""
        words = Words(walk.chain)
        try:
            word = words.first()
            while word is not None:
                try:
                    answer = await self._answer(word, walk)
                except (Refused, Exhausted) as outcome:
                    word = words.after_error(outcome)
                else:
                    word = words.after(answer)
        finally:
            words.close()

    async def _answer(self, word: Word, walk: _Walk) -> State | Reply | None:
        chain = walk.chain
        if isinstance(word, Compare):
            row = _comparison(chain, word)
            self.journal.require([row])
            walk.rows.append(row)
            if word.role in ("return", "around"):
                walk.rounds = word.round
            return None
        if isinstance(word, Ask):
            return await answer_question(
                word, chain.case, questions=self._questions, journal=self.journal, images=self.images
            )
        walk.position += 1
        place = Place(chain.case, walk.position, tuple(walk.history))
        edit = replace(word, settings=word.settings.at(walk.position))
        state = await self._calls[chain.editor].answer(edit, place, walk.rows)
        if edit.settings.session == "single":
            walk.history.append(Past(state.id, edit.instruction, edit.state.image, state.image))
        return state


@dataclass
class _Walk:
    """How far one chain has come."""

    chain: Chain
    rows: list[Row] = field(default_factory=list)
    """Comparisons and positions not yet committed."""
    rounds: int = 0
    position: int = 0
    history: list[Past] = field(default_factory=list)
    """Earlier turns, kept only for editors in a single session."""


def _comparison(chain: Chain, word: Compare) -> Row:
    reference = word.reference.image if word.reference else None
    identity = comparison_id(
        editor=chain.editor,
        case=chain.case.id,
        subject=word.subject.id,
        reference=word.reference.id if word.reference else None,
        role=word.role,
        lag=word.lag,
    )
    values = (
        identity, chain.editor, chain.case.id, word.role, word.round, word.step, word.lag, word.subject.image,
        reference, word.via.image if word.via else None, word.operation,
    )  # fmt: skip
    return ("comparisons", values)
