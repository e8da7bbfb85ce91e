"""What a classical method gives back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from convergebench.images.frame import Pixels


class ClassicalAnswer(NamedTuple):
    """New pixels, and what was estimated and chosen on the way."""

    pixels: Pixels
    used: Mapping[str, Any]
