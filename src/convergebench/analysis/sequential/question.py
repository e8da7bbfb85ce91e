"""The question of a run that is made until it is decided, as it is kept with the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import combinations
from typing import Any

import numpy as np

from convergebench.analysis.sequential.betting import Method, capital
from convergebench.errors import StudyError
from convergebench.ids import content_hash

SHOWN = {"order": "images", "most": "most images", "error": "error rate", "rounds": "rounds"}
"""Names of fields in messages, where they differ."""


@dataclass(frozen=True, slots=True)
class UntilQuestion:
    """What is to be decided. Everything here is fixed before the first look."""

    pairs: tuple[tuple[str, str], ...]
    """The comparisons, each of two editors."""
    ask: str
    number: str
    difference: float
    """Smallest difference of interest, in points."""
    error: float
    """Over all comparisons, both directions and all looks."""
    method: Method
    largest: float
    """Points with which one image counts at most."""
    most: int
    """Most images."""
    step: int
    """Images between two looks."""
    rounds: int
    """Rounds of a whole chain; 0: they differ."""
    seed: int
    order: tuple[str, ...]
    """Every image of the study, in the random order in which they are run."""
    cases: Mapping[str, tuple[str, ...]]
    """Per image: the cases that all editors have."""

    @property
    def editors(self) -> tuple[str, ...]:
        """Those that are compared."""
        return tuple(dict.fromkeys(name for pair in self.pairs for name in pair))

    @property
    def error_each(self) -> float:
        """The error rate of one comparison: Bonferroni, which needs no independence and no common time to stop."""
        return self.error / len(self.pairs)

    def next_look(self, images: int) -> int:
        """The number of images at the look after this many."""
        first = min(self.most, first_look(self.method, self.error_each, len(self.order)))
        if images < first:
            return first
        return min(self.most, first + ((images - first) // self.step + 1) * self.step)

    def to_json(self) -> dict[str, Any]:
        """Ready for a file."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> UntilQuestion:
        """From a file; `ValueError` if it is not one of ours."""
        names = {one.name for one in fields(cls)}
        if not names <= content.keys():
            raise ValueError(f"it lacks {', '.join(sorted(names - content.keys()))}")
        kept = {name: content[name] for name in names}
        kept["pairs"] = tuple((str(one), str(other)) for one, other in kept["pairs"])
        kept["order"] = tuple(map(str, kept["order"]))
        kept["cases"] = {str(image): tuple(map(str, cases)) for image, cases in dict(kept["cases"]).items()}
        return cls(**kept)


def first_look(method: Method, error: float, images: int) -> int:
    """The fewest images after which anything could be decided: if all spoke for one editor as strongly as possible."""
    most = capital(np.ones(max(1, images)), 0.0, method, images)
    enough = np.flatnonzero(most >= 2 / error)
    return int(enough[0]) + 1 if enough.size else images


def pairs_of(editors: Sequence[str], baseline: str) -> tuple[tuple[str, str], ...]:
    """Every two editors, or the baseline with every other."""
    if baseline:
        return tuple((one, baseline) for one in editors if one != baseline)
    return tuple(combinations(editors, 2))


def random_order(images: Sequence[str], seed: int) -> tuple[str, ...]:
    """All images in random order; it depends on the seed and their names alone, not on how they were listed."""
    return tuple(sorted(images, key=lambda image: content_hash([seed, image])))


def require_same(before: UntilQuestion, now: UntilQuestion, where: str) -> None:
    """`StudyError` if the question has changed: the looks so far have used the error rate of the first one."""
    changes = []
    for one in fields(UntilQuestion):
        old, new = getattr(before, one.name), getattr(now, one.name)
        same = dict(old) == dict(new) if one.name == "cases" else old == new
        if not same and one.name != "step":
            told = isinstance(old, int | float | str)
            changes.append(f"{SHOWN.get(one.name, one.name)}{f': {old} → {new}' if told else ''}")
    if changes:
        raise StudyError(
            f"{where} was begun to decide another question ({'; '.join(changes)}), and its looks have used that "
            f"question's error rate; ask the same, or use another --run and add --reuse {where} to pay nothing twice"
        )
