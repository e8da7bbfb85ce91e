"""The callers of one session: they share the journal, the budget, the retry policy and the limits of accounts."""

from __future__ import annotations

from typing import Any

from convergebench.engine.caller import AnswerT, Caller, Endpoint, ReceivedT, RequestT
from convergebench.engine.foreign import foreign_code
from convergebench.engine.gate import AccountLimits
from convergebench.engine.ledger import Budget, Ledger
from convergebench.engine.retry import RetryPolicy
from convergebench.errors import ConvergeBenchError, EditorError, Prerequisite
from convergebench.progress import Progress
from convergebench.redaction import redact
from convergebench.store.journal import Journal
from convergebench.types import Limits


class CallGroup:
    """Makes callers, stops them together and closes them."""

    def __init__(
        self,
        journal: Journal,
        *,
        max_cost: float | None = None,
        retry: RetryPolicy | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.journal = journal
        self.progress = progress or Progress()
        self._retry = retry or RetryPolicy()
        budget = Budget(max_cost, spent=journal.dollars())
        self.progress.dollars = budget.spent
        self._ledger = Ledger(journal, budget, self.progress)
        self._accounts: dict[str, AccountLimits] = {}
        self._callers: list[Caller[Any, Any, Any]] = []
        self._stopping: ConvergeBenchError | None = None

    def caller(self, endpoint: Endpoint[RequestT, ReceivedT, AnswerT]) -> Caller[RequestT, ReceivedT, AnswerT]:
        """A caller of this endpoint; endpoints of one account share its limits."""
        made = Caller(
            endpoint,
            journal=self.journal,
            ledger=self._ledger,
            retry=self._retry,
            progress=self.progress,
            account=self._account(endpoint.limits),
        )
        self._callers.append(made)
        if self._stopping is not None:
            made.channel.stop(self._stopping)
        return made

    def begin(self) -> None:
        """Before the first call, inside the event loop that makes the calls."""
        for caller in self._callers:
            caller.begin()

    def stop(self, reason: ConvergeBenchError) -> None:
        """Begin no further call; the answers of calls in flight are waited for."""
        self._stopping = self._stopping or reason
        for caller in self._callers:
            caller.channel.stop(reason)

    @property
    def stopped(self) -> list[str]:
        """The reasons why callers begin no further call; empty if none has stopped."""
        reasons = [self._stopping, *(caller.channel.stopping for caller in self._callers)]
        return list(dict.fromkeys(str(reason) for reason in reasons if reason is not None))

    async def close(self) -> None:
        """Close all connections; an error in foreign code only becomes a note."""
        for caller in self._callers:
            try:
                with foreign_code():
                    await caller.endpoint.close()
            except (EditorError, Prerequisite) as error:
                self.progress.note = redact(f"{caller.endpoint.name} did not close: {error}")

    def _account(self, limits: Limits) -> AccountLimits | None:
        if not limits.account:
            return None
        return self._accounts.setdefault(limits.account, AccountLimits(limits.together))
