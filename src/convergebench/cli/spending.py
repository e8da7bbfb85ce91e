"""Telling a person of money that nobody can be sure of."""

from __future__ import annotations

from convergebench.store.journal import Records


def tell_unsettled(journal: Records) -> None:
    """How many calls have no whole answer on record, and what they are counted at."""
    from convergebench.cli.display import say_beside

    calls, dollars = journal.unsettled()
    if calls:
        words = "1 call has" if calls == 1 else f"{calls:,} calls have"
        say_beside(
            f"note: {words} no whole answer on record and may have been charged; counted at full price "
            f"(${dollars:,.4f} of ${journal.dollars():,.4f})"
        )
