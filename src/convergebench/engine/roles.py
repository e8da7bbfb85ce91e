"""Questions to a role: put once, retried, paced and paid for like an editor's calls, and journalled."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from convergebench.engine.attempt import OUTCOMES, now
from convergebench.engine.budget import Budget
from convergebench.engine.gate import Patience
from convergebench.engine.line import Line, StepFailed, Together
from convergebench.engine.progress import Progress
from convergebench.engine.retry import RetryPolicy
from convergebench.errors import BadReply, EditorError, Prerequisite, Refused, StudyError, Transient
from convergebench.ids import answer_id, canonical
from convergebench.redaction import redact
from convergebench.registry import suggest
from convergebench.roles.base import Answered, Role
from convergebench.store.images import ImageStore
from convergebench.store.journal import Journal, Row
from convergebench.types import Ask, Case, Reply


@dataclass(frozen=True)
class Question:
    """Something to be answered. `pictures` reads the images, and only when the question's turn has come."""

    key: str
    payload: Mapping[str, Any]
    pictures: Callable[[], Awaitable[tuple[bytes, ...]]] = field(repr=False)
    repeat: int = 0


class Heard(NamedTuple):
    """An answer; `value` is None if it was refused or could not be parsed."""

    value: Any
    raw: str
    model: str
    refused: bool = False


class Questions:
    """One role behind its gate."""

    def __init__(
        self,
        role: Role,
        *,
        name: str,
        journal: Journal,
        budget: Budget,
        retry: RetryPolicy,
        progress: Progress,
        patience: Patience | None = None,
    ) -> None:
        if budget.limit is not None and role.dollars_per_call is None:
            raise StudyError(
                f"--max-cost cannot be kept: what the {name} charges is not known; give [roles.{name}] its "
                "dollars_per_million = {input = …, output = …} (0 for a server of your own)"
            )
        self.role, self.name = role, name
        self.line = Line(name, role.limits, retry=retry, progress=progress, patience=patience)
        self._journal, self._budget, self._progress = journal, budget, progress
        self._together: Together[Heard] = Together()

    async def answer(self, question: Question) -> Heard:
        """From the journal if it is there, else by asking; the same question under way twice is asked once."""
        return self._known(question.key) or await self._together.once(question.key, lambda: self._called(question))

    def _known(self, key: str) -> Heard | None:
        for value, raw, model in self._journal.rows("select value, raw, model from answers where id = ?", (key,)):
            if value is not None:
                return Heard(json.loads(value), raw, model)
            refused = self._journal.rows("select 1 from attempts where step = ? and outcome = 'refused'", (key,))
            return Heard(None, raw, model, refused=next(refused, None) is not None)
        return None

    async def _called(self, question: Question) -> Heard:
        first = self._journal.attempts(question.key) + 1
        return await self.line.tried(lambda number: self._attempt(question, number), first=first)

    async def _attempt(self, question: Question, number: int) -> Heard:
        """One call. Its place among the calls in flight is held until its row is durable, so a kill loses no more."""
        async with self.line.slot():
            pictures = await question.pictures()
            price = self.role.dollars_per_call or 0.0
            self._budget.reserve(price)
            actual, call = price, _Call(question, self.name, number)
            self._progress.in_flight += 1
            try:
                answered = await self._answered(question, pictures, price)
                actual = answered.dollars
            except (Prerequisite, StudyError):
                actual = 0.0
                raise
            except EditorError as error:
                actual = error.dollars
                return await self._failed(call, error)
            except Exception as error:  # a role may be foreign code: its slips end a question, not a run of days
                actual = 0.0
                return await self._failed(call, EditorError(f"{type(error).__name__}: {error}"))
            finally:
                self._progress.in_flight -= 1
                self._budget.settle(price, actual)
                self._progress.dollars = self._budget.spent
            heard = Heard(answered.value, redact(answered.raw), answered.model)
            await self._journal.commit([call.answer(heard, answered.dollars)])
        self.line.worked()
        self._progress.steps_called += 1
        return heard

    async def _answered(self, question: Question, pictures: tuple[bytes, ...], price: float) -> Answered:
        try:
            async with asyncio.timeout(self.role.limits.seconds):
                return await self.role.ask(pictures, question.payload, repeat=question.repeat)
        except TimeoutError as error:
            # nobody knows whether the server charges for it, so the budget counts it
            raise Transient(f"no answer within {self.role.limits.seconds:g} s", dollars=price) from error

    async def _failed(self, call: _Call, error: EditorError) -> Heard:
        """A failed attempt as a row; a refusal is also an answer."""
        row = call.failure(error)
        if isinstance(error, Transient | BadReply):
            await self._journal.commit([row])
            raise error
        if isinstance(error, Refused):
            heard = Heard(None, redact(f"{error.reason}: {error}"), self.role.about, refused=True)
            await self._journal.commit([row, call.answer(heard, 0.0)])  # the attempt's row holds what it cost
            self._progress.refusals += 1
            return heard
        note = redact(str(error))
        await self._journal.commit([row])
        self.line.failed(note)
        raise StepFailed(note) from error


@dataclass(frozen=True)
class _Call:
    """One attempt at a question, and the rows that tell of it."""

    question: Question
    role: str
    number: int
    started: str = field(default_factory=now)
    begun: float = field(default_factory=time.perf_counter)

    def failure(self, error: EditorError) -> Row:
        """How it failed. Attempts that went well are told by the answer alone, or their price would count twice."""
        outcome = next((word for kind, word in OUTCOMES.items() if isinstance(error, kind)), "error")
        values = (
            self.question.key, self.number, f"role:{self.role}", self.started, time.perf_counter() - self.begun,
            error.dollars, outcome, redact(str(error)), None, None if error.raw is None else redact(error.raw),
        )  # fmt: skip
        return ("attempts", values)

    def answer(self, heard: Heard, dollars: float) -> Row:
        """What was answered."""
        value = None if heard.value is None else canonical(heard.value)
        payload = canonical(dict(self.question.payload))
        seconds = time.perf_counter() - self.begun
        values = (self.question.key, self.role, payload, value, heard.raw, heard.model, seconds, dollars)
        return ("answers", values)


async def answer_question(
    ask: Ask, case: Case, *, questions: Mapping[str, Questions], journal: Journal, images: ImageStore
) -> Reply:
    """A study's question. A role that refuses has given no value: whether the chain goes on is the study's choice."""
    if ask.role not in questions:
        raise StudyError(f"the study asks a '{ask.role}', and none is configured{suggest(ask.role, questions)}")
    line = questions[ask.role]
    key = answer_id(
        parents=tuple(state.id for state in ask.states),
        role=ask.role,
        payload=ask.payload,
        fingerprint=line.role.fingerprint,
        replicate=case.replicate,
    )

    async def pictures() -> tuple[bytes, ...]:
        files = [journal.image(state.image)[0] for state in ask.states]
        return tuple([await images.in_thread(images.read, file) for file in files])

    heard = await line.answer(Question(key, ask.payload, pictures, case.replicate))
    return Reply(key, heard.value, heard.raw)
