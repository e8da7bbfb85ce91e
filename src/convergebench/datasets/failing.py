"""Which failure labels count, and which of them a picture shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from convergebench.datasets.source import Label

WEIGHT = {"person": 3, "judge": 2, "rule": 1}
"""A person's word counts before a judge's, that before a rule's."""


def deciding(labels: Iterable[Label]) -> list[Label]:
    """Per mode the labels of whoever weighs most and could tell; of several, of whoever spoke last."""
    modes: dict[str, list[Label]] = {}
    for label in labels:
        if label.present is not None:
            modes.setdefault(label.mode, []).append(label)
    chosen: list[Label] = []
    for told in modes.values():
        last = max(told, key=lambda label: (WEIGHT.get(label.source, 0), label.made))
        chosen += [label for label in told if (label.source, label.by) == (last.source, last.by)]
    return chosen


def failures_at(labels: Sequence[Label], step: int) -> list[str] | None:
    """The modes seen in this step's picture; None: nobody looked at the chain."""
    if not labels:
        return None
    return sorted({label.mode for label in deciding(labels) if label.present and _covers(label, step)})


def _covers(label: Label, step: int) -> bool:
    return label.step is not None and label.step <= step and (label.last is None or step <= label.last)
