"""Which failures a chain is held to show, and in which of its pictures.

The rule is the report's: people before judges before rules. Of each person the newest list counts, of judges and rules
the last look. Several people decide by majority; as many yes as no, and what nobody could tell, is no failure seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from convergebench.datasets.source import Label

VOICES = ("person", "judge", "rule")
"""Who is heard first."""


def seen(labels: Iterable[Label]) -> dict[str, list[list[Label]]]:
    """Modes held to be there → for each maker that sees them, the labels that say so."""
    modes: dict[str, list[Label]] = {}
    for label in labels:
        modes.setdefault(label.mode, []).append(label)
    return {mode: makers for mode, told in modes.items() if (makers := _makers(told))}


def failures_at(labels: Sequence[Label], step: int) -> list[str] | None:
    """The modes seen in this step's picture; None: nobody looked at the chain.

    Of several people who see one, half must see it here: so it begins at the middle one of the steps they name.
    """
    if not labels:
        return None
    return sorted(
        mode
        for mode, makers in seen(labels).items()
        if 2 * sum(any(_covers(label, step) for label in own) for own in makers) >= len(makers)
    )


def _makers(told: Sequence[Label]) -> list[list[Label]]:
    """The labels of each maker who says yes, if that is what holds; else none."""
    voice = next((voice for voice in VOICES if any(label.source == voice for label in told)), None)
    looks: dict[str, list[Label]] = {}
    for label in told:
        if label.source == voice:  # a rule is one maker, whichever version of it spoke
            looks.setdefault(label.by if voice == "person" else voice, []).append(label)
    answers = [_newest(look) for look in looks.values()]
    yes = [own for look in answers if (own := [label for label in look if label.present])]
    no = [look for look in answers if all(label.present == 0 for label in look)]
    return yes if len(yes) > len(no) else []


def _newest(look: Sequence[Label]) -> list[Label]:
    made = max(label.made for label in look)
    return [label for label in look if label.made == made]


def _covers(label: Label, step: int) -> bool:
    return label.step is not None and label.step <= step and (label.last is None or step <= label.last)
