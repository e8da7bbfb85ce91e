"""One way to call an editor or a role: from the journal if the answer is there, else by calling, at most once per key.

Retry, pace, budget, the row before and after each call, and what a failure means are the same for both. An `Endpoint`
says what differs: what is sent, what is checked in an answer, which rows it becomes.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Generic, Protocol, TypeVar

from convergebench.engine.attempt import Attempt, Charge, Price, Spending, charge_of, stored_text
from convergebench.engine.channel import Channel, InFlight, StepFailed, Stopped
from convergebench.engine.foreign import describe_error
from convergebench.engine.gate import AccountLimits
from convergebench.engine.ledger import Ledger, Payment
from convergebench.engine.retry import RetryPolicy
from convergebench.errors import (
    BadReply,
    BudgetSpent,
    EditorError,
    Prerequisite,
    Refused,
    StudyError,
    Transient,
    Unavailable,
    Unstorable,
)
from convergebench.progress import Progress
from convergebench.redaction import redact
from convergebench.store.journal import Journal
from convergebench.store.tables import AttemptRow, TableRow
from convergebench.types import Limits


class CallRequest(Protocol):
    """What is to be answered."""

    @property
    def key(self) -> str:
        """Equal keys have equal answers."""

    @property
    def rows(self) -> list[TableRow]:
        """Uncommitted rows of the chain; committed with the answer and then removed from the list."""


class Capacity(Protocol):
    """How many calls can be carried out at once, where machines come and go."""

    def listen(self, resize: Callable[[int], None]) -> None:
        """Call this with the number now and at every change, inside the event loop of the caller."""


class Received(Protocol):
    """What came back from a call."""

    @property
    def dollars(self) -> float:
        """What it cost."""

    @property
    def model(self) -> str:
        """The model that answered."""


RequestT = TypeVar("RequestT", bound=CallRequest)
ReceivedT = TypeVar("ReceivedT", bound=Received)
AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True)
class Exchange(Generic[ReceivedT]):
    """One call that is ready to be made."""

    send: Callable[[], Awaitable[ReceivedT]]
    """Raises `EditorError`, `Prerequisite` or `StudyError`; after the last two nothing has been charged."""
    parts: Spending = field(default_factory=Spending)
    """Totals of the calls of its parts, which have rows of their own."""


@dataclass(frozen=True)
class Accepted(Generic[AnswerT]):
    """An answer and the rows that keep it; `raw` goes to the row of the attempt."""

    answer: AnswerT
    rows: list[TableRow]
    raw: str | None = None


class Endpoint(ABC, Generic[RequestT, ReceivedT, AnswerT]):
    """An editor or a role, as the caller needs it."""

    name: str
    """For messages."""
    label: str
    """For the table of attempts."""
    limits: Limits
    unpriced: str
    """The error message if a limit on cost is set and the price is unknown."""
    composed: bool = False
    """Whether all it spends is spent by its parts."""
    capacity: Capacity | None = None
    """How many calls it can take at once, where that changes during the run."""

    @abstractmethod
    def price(self, request: RequestT | None = None) -> Price:
        """What this call may cost; without a request, what calls usually cost."""

    @abstractmethod
    def known(self, key: str) -> AnswerT | None:
        """The answer that the journal has."""

    async def reused(self, request: RequestT) -> Accepted[AnswerT] | None:
        """The answer from another run, copied."""
        return None

    @abstractmethod
    async def prepare(self, request: RequestT, number: int, row_numbers: Iterator[int]) -> Exchange[ReceivedT]:
        """Make attempt `number` ready to be sent; `row_numbers` are unused numbers in the table of attempts."""

    @abstractmethod
    async def accept(self, request: RequestT, attempt: Attempt, received: ReceivedT) -> Accepted[AnswerT]:
        """The checked answer, or `EditorError`."""

    @abstractmethod
    def declined(
        self, request: RequestT, attempt: Attempt, error: EditorError, charge: Charge
    ) -> Accepted[AnswerT] | None:
        """The answer that an error stands for (a refusal, the end of a recording); None: it is a failure."""

    @abstractmethod
    async def close(self) -> None:
        """Close connections."""


class Caller(Generic[RequestT, ReceivedT, AnswerT]):
    """One endpoint with its pace, its retries and its share of the budget."""

    def __init__(
        self,
        endpoint: Endpoint[RequestT, ReceivedT, AnswerT],
        *,
        journal: Journal,
        ledger: Ledger,
        retry: RetryPolicy,
        progress: Progress,
        account: AccountLimits | None = None,
    ) -> None:
        if not endpoint.price().known and ledger.limited:
            raise StudyError(endpoint.unpriced)
        self.endpoint = endpoint
        self.channel = Channel(endpoint.name, endpoint.limits, retry=retry, progress=progress, account=account)
        self._journal, self._ledger, self._progress = journal, ledger, progress
        self._in_flight: InFlight[AnswerT] = InFlight()

    def begin(self) -> None:
        """Follow the number of calls that the endpoint can take; needs a running event loop."""
        if self.endpoint.capacity is not None:
            self.endpoint.capacity.listen(self.channel.resize)

    async def answer(self, request: RequestT) -> AnswerT:
        """From the journal, from another run, or by calling; equal requests at the same time share one call."""
        known = self.endpoint.known(request.key)
        if known is None:
            known = await self._in_flight.once(request.key, lambda: self._obtain(request))
        return known

    async def _obtain(self, request: RequestT) -> AnswerT:
        reused = await self.endpoint.reused(request)
        if reused is not None:
            await self._commit(request, reused.rows)
            return reused.answer
        first = self._journal.attempts(request.key) + 1
        row_numbers = count(self._journal.last_attempt(request.key) + 1)
        try:
            return await self.channel.retried(lambda number: self._attempt(request, number, row_numbers), first=first)
        except BudgetSpent as limit:  # other callers may cost less, or nothing
            self.channel.stop(limit)
            raise
        except Unavailable as error:  # other callers may have another key
            self._progress.note = f"{self.endpoint.name}: {redact(str(error))}"
            self.channel.stop(Stopped(self._progress.note))
            raise

    async def _attempt(self, request: RequestT, number: int, row_numbers: Iterator[int]) -> AnswerT:
        """One call. Its slot is held until its row is durable, so a kill loses no more than the calls in flight."""
        async with self.channel.slot():
            exchange = await self.endpoint.prepare(request, number, row_numbers)
            attempt = Attempt(request.key, next(row_numbers), self.endpoint.label, self.endpoint.price(request))
            async with self._ledger.call(attempt, intent=not self.endpoint.composed) as payment:
                try:
                    return await self._answered(request, attempt, exchange, payment)
                except EditorError as error:
                    return await self._failed(request, attempt, exchange, error, payment)
                finally:
                    payment.dollars += exchange.parts.dollars

    async def _answered(
        self, request: RequestT, attempt: Attempt, exchange: Exchange[ReceivedT], payment: Payment
    ) -> AnswerT:
        parts = exchange.parts
        try:
            received = await self._sent(exchange)
        except (Prerequisite, StudyError) as error:
            payment.dollars = 0.0
            await self._journal.commit([attempt.row("error", error=str(error), parts=parts)])
            raise
        try:
            accepted = await self.endpoint.accept(request, attempt, received)
            payment.dollars = max(0.0, received.dollars - parts.dollars)
            row = attempt.row("ok", Charge(payment.dollars), model=received.model, raw=accepted.raw, parts=parts)
        except (EditorError, StudyError):
            raise
        except Exception as error:  # an editor or role may be foreign code: its bugs end a chain, not the run
            raise EditorError(describe_error(error), unsettled=True) from error
        await self._commit(request, [*accepted.rows, row])
        self.channel.succeeded()
        self._progress.steps_called += 1
        return accepted.answer

    async def _sent(self, exchange: Exchange[ReceivedT]) -> ReceivedT:
        seconds = self.endpoint.limits.seconds
        try:
            async with asyncio.timeout(seconds):
                return await exchange.send()
        except TimeoutError as error:
            raise Transient(f"no answer within {seconds:g} s", unsettled=True) from error

    async def _failed(
        self, request: RequestT, attempt: Attempt, exchange: Exchange[Any], error: EditorError, payment: Payment
    ) -> AnswerT:
        """Store a failed attempt; some failures, such as refusals, are answers."""
        charge = charge_of(error, Price(0.0) if self.endpoint.composed else attempt.price)
        charge = charge._replace(dollars=max(0.0, charge.dollars - exchange.parts.dollars))
        payment.dollars = charge.dollars
        row = attempt.failure(error, charge, parts=exchange.parts)
        if isinstance(error, Transient | BadReply):
            await self._journal.commit([row])
            raise error
        declined = self.endpoint.declined(request, attempt, error, charge)
        await self._commit(request, [*(declined.rows if declined else ()), row])
        if declined is not None:
            self._progress.refusals += isinstance(error, Refused)
            return declined.answer
        if isinstance(error, Unavailable):
            raise error
        # the request is wrong: the step stays open for a later run
        self.channel.failed(str(error))
        raise StepFailed(stored_text(str(error))) from error

    async def _commit(self, request: RequestT, rows: list[TableRow]) -> None:
        """Commit these with the uncommitted rows of the chain, and remove those from its list."""
        pending = list(request.rows)
        try:
            await self._journal.commit([*rows, *pending])
        except Unstorable:  # the chain cannot go on, but what its call cost stays on record
            await self._journal.commit([row for row in rows if isinstance(row, AttemptRow)])
            raise
        del request.rows[: len(pending)]
