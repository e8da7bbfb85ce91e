"""What a question may need, by simulation, for plans only: images per editor under stated differences.

Scores of images are drawn from a normal distribution; nothing here enters an estimate or a decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from convergebench.analysis.sequential.betting import capital
from convergebench.analysis.sequential.question import UntilQuestion
from convergebench.analysis.trajectories import Floats, Ints, Mask

TRIALS = 400
SPREAD = 10.0
"""Standard deviation between images of the difference of two editors in points, where no run has shown one."""


class Scenario(NamedTuple):
    """What is expected if neighbouring editors differ by this much."""

    difference: float
    images: dict[str, float]
    """Editor → mean number of images."""
    decided: float
    """Share of trials in which all is decided."""


def scenario(
    question: UntilQuestion, difference: float, spread: float, *, trials: int = TRIALS, seed: int = 0
) -> Scenario:
    """Every editor is `difference` points behind the one before it; looks are those of the question."""
    generator = np.random.default_rng([seed, round(100 * difference)])
    editors, images = question.editors, len(question.order)
    scores = {
        name: generator.normal(-difference * place, spread / np.sqrt(2), (trials, images))
        for place, name in enumerate(editors)
    }
    times, verdicts = {}, {}
    for one, other in question.pairs:
        differences = np.clip((scores[one] - scores[other]) / question.largest, -1, 1)[:, : question.most]
        times[one, other], verdicts[one, other] = decision_times(question, differences)
    used, settled = stop_times(question, times, verdicts)
    return Scenario(difference, {name: float(counts.mean()) for name, counts in used.items()}, float(settled.mean()))


def decision_times(question: UntilQuestion, values: Floats) -> tuple[Ints, Ints]:
    """Per trial (values: trials × images, scaled): images until decided (0: never), and 1 ahead, −1 behind, 0 alike."""
    images, needed = len(question.order), 2 / question.error_each
    limit = question.difference / question.largest
    above, below = (_reached(values * sign, 0.0, needed, question, images) for sign in (1, -1))
    alike = np.logical_and(*(_reached(values * sign, -limit, needed, question, images) for sign in (1, -1)))
    over = above | below | alike
    first = np.where(over.any(axis=1), over.argmax(axis=1), -1)
    row = np.arange(values.shape[0])
    sign = np.where(above[row, first], 1, np.where(below[row, first], -1, 0))
    return first + 1, np.where(first < 0, 0, sign)


def _reached(values: Floats, mean: float, needed: float, question: UntilQuestion, images: int) -> Mask:
    grown = capital(values, mean, question.method, images)
    return np.asarray(np.maximum.accumulate(grown, axis=1) >= needed)


def stop_times(
    question: UntilQuestion, times: dict[tuple[str, str], Ints], verdicts: dict[tuple[str, str], Ints]
) -> tuple[dict[str, Ints], Mask]:
    """Per editor and trial the images that are run, at the question's looks; and whether all is settled."""
    trials = len(next(iter(times.values())))
    used = {name: np.zeros(trials, dtype=np.int64) for name in question.editors}
    settled = np.ones(trials, dtype=np.bool_)
    looks = _looks(question)
    for trial in range(trials):
        open_pairs, behind, reached = list(question.pairs), set[str](), dict.fromkeys(question.editors, 0)
        for look in looks:
            for name in {name for pair in open_pairs for name in pair}:
                reached[name] = look
            over = [pair for pair in open_pairs if 0 < times[pair][trial] <= look]
            behind |= {pair[1] if verdicts[pair][trial] > 0 else pair[0] for pair in over if verdicts[pair][trial]}
            moot = behind if question.ask == "best" else set()
            open_pairs = [pair for pair in open_pairs if pair not in over and not moot & set(pair)]
            if not open_pairs:
                break
        settled[trial] = not open_pairs
        for name, count in reached.items():
            used[name][trial] = count
    return used, settled


def _looks(question: UntilQuestion) -> Sequence[int]:
    found = [question.next_look(0)]
    while found[-1] < question.most:
        found.append(question.next_look(found[-1]))
    return found
