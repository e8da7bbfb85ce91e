"""Which failures a chain shows, and in which of its pictures, given all labels.

The rule is the report's: people before judges before rules. The newest examination of each labeller counts. Several
people decide by majority; a tie, or an undecidable label, is no failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from convergebench.store.tables import LabelRow

PRECEDENCE = ("person", "judge", "rule")


def seen(labels: Iterable[LabelRow]) -> dict[str, list[list[LabelRow]]]:
    """Modes that count as present → for each labeller who sees them, the labels that say so."""
    modes: dict[str, list[LabelRow]] = {}
    for label in labels:
        modes.setdefault(label.mode, []).append(label)
    return {mode: labellers for mode, given in modes.items() if (labellers := _labellers(given))}


def failures_at(labels: Sequence[LabelRow], step: int) -> list[str] | None:
    """The modes seen in this step's picture; None: the chain was not examined.

    Of several people who see a mode, half must see it at this step: it begins at the median of their steps.
    """
    if not labels:
        return None
    return sorted(
        mode
        for mode, labellers in seen(labels).items()
        if 2 * sum(any(_covers(label, step) for label in own) for own in labellers) >= len(labellers)
    )


def _labellers(given: Sequence[LabelRow]) -> list[list[LabelRow]]:
    """The labels of each labeller who says yes, if the majority does; else none."""
    source = next((kind for kind in PRECEDENCE if any(label.source == kind for label in given)), None)
    looks: dict[str, list[LabelRow]] = {}
    for label in given:
        if label.source == source:  # all versions of a rule are one labeller
            looks.setdefault(label.by if source == "person" else source, []).append(label)
    answers = [_newest(look) for look in looks.values()]
    yes = [own for look in answers if (own := [label for label in look if label.present])]
    no = [look for look in answers if all(label.present == 0 for label in look)]
    return yes if len(yes) > len(no) else []


def _newest(look: Sequence[LabelRow]) -> list[LabelRow]:
    made = max(label.made for label in look)
    return [label for label in look if label.made == made]


def _covers(label: LabelRow, step: int) -> bool:
    return label.step is not None and label.step <= step and (label.last is None or step <= label.last)
