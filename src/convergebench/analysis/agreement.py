"""Do rules see what people see? And do people see the same?

Chains that both have looked at and both could decide are counted; what other voices say of them plays no part. Cohen's
kappa takes off what would agree by chance alone. Where both give one and the same answer throughout, chance explains
all of it, and kappa has no value.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from statistics import median
from typing import NamedTuple

import polars as pl

from convergebench.analysis.failures import ballots, matters, said, said_by
from convergebench.analysis.schemas import F, N, T

AGREEMENT: dict[str, type[pl.DataType]] = {
    **{"mode": T, "n": N, "both": N, "rule_only": N, "person_only": N, "neither": N, "kappa": F, "precision": F},
    **{"recall": F, "step_difference": F},
}
"""`precision`: of what rules see, the share that people see. `recall`: the other way round. `step_difference`: median
distance of the first steps where both see it."""
PEOPLE: dict[str, type[pl.DataType]] = {
    **{"mode": T, "first": T, "second": T, "n": N, "both": N, "first_only": N, "second_only": N, "neither": N},
    **{"kappa": F, "step_difference": F},
}


class Pair(NamedTuple):
    """Two decided answers about one chain, with the steps at which it is first seen."""

    one: bool
    other: bool
    step: int | None
    other_step: int | None


def agreement_table(labels: pl.DataFrame) -> pl.DataFrame:
    """The frame `agreement`: rules against people, per failure mode that both have looked for."""
    pairs: dict[str, list[Pair]] = {}
    for rows in matters(labels):
        rule, person = said_by(rows, "rule"), said_by(rows, "person")
        if rule is None or person is None:
            continue
        found = pairs.setdefault(rule.mode, [])
        if rule.present is not None and person.present is not None:
            found.append(Pair(rule.present, person.present, rule.step, person.step))
    rows = []
    for mode, found in sorted(pairs.items()):
        both, rule_only, person_only, neither = counts = tally(found)
        rows.append(
            {
                **{"mode": mode, "n": len(found), "both": both, "rule_only": rule_only, "person_only": person_only},
                **{"neither": neither, "kappa": kappa(*counts), "precision": _share(both, both + rule_only)},
                **{"recall": _share(both, both + person_only), "step_difference": _apart(found)},
            }
        )
    return pl.DataFrame(rows, schema=AGREEMENT)


def people_table(labels: pl.DataFrame) -> pl.DataFrame:
    """The frame `people`: every two persons who looked at the same chains, per failure mode."""
    pairs: dict[tuple[str, str, str], list[Pair]] = {}
    for rows in matters(labels):
        votes = {who: said(ballot) for who, ballot in ballots(rows).items()}
        for one, other in combinations(sorted(votes), 2):
            (first, step), (second, other_step) = votes[one], votes[other]
            if first is not None and second is not None:
                matter = pairs.setdefault((rows[0]["mode"], one, other), [])
                matter.append(Pair(first, second, step, other_step))
    rows = []
    for (mode, one, other), found in sorted(pairs.items()):
        both, first_only, second_only, neither = counts = tally(found)
        rows.append(
            {
                **{"mode": mode, "first": one, "second": other, "n": len(found), "both": both},
                **{"first_only": first_only, "second_only": second_only, "neither": neither},
                **{"kappa": kappa(*counts), "step_difference": _apart(found)},
            }
        )
    return pl.DataFrame(rows, schema=PEOPLE)


def tally(pairs: Sequence[Pair]) -> tuple[int, int, int, int]:
    """How often both see it, only the one, only the other, neither."""
    answers = [(pair.one, pair.other) for pair in pairs]
    both, one, other = (answers.count(kind) for kind in ((True, True), (True, False), (False, True)))
    return both, one, other, len(answers) - both - one - other


def kappa(both: int, one: int, other: int, neither: int) -> float | None:
    """Agreement beyond chance, 1 at best (Cohen 1960); None where chance explains everything, or without chains."""
    count = both + one + other + neither
    by_chance = (both + one) * (both + other) + (neither + one) * (neither + other)
    if by_chance == count**2:
        return None
    return ((both + neither) * count - by_chance) / (count**2 - by_chance)


def _share(part: int, of: int) -> float | None:
    return part / of if of else None


def _apart(pairs: Sequence[Pair]) -> float | None:
    """Median distance of the first steps, where both have one."""
    apart = [
        abs(pair.step - pair.other_step) for pair in pairs if pair.step is not None and pair.other_step is not None
    ]
    return float(median(apart)) if apart else None
