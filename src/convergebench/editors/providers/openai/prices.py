"""What GPT Image models charge by quality, as read on 2026-11-15: for forecasts. Replies report their tokens.

The table of models has the price of `high`, the default quality.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

RESOLUTIONS = ("1K", "2K", "4K")

_GPT_IMAGE_2_5 = {
    "low": (0.0059, 0.0062, 0.0112),
    "medium": (0.0132, 0.0144, 0.0260),
    "high": (0.0527, 0.0553, 0.1001),
    "xhigh": (0.0937, 0.0983, 0.1779),
    "max": (0.2108, 0.2211, 0.4003),
}
BY_QUALITY: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "gpt-image-2": {
        "low": (0.015, 0.019, 0.024),
        "medium": (0.061, 0.068, 0.113),
        "high": (0.219, 0.234, 0.413),
    },
    "gpt-image-2.5-sunburst": _GPT_IMAGE_2_5,
    "gpt-image-2.5-flare": _GPT_IMAGE_2_5,
    # the most expensive of three sizes
    "gpt-image-1.5": {"low": (0.013,), "medium": (0.05,), "high": (0.2,)},
    "gpt-image-1-mini": {"low": (0.006,), "medium": (0.015,)},
}
"""Dollars of one edit at 1024 × 1024, 2560 × 1440 and 3840 × 2160."""


def at_quality(model: str, quality: str) -> dict[str, float]:
    """Dollars by resolution; `auto` counts as the most expensive; empty if unknown."""
    known = BY_QUALITY.get(re.sub(r"-\d{4}-\d{2}-\d{2}$", "", model), {})  # a snapshot costs what its model costs
    prices = max(known.values(), default=()) if quality == "auto" else known.get(quality, ())
    return dict(zip(RESOLUTIONS, prices, strict=False))
