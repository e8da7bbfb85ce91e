"""Agreement between rules and people on which failures a chain has.

Only chains that both examined and both decided are counted. Cohen's kappa is agreement beyond chance; where both give
the same answer for every chain, chance explains all of it and kappa has no value.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

import polars as pl

from convergebench.analysis.decay_result import SCHEMAS
from convergebench.analysis.failures import labels_by_chain, verdict_from


class AnswerPair(NamedTuple):
    """What a rule and a person decided about one chain, with the first step at which each sees the failure."""

    rule: bool
    person: bool
    rule_step: int | None
    person_step: int | None


def agreement_table(labels: pl.DataFrame) -> pl.DataFrame:
    """The frame `agreement`: rules against people, per failure mode that both examined.

    `precision` is the share of the rules' findings that people confirm, `recall` the share of people's findings that
    rules see, `step_difference` the median distance of the first steps where both see it.
    """
    pairs: dict[str, list[AnswerPair]] = {}
    for labels_of_chain in labels_by_chain(labels):
        rule, person = (verdict_from(labels_of_chain, source) for source in ("rule", "person"))
        if rule is None or person is None:
            continue
        found = pairs.setdefault(rule.mode, [])
        if rule.present is not None and person.present is not None:
            found.append(AnswerPair(rule.present, person.present, rule.step, person.step))
    rows = []
    for mode, found in sorted(pairs.items()):
        both, rule_only, person_only, neither = counts = _contingency(found)
        rows.append(
            {
                **{"mode": mode, "n": len(found), "both": both, "rule_only": rule_only, "person_only": person_only},
                **{"neither": neither, "kappa": kappa(*counts), "precision": _share(both, both + rule_only)},
                **{"recall": _share(both, both + person_only), "step_difference": _step_difference(found)},
            }
        )
    return pl.DataFrame(rows, schema=SCHEMAS["agreement"])


def _contingency(pairs: Sequence[AnswerPair]) -> tuple[int, int, int, int]:
    """How often both see it, only the rule, only the person, neither."""
    answers = [(pair.rule, pair.person) for pair in pairs]
    both, rule, person = (answers.count(kind) for kind in ((True, True), (True, False), (False, True)))
    return both, rule, person, len(answers) - both - rule - person


def kappa(both: int, one: int, other: int, neither: int) -> float | None:
    """Agreement beyond chance, at most 1 (Cohen 1960); None where chance explains everything, or without chains."""
    count = both + one + other + neither
    by_chance = (both + one) * (both + other) + (neither + one) * (neither + other)
    if by_chance == count**2:
        return None
    return ((both + neither) * count - by_chance) / (count**2 - by_chance)


def _share(part: int, of: int) -> float | None:
    return part / of if of else None


def _step_difference(pairs: Sequence[AnswerPair]) -> float | None:
    """Median distance of the first steps, over the pairs that have both."""
    steps = [(pair.rule_step, pair.person_step) for pair in pairs]
    apart = [abs(rule - person) for rule, person in steps if rule is not None and person is not None]
    return float(median(apart)) if apart else None
