"""What a wear is: the small damage an editor does to the whole picture at every step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from convergebench.editors.simulated.options import Option
from convergebench.editors.simulated.pixels import Pixels


@dataclass(frozen=True, slots=True)
class Occasion:
    """When a wear happens: the step's seed, how many steps the picture has behind it, the resolution asked for."""

    seed: int
    step: int
    resolution: str | None = None

    def random(self, salt: int) -> np.random.Generator:
        """Random numbers fixed by the seed; `salt` tells wears of one step apart."""
        return np.random.Generator(np.random.SFC64([self.seed & 0xFFFF_FFFF_FFFF, salt]))


Wear = Callable[[Pixels, Occasion], Pixels]
"""Gives a new picture, always the same for the same picture and occasion."""


@dataclass(frozen=True, slots=True)
class WearKind:
    """One kind of wear: its options and how to make it from them. `moves` when pixels change place or number."""

    options: Mapping[str, Option]
    make: Callable[..., Wear]
    moves: bool = False
    random: bool = False
