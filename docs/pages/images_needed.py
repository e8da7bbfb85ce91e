"""The table of docs/how-many-images.md: which difference a number of images detects."""

from __future__ import annotations

from pathlib import Path

from convergebench.analysis.power import detectable
from docs.pages.markdown import table

PAGE = Path(__file__).resolve().parent.parent / "how-many-images.md"
IMAGES = (5, 6, 8, 10, 12, 20, 30, 50, 100, 200)
EDITORS = (2, 3, 5)


def block() -> str:
    """One row per number of images, one column per number of ranked editors, all pairs of them compared."""
    head = ["images", *(f"{editors} editors" for editors in EDITORS)]
    return table(head, ([images, *(_size(images, editors) for editors in EDITORS)] for images in IMAGES))


def _size(images: int, editors: int) -> str:
    size = detectable(images, confidence=0.95, pairs=editors * (editors - 1) // 2)
    return "–" if size is None else f"{size:.2f}"
