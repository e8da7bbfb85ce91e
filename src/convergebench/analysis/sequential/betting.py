"""Confidence sequences for the mean of paired differences, by betting (Waudby-Smith and Ramdas 2024).

A gambler who suspects that the mean lies above `mean` stakes a fraction of the capital on every image. If the mean is
not above it, no rule of stakes makes the capital grow on average, so the capital ever reaches 1/a with probability at
most a (Ville): every mean against which it did is excluded, at any time and under any rule for stopping. The capital
starts in equal parts on three fractions of the largest stake that cannot lose more than there is.

Values are scaled to −1 … 1. Three methods differ in what they take for granted:
`suite`: the mean of the `images` of a suite that are drawn without replacement in random order; nothing else.
`bounded`: the mean over images like these; the images are independent draws.
`symmetric`: as `bounded`, and the differences lie symmetrically about their mean; the range is the one seen so far.

The capital never rises with `mean`, so the means that are excluded are all those below one end. Under `suite` and
`bounded` it never falls when a value rises: with lower bounds in place of unknown values the result still holds.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from convergebench.analysis.trajectories import Floats, Mask

Method = Literal["suite", "bounded", "symmetric"]

FRACTIONS = (0.25, 0.6, 1.0)
"""Parts of the largest possible stake, each with a third of the capital."""
HALVINGS = 36
TINY = 1e-12


def capital(values: Floats, mean: float | Floats, method: Method, images: int = 0) -> Floats:
    """The capital after each value (last axis) of the gambler who suspects a mean above `mean`; infinite if certain.

    One mean for all, or one for each row of values.
    """
    mean = np.asarray(mean, dtype=np.float64)[..., None]
    stakes, certain = _payoffs(values, mean, method, images)
    whole = np.zeros(values.shape)
    with np.errstate(divide="ignore"):  # a stake of everything may be lost
        for fraction in FRACTIONS:
            grown = np.cumsum(np.log(np.maximum(1 + fraction * stakes, 0.0)), axis=-1)
            whole += np.exp(np.minimum(grown, 600)) / len(FRACTIONS)
    return np.where(np.logical_or.accumulate(certain, axis=-1), np.inf, whole)


def _payoffs(values: Floats, mean: Floats, method: Method, images: int) -> tuple[Floats, Mask]:
    """What the largest stake wins or loses (at least −1), and where the hypothesis has become impossible."""
    if method == "symmetric":
        highest, lowest = (side.accumulate(values, axis=-1) for side in (np.maximum, np.minimum))
        reach = np.maximum(highest - mean, mean - lowest)
        won = np.divide(values - mean, reach, out=np.zeros(values.shape), where=reach > TINY)
        return np.asarray(won), np.zeros(values.shape, dtype=np.bool_)
    left = np.broadcast_to(mean, values.shape)
    if method == "suite":  # what the images that are left would have to average
        drawn = np.arange(values.shape[-1])
        left = (images * mean - (np.cumsum(values, axis=-1) - values)) / (images - drawn)
    room = left + 1
    certain = (room <= TINY) & (values > -1 + TINY)
    if method == "suite":  # the images that are left cannot make up for those that were drawn
        certain |= images * mean - np.cumsum(values, axis=-1) < drawn + 1 - images - TINY
    return np.asarray(np.divide(values - left, room, out=np.zeros(values.shape), where=room > TINY)), certain


def lower_ends(values: Floats, error: float, method: Method, images: int = 0) -> Floats:
    """After each value, the largest mean that is excluded from below, at this error rate over all time."""
    count = np.arange(1, values.size + 1)
    low, high = np.full(values.size, -1.0), np.full(values.size, 1.0)
    rows = np.broadcast_to(values, (values.size, values.size))
    seen = count[None, :] <= count[:, None]
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        reached = np.where(seen, capital(rows, middle, method, images), 0.0).max(axis=1, initial=0.0) >= 1 / error
        low, high = np.where(reached, middle, low), np.where(reached, high, middle)
    if method == "suite":  # exact where halving is not
        low = np.maximum(low, (np.cumsum(values) - (images - count)) / images)
    return np.asarray(np.maximum.accumulate(low)) if values.size else low


def lower_end(values: Floats, error: float, method: Method, images: int = 0) -> float:
    """The largest mean that is excluded from below after all values, at this error rate over all time."""
    if not values.size:
        return -1.0
    low, high = -1.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        reached = capital(values, middle, method, images).max() >= 1 / error
        low, high = (middle, high) if reached else (low, middle)
    if method == "suite":  # exact where halving is not
        low = max(low, (float(values.sum()) - (images - values.size)) / images)
    return low


def bounds(low: Floats, high: Floats, error: float, method: Method, images: int = 0) -> tuple[float, float]:
    """The interval of the mean, with error rate `error` over both ends and all time.

    `low` and `high` are what is known of each difference: equal where it is known.
    """
    lower, upper = (lower_end(side, error / 2, method, images) for side in (low, -high))
    if lower <= -upper:
        return lower, -upper
    middle = (lower - upper) / 2  # the ends have crossed, which has a probability below the error rate
    return middle, middle


def anytime_p(low: Floats, high: Floats, method: Method, images: int = 0) -> float:
    """Two-sided p of no difference that holds whenever one stops: 2 over the most that either gambler ever had."""
    if not low.size:
        return 1.0
    most = max(float(capital(side, 0.0, method, images).max()) for side in (low, -high))
    return min(1.0, 2.0 / most) if most > 0 else 1.0
