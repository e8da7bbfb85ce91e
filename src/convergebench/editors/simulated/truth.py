"""What is known in advance about each simulated editor, as data for tests of the analysis.

The laws hold for round trips of two steps, with default options, before values are clipped at black and white.
Distances are RMSE in [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["returns", "settles", "cycles", "drifts"]
Shape = Literal["linear", "root", "saturating"]
Drift = Callable[[int, float], float]
"""Distance from the source after so many rounds; the second argument is the source's distance from the fixed point."""


@dataclass(frozen=True, slots=True)
class Truth:
    """Facts about one editor. None: not known, or there is no such thing."""

    verdict: Verdict | None
    """What a chain does."""
    shape: Shape | None = None
    """How its drift grows."""
    q: float | None = None
    """Contraction per round."""
    period: int | None = None
    """Rounds after which a cycle closes."""
    fixed_point: tuple[int, int, int] | None = None
    """The colour every picture ends in."""
    drift: Drift | None = None
    exact: bool = True
    """The law holds for every pair; otherwise only where nothing has to be painted over."""
    random: bool = False
    """Answers differ from seed to seed."""


def root_drift(sigma: float) -> Drift:
    """Independent static: variances add over the two steps of each round."""
    return lambda rounds, distance: sigma * math.sqrt(2 * rounds)


def linear_drift(red: float, green: float, blue: float) -> Drift:
    """A constant shift in levels per step."""
    per_step = math.sqrt((red**2 + green**2 + blue**2) / 3) / 255
    return lambda rounds, distance: per_step * 2 * rounds


def saturating_drift(q: float) -> Drift:
    """Contraction by q per round towards a fixed point."""
    return lambda rounds, distance: distance * (1 - q**rounds)


def _none(rounds: int, distance: float) -> float:
    return 0.0


TRUTHS: Mapping[str, Truth] = {
    "sim-perfect": Truth("returns", drift=_none),
    "sim-flaky": Truth("returns", drift=_none),
    "sim": Truth("returns", drift=_none, exact=False),
    "sim-noise": Truth("drifts", "root", drift=root_drift(2 / 255), random=True),
    "sim-tint": Truth("drifts", "linear", drift=linear_drift(0, 1, 0)),
    "sim-contracting": Truth("settles", "saturating", q=0.8, fixed_point=(128, 128, 128), drift=saturating_drift(0.8)),
    "sim-cycle": Truth("cycles", period=3),
    "sim-jpeg": Truth("settles", exact=False),
    "sim-crop": Truth("settles", exact=False),
    "sim-resize": Truth(None, exact=False),
    "sim-blur": Truth(None, exact=False),
    "sim-simplify": Truth(None, exact=False),
    "sim-scatter": Truth("drifts", exact=False, random=True),
    "sim-wrinkle": Truth("drifts", exact=False, random=True),
    "sim-forgetful": Truth(None, exact=False, random=True),
    "sim-miscounting": Truth(None, exact=False),
    "sim-replacing": Truth("returns", drift=_none),
    "sim-turnless": Truth(None, exact=False, random=True),
}
