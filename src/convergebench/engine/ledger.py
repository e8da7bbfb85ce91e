"""Money around one call: set aside and journalled before it is made, settled when it has come home.

The order matters. A call whose row is not on the disk is not made, so whatever ends the process, the next session knows
of every call that may have been charged and counts those without an answer at their price.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from convergebench.engine.attempt import Attempt
from convergebench.engine.budget import Budget
from convergebench.engine.progress import Progress
from convergebench.store.journal import Journal


@dataclass
class Payment:
    """What a call is counted at; its price until something better is known."""

    dollars: float


class Ledger:
    """One per session, for editors and roles alike."""

    def __init__(self, journal: Journal, budget: Budget, progress: Progress) -> None:
        self._journal, self._budget, self._progress = journal, budget, progress

    @property
    def limited(self) -> bool:
        """Whether there is a limit to keep, for which every price must be known."""
        return self._budget.limit is not None

    @asynccontextmanager
    async def call(self, attempt: Attempt, *, intent: bool = True) -> AsyncIterator[Payment]:
        """Make the call inside; `BudgetSpent` before it if it could exceed the limit.

        Without an `intent` nothing is journalled before the call: whatever it spends has rows of its own.
        """
        price = attempt.price.dollars
        self._budget.reserve(price)
        payment = Payment(0.0)
        self._progress.in_flight += 1
        try:
            if intent and not attempt.price.free:
                await self._journal.commit([attempt.intent()])
            payment.dollars = price if intent else 0.0
            yield payment
        finally:
            self._progress.in_flight -= 1
            self._budget.settle(price, payment.dollars)
            self._progress.dollars = self._budget.spent
