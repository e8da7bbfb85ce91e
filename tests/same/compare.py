"""Two texts are equal if their words are, and their numbers to within what processors differ by.

Networks and transforms in single precision round differently on another processor: values move in their fifth digit,
and a printed digit or a coordinate of a chart by one in its last place. What the code does otherwise moves the long
numbers of the tables by more. A number that prints with a digit less moves the blanks and rules beside it, so their
lengths do not count.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

_NUMBER = re.compile(r"(?<![\w.])(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w.])")
_FILLING = re.compile(r"( |─|═)\1+")
_SHOWN = 12
_RELATIVE, _ABSOLUTE = 5e-5, 5e-5
_LONGEST_PRINTED = 4
"""Most digits after the point of a number that was rounded for people; tables have more."""


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """One line for each file that is missing, new, or differs, with the first place where it does."""
    found = [f"{name}: is missing" for name in before if name not in now]
    found += [f"{name}: is new" for name in now if name not in before]
    for name in before.keys() & now.keys():
        where = first_difference(before[name], now[name])
        if where:
            found.append(f"{name}: {where}")
    return sorted(found)


def first_difference(before: str, now: str) -> str | None:
    """Where two texts part, as `line: before → now`; None if they are equal."""
    if before == now:
        return None
    old, new = _pieces(before), _pieces(now)
    for place, (was, became) in enumerate(zip(old, new, strict=False)):
        if was != became and not _close(was, became):
            return f"line {place + 1}: {_around(was, became)}"
    if len(old) != len(new):
        place = min(len(old), len(new))
        longer = old if len(old) > len(new) else new
        return f"line {place + 1}: {'lacks' if longer is old else 'has more,'} {longer[place][:200]!r}"
    return None


def _pieces(text: str) -> list[str]:
    """Lines, with each tag of a page on its own."""
    return text.replace("><", ">\n<").splitlines()


def _close(was: str, became: str) -> bool:
    old, new = (_NUMBER.split(_FILLING.sub(r"\1", text)) for text in (was, became))
    return len(old) == len(new) and all(
        a == b if place % 2 == 0 else _same_number(a, b) for place, (a, b) in enumerate(zip(old, new, strict=True))
    )


def _same_number(was: str, became: str) -> bool:
    old, new = float(was), float(became)
    if "." not in was and "." not in became:  # a count
        return old == new
    if math.isclose(old, new, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE):
        return True
    digits = {len(text.partition(".")[2]) for text in (was, became)}
    last = min(digits)
    return len(digits) == 1 and last <= _LONGEST_PRINTED and abs(old - new) <= 1.001 * 10**-last


def _around(was: str, became: str) -> str:
    same = next((i for i, (a, b) in enumerate(zip(was, became, strict=False)) if a != b), min(len(was), len(became)))
    begin = max(0, same - 60)
    return f"{was[begin : same + 100]!r} → {became[begin : same + 100]!r}"


def told(found: list[str]) -> str:
    """The first of these differences, for a failing test."""
    more = f"\n… and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return "\n".join(found[:_SHOWN]) + more
