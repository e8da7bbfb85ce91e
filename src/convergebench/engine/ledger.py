"""Money: the limit of a run, and the price of each call, reserved and journalled before it, settled after its answer.

The order matters. No call is made before its row is on the disk, so that after a crash the next session knows every
call that may have been charged and counts those without an answer at their price.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from convergebench.engine.attempt import Attempt
from convergebench.errors import BudgetSpent
from convergebench.progress import Progress
from convergebench.store.journal import Journal


class Budget:
    """What was spent, what calls in flight may still cost, and the limit over both."""

    def __init__(self, limit: float | None = None, *, spent: float = 0.0) -> None:
        self.limit = limit
        self.spent = spent
        self.reserved = 0.0

    def reserve(self, dollars: float) -> None:
        """Set this call's price aside, or raise before it is made."""
        # what costs nothing exceeds nothing, even where an earlier call cost more than its price
        if self.limit is not None and dollars > 0 and self.spent + self.reserved + dollars > self.limit + 1e-9:
            raise BudgetSpent(
                f"the next call (${dollars:.4f}) would exceed --max-cost ${self.limit:.2f}: "
                f"${self.spent:.4f} spent, ${self.reserved:.4f} in flight"
            )
        self.reserved += dollars

    def settle(self, reserved: float, actual: float) -> None:
        """Replace what was set aside by what the call really cost."""
        self.reserved -= reserved
        self.spent += actual


@dataclass
class Payment:
    """What a call is counted at; its price until its cost is known."""

    dollars: float


class Ledger:
    """One per session, for editors and roles alike."""

    def __init__(self, journal: Journal, budget: Budget, progress: Progress) -> None:
        self._journal, self._budget, self._progress = journal, budget, progress

    @property
    def limited(self) -> bool:
        """Whether there is a limit on cost, so that every price must be known."""
        return self._budget.limit is not None

    @asynccontextmanager
    async def call(self, attempt: Attempt, *, intent: bool = True) -> AsyncIterator[Payment]:
        """Make the call inside; `BudgetSpent` before it if it could exceed the limit.

        Without an `intent` nothing is journalled before the call: all it spends has rows of its own.
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
