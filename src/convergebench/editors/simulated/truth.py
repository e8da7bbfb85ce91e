"""The known behaviour of each simulated editor, as data for tests of the analysis.

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
"""Distance from the source, given the number of rounds and the source's distance from the fixed point."""


@dataclass(frozen=True, slots=True)
class KnownBehaviour:
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
    """The law holds for every pair; otherwise only for those without inpainting."""
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


TRUTHS: Mapping[str, KnownBehaviour] = {
    "sim-perfect": KnownBehaviour("returns", drift=_none),
    "sim-flaky": KnownBehaviour("returns", drift=_none),
    "sim": KnownBehaviour("returns", drift=_none, exact=False),
    "sim-noise": KnownBehaviour("drifts", "root", drift=root_drift(2 / 255), random=True),
    "sim-tint": KnownBehaviour("drifts", "linear", drift=linear_drift(0, 1, 0)),
    "sim-contracting": KnownBehaviour(
        "settles", "saturating", q=0.8, fixed_point=(128, 128, 128), drift=saturating_drift(0.8)
    ),
    "sim-cycle": KnownBehaviour("cycles", period=3),
    "sim-jpeg": KnownBehaviour("settles", exact=False),
    "sim-crop": KnownBehaviour("settles", exact=False),
    "sim-resize": KnownBehaviour(None, exact=False),
    "sim-blur": KnownBehaviour(None, exact=False),
    "sim-simplify": KnownBehaviour(None, exact=False),
    "sim-scatter": KnownBehaviour("drifts", exact=False, random=True),
    "sim-wrinkle": KnownBehaviour("drifts", exact=False, random=True),
    "sim-forgetful": KnownBehaviour(None, exact=False, random=True),
    "sim-miscounting": KnownBehaviour(None, exact=False),
    "sim-replacing": KnownBehaviour("returns", drift=_none),
    "sim-turnless": KnownBehaviour(None, exact=False, random=True),
}
