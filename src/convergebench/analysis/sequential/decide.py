"""What a run has decided so far: every comparison with its interval, and who still has to be run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from convergebench.analysis.sequential.betting import anytime_p, bounds, lower_ends
from convergebench.analysis.sequential.question import UntilQuestion
from convergebench.analysis.sequential.scores import ImageDifference
from convergebench.analysis.trajectories import Floats

ROUNDING = 1e-9
"""Points below which a difference comes from the order of a summation."""
Verdict = Literal["ahead", "behind", "alike", "open"]
Differences = Callable[[str, str], Sequence[ImageDifference]]


class Look(NamedTuple):
    """The interval of one comparison after some number of images, in points."""

    images: int
    low: float
    high: float


class PairFinding(NamedTuple):
    """One comparison: `one` minus `other`, in points, and what may be said of it."""

    one: str
    other: str
    verdict: Verdict
    """`ahead`: one is ahead. `behind`: the other is. `alike`: no difference of interest. `open`: none of these yet."""
    within: bool
    """Whether every difference of interest is excluded; may go together with `ahead`."""
    difference: float | None
    """Mean over the images that are known."""
    low: float
    high: float
    p: float
    """Of no difference; corrected for the number of comparisons, valid whenever one stops."""
    images: int
    partial: int
    """Images of these that have rounds left to run."""
    missing: int
    """Images of these that cannot be compared."""

    @property
    def decided(self) -> bool:
        """Whether the question is answered."""
        return self.verdict != "open"

    @property
    def loser(self) -> str:
        """Who was found behind; empty if nobody."""
        return {"ahead": self.other, "behind": self.one}.get(self.verdict, "")


@dataclass(frozen=True)
class UntilDecision:
    """Every comparison of a question."""

    question: UntilQuestion
    findings: tuple[PairFinding, ...]
    seen: Mapping[tuple[str, str], tuple[ImageDifference, ...]]
    """Per comparison: the images it rests on."""

    @property
    def running(self) -> tuple[str, ...]:
        """The editors that a comparison still needs."""
        open_ones = [one for one in self.findings if self._is_open(one)]
        needed = {name for one in open_ones for name in (one.one, one.other)}
        return tuple(name for name in self.question.editors if name in needed)

    @property
    def settled(self) -> bool:
        """Whether every comparison is decided, or needs no decision any more."""
        return all(one.decided or self._is_moot(one) for one in self.findings)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to run: all is decided, or the most images are reached."""
        return not self.running

    @property
    def images(self) -> int:
        """The most images of any comparison."""
        return max((one.images for one in self.findings), default=0)

    def behind(self) -> dict[str, str]:
        """Editor → one that was found ahead of it."""
        found: dict[str, str] = {}
        for one in self.findings:
            if one.loser:
                found.setdefault(one.loser, one.one if one.loser == one.other else one.other)
        return found

    def _is_open(self, one: PairFinding) -> bool:
        return not one.decided and not self._is_moot(one) and (one.images < self.question.most or bool(one.partial))

    def _is_moot(self, one: PairFinding) -> bool:
        """Whether the best editor can be known without it: one of the two is behind somebody already."""
        return self.question.ask == "best" and bool({one.one, one.other} & self.behind().keys())


def decide(question: UntilQuestion, differences: Differences) -> UntilDecision:
    """Look at every comparison, as far as its two editors were run."""
    seen = {pair: tuple(differences(*pair)) for pair in question.pairs}
    return UntilDecision(question, tuple(_finding(question, pair, found) for pair, found in seen.items()), seen)


def could_decide(found: UntilDecision, images: int, share: float) -> bool:
    """Whether anything could be decided with the next images once this share of their rounds is known.

    The most that it could show: one editor keeps everything in these rounds and the other refuses, or both refuse.
    """
    question = found.question
    for one in found.findings:
        if one.decided or not {one.one, one.other} <= set(found.running):
            continue
        known = [each for each in found.seen[one.one, one.other] if each.whole]
        for value in (100 * share, -100 * share, 0.0):
            new = [ImageDifference(name, value, value, True) for name in question.order[len(known) : images]]
            if _finding(question, (one.one, one.other), [*known, *new]).decided:
                return True
    return False


def looks_of(question: UntilQuestion, found: Sequence[ImageDifference]) -> tuple[Look, ...]:
    """The interval after every image; each lies within the one before."""
    low, high = _scaled(question, _usable(question, found))
    error, images = question.error_each / 2, len(question.order)
    lower = question.largest * lower_ends(low, error, question.method, images)
    upper = -question.largest * lower_ends(-high, error, question.method, images)
    return tuple(Look(count, *ends) for count, ends in enumerate(zip(lower.tolist(), upper.tolist(), strict=True), 1))


def interval(question: UntilQuestion, found: Sequence[ImageDifference]) -> tuple[float, float]:
    """The interval of the mean difference in points, at the error rate of one comparison."""
    low, high = _scaled(question, found)
    ends = bounds(low, high, question.error_each, question.method, len(question.order))
    return ends[0] * question.largest, ends[1] * question.largest


def _finding(question: UntilQuestion, pair: tuple[str, str], found: Sequence[ImageDifference]) -> PairFinding:
    used = _usable(question, found)
    low, high = interval(question, used) if used else (-question.largest, question.largest)
    within = -question.difference < low and high < question.difference
    verdict: Verdict = "ahead" if low > ROUNDING else "behind" if high < -ROUNDING else "alike" if within else "open"
    known = [one.low for one in used if one.whole and not one.missing]
    clipped = np.clip(known, -question.largest, question.largest)
    p = anytime_p(*_scaled(question, used), question.method, len(question.order))
    return PairFinding(
        *(*pair, verdict, within),
        difference=float(clipped.mean()) if known else None,
        low=low,
        high=high,
        p=min(1.0, p * len(question.pairs)),
        images=len(found),
        partial=sum(not one.whole for one in found),
        missing=sum(one.missing for one in found),
    )


def _usable(question: UntilQuestion, found: Sequence[ImageDifference]) -> list[ImageDifference]:
    """The images that the method can use: bounds need a capital that never falls when a value rises."""
    if question.method != "symmetric":
        return list(found)
    end = next((place for place, one in enumerate(found) if not one.whole), len(found))
    return [one for one in found[:end] if not one.missing]


def _scaled(question: UntilQuestion, found: Sequence[ImageDifference]) -> tuple[Floats, Floats]:
    ends = np.array([(one.low, one.high) for one in found], dtype=np.float64).reshape(-1, 2)
    clipped = np.clip(ends / question.largest, -1, 1)
    return clipped[:, 0], clipped[:, 1]
