"""What a picture recipe is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from convergebench.images.frame import Pixels
from convergebench.images.pictures.sheet import Sheet
from convergebench.types import Kind

Draw = Callable[[Sheet], Pixels]
"""Paints a sheet and develops it."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """One kind of picture. `challenge` says what an editor finds hard to keep in it."""

    name: str
    kind: Kind
    title: str
    challenge: str
    draw: Draw = field(repr=False)
    benchmark: str | None = None
    """Name of the Banana100 source image whose challenge this recipe stands for, if any."""
