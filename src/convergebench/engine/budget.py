"""Money: nothing is called that could take the run over its limit."""

from __future__ import annotations

from convergebench.errors import BudgetSpent


class Budget:
    """What was spent, what calls in flight may still cost, and the limit over both."""

    def __init__(self, limit: float | None = None, *, spent: float = 0.0) -> None:
        self.limit = limit
        self.spent = spent
        self.reserved = 0.0

    def reserve(self, dollars: float) -> None:
        """Set this call's price aside, or raise before it is made."""
        # what costs nothing exceeds nothing, even where a call that came home was dearer than its price
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
