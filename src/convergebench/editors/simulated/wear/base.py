"""Wear: the small damage that an editor does to the whole picture at every step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from convergebench.editors.simulated.options import Option
from convergebench.editors.simulated.pixels import Pixels


@dataclass(frozen=True, slots=True)
class WearContext:
    """The step's seed, the number of earlier steps, and the requested resolution."""

    seed: int
    step: int
    resolution: str | None = None

    def random(self, salt: int) -> np.random.Generator:
        """Random numbers determined by the seed; `salt` differs between the wears of one step."""
        return np.random.Generator(np.random.SFC64([self.seed & 0xFFFF_FFFF_FFFF, salt]))


Wear = Callable[[Pixels, WearContext], Pixels]
"""Returns a worn copy; deterministic for a picture and context."""


@dataclass(frozen=True, slots=True)
class WearKind:
    """One kind of wear: its options and its factory. `moves`: pixels change position or number."""

    options: Mapping[str, Option]
    make: Callable[..., Wear]
    moves: bool = False
    random: bool = False
