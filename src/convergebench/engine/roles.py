"""Questions to a role: put once, retried, paced and paid for like an editor's calls, and journalled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from convergebench.engine.attempt import Attempt, Charge, Price, charge_of, is_amount, told
from convergebench.engine.foreign import foreign_code, said
from convergebench.engine.gate import Patience
from convergebench.engine.ledger import Ledger, Payment
from convergebench.engine.line import Line, StepFailed, Together
from convergebench.engine.progress import Progress
from convergebench.engine.retry import RetryPolicy
from convergebench.errors import BadReply, EditorError, Prerequisite, Refused, StudyError, Transient
from convergebench.ids import answer_id, canonical
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
        ledger: Ledger,
        retry: RetryPolicy,
        progress: Progress,
        patience: Patience | None = None,
    ) -> None:
        if ledger.limited and role.dollars_per_call is None:
            raise StudyError(
                f"--max-cost cannot be kept: what the {name} charges is not known; give [roles.{name}] its "
                "dollars_per_million = {input = …, output = …} (0 for a server of your own)"
            )
        self.role, self.name = role, name
        self.line = Line(name, role.limits, retry=retry, progress=progress, patience=patience)
        self._journal, self._ledger, self._progress = journal, ledger, progress
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
        first = self._journal.last_attempt(question.key) + 1
        return await self.line.tried(lambda number: self._attempt(question, number), first=first)

    async def _attempt(self, question: Question, number: int) -> Heard:
        """One call. Its place among the calls in flight is held until its row is durable, so a kill loses no more."""
        async with self.line.slot():
            pictures = await question.pictures()
            attempt = Attempt(
                question.key, number, f"role:{self.name}", Price.of(self.role.dollars_per_call, f"the {self.name}")
            )
            async with self._ledger.call(attempt) as payment:
                try:
                    return await self._answered(question, pictures, attempt, payment)
                except EditorError as error:
                    return await self._failed(question, attempt, error, payment)

    async def _answered(
        self, question: Question, pictures: tuple[bytes, ...], attempt: Attempt, payment: Payment
    ) -> Heard:
        try:
            answered = await self._asked(question, pictures)
            value, text = _storable(answered.value)
            heard = Heard(value, told(answered.raw), told(answered.model))
        except (Prerequisite, StudyError) as error:  # no key, a refused key, no such model: nothing is charged
            payment.dollars = 0.0
            await self._journal.commit([attempt.row("error", error=str(error))])
            raise
        except EditorError:
            raise
        except Exception as error:  # a role may be foreign code: its slips end a question, not a run of days
            raise EditorError(said(error), unsettled=True) from error
        payment.dollars = answered.dollars
        row = attempt.row("ok", Charge(answered.dollars), model=heard.model)
        await self._journal.commit([_answer_row(question, self.name, heard, text, attempt, answered.dollars), row])
        self.line.worked()
        self._progress.steps_called += 1
        return heard

    async def _asked(self, question: Question, pictures: tuple[bytes, ...]) -> Answered:
        try:
            async with asyncio.timeout(self.role.limits.seconds):
                with foreign_code(StudyError):
                    answered = await self.role.ask(pictures, question.payload, repeat=question.repeat)
        except TimeoutError as error:
            raise Transient(f"no answer within {self.role.limits.seconds:g} s", unsettled=True) from error
        if not is_amount(answered.dollars):
            raise EditorError(f"the {self.name} says that the call cost {answered.dollars!r} dollars", unsettled=True)
        return answered

    async def _failed(self, question: Question, attempt: Attempt, error: EditorError, payment: Payment) -> Heard:
        """A failed attempt as a row; a refusal is also an answer."""
        charge = charge_of(error, attempt.price)
        payment.dollars = charge.dollars
        row = attempt.failure(error, charge)
        if isinstance(error, Refused):
            heard = Heard(None, told(f"{error.reason}: {error}"), told(self.role.about), refused=True)
            answer = _answer_row(question, self.name, heard, None, attempt, charge.dollars)
            await self._journal.commit([row, answer])
            self._progress.refusals += 1
            return heard
        await self._journal.commit([row])
        if isinstance(error, Transient | BadReply):
            raise error
        note = told(str(error))
        self.line.failed(note)
        raise StepFailed(note) from error


def _storable(value: Any) -> tuple[Any, str | None]:
    """(value, its JSON); a value that JSON or the journal cannot hold is none, like a reply that cannot be parsed."""
    if value is None:
        return None, None
    try:
        text = canonical(value)
        text.encode("utf-8")
    except (TypeError, ValueError, RecursionError):
        return None, None
    return value, text


def _answer_row(
    question: Question, role: str, heard: Heard, value: str | None, attempt: Attempt, dollars: float
) -> Row:
    """What was answered. The attempt's row counts what it cost; it stands here for whoever reads answers."""
    payload = canonical(dict(question.payload))
    values = (question.key, role, payload, value, heard.raw, heard.model, attempt.seconds, dollars)
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
