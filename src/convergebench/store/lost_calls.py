"""Calls whose row is lost, counted from what is left: the index of calls, and the results of the calls."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from convergebench.store.columns import Values

if TYPE_CHECKING:
    from convergebench.store.salvage import Salvage

KEY_KINDS = ("s1:", "a1:")
"""Prefixes of the keys of steps and of questions."""
FROM_INDEX = "the row of this call was lost; its cost was recovered from the index"
FROM_RESULT = "the row of this call was lost; it is known from its result and counted at the editor's highest price"


class Indexed(NamedTuple):
    """A call as `attempts_by_editor` has it: the index is a second copy of what was paid."""

    editor: str
    outcome: str
    dollars: float
    seconds: float


def is_amount(value: Any) -> bool:
    """Whether this can be a sum of money or a time."""
    return isinstance(value, int | float) and math.isfinite(value) and 0 <= value < 1e12


def indexed_calls(records: Iterable[Values]) -> dict[Values, Indexed]:
    """(step, attempt) → call; of an entry found on several pages, the most expensive."""
    found: dict[Values, Indexed] = {}
    for record in records:
        if len(record) != 6:
            continue
        editor, outcome, dollars, seconds, step, attempt = record
        named = all(isinstance(word, str) and word.isprintable() for word in (editor, outcome, step))
        if not named or step[:3] not in KEY_KINDS or not isinstance(attempt, int):
            continue
        if not is_amount(dollars) or not is_amount(seconds):
            continue
        call = Indexed(editor, outcome, float(dollars), float(seconds))
        before = found.get((step, attempt))
        if before is None or before.dollars < call.dollars:
            found[step, attempt] = call
    return found


def count_lost_calls(found: Salvage, indexed: dict[Values, Indexed], recorded: Collection[str]) -> int:
    """Add the missing rows of known calls and return how many; calls of `recorded` editors cost nothing."""
    if not (found.suspect or "attempts" in found.torn or found.lost.get("attempts")):
        return 0
    rows = found.tables["attempts"]
    before = len(rows)
    for (step, attempt), call in indexed.items():
        if (step, attempt) not in rows:
            settled = call.outcome in ("ok", "reused", "refused")
            _add(found, (step, attempt), call, FROM_INDEX, settled=settled)
    prices: dict[str, float] = dict.fromkeys(recorded, 0.0)
    for row in found.rows("attempts"):
        prices[row["editor"]] = max(prices.get(row["editor"], 0.0), row["dollars"])
    called = {step for step, _ in rows}
    for key, editor, dollars in _results(found):
        if key not in called:
            price = prices.get(editor, max(prices.values(), default=0.0)) if dollars is None else dollars
            free = dollars is not None or prices.get(editor) == 0
            _add(found, (key, 1), Indexed(editor, "unknown", price, 0.0), FROM_RESULT, settled=free)
    return len(rows) - before


def _results(found: Salvage) -> Iterator[tuple[str, str, float | None]]:
    """(key, editor, dollars if known) of every stored result of a call."""
    for row in found.rows("steps"):
        yield row["id"], row["editor"], None
    for row in found.rows("chain_steps"):
        yield row["step"], row["editor"], None
    if found.version >= 5:  # before, an answer held its own cost; the migration moves it
        for row in found.rows("answers"):
            yield row["id"], f"role:{row['role']}", row["dollars"]


def _add(found: Salvage, key: Values, call: Indexed, why: str, *, settled: bool) -> None:
    row = (*key, call.editor, "", call.seconds, call.dollars, call.outcome, why, None, None, int(settled), "")
    found.tables["attempts"].setdefault(key, row[: len(found.columns["attempts"])])
