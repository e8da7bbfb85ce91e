"""The contact sheet of degraded pictures: each clean one beside its copies, whole and as a cut at full size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from convergebench.images.frame import Pixels
from convergebench.report.environment import Renderer
from convergebench.report.page import style_context
from convergebench.report.sheet import small_address
from convergebench.report.wording import count
from convergebench.studies.units import ROUND
from convergebench.types import SourceImage

if TYPE_CHECKING:
    from convergebench.degradations.base import Degradation

MOST_SHOWN = 24
"""Most clean pictures on one page: it holds all of its pictures itself."""
_LONG_SIDE, _CUT = 300, 200


@dataclass(frozen=True, slots=True)
class DegradedCard:
    """One picture of the page."""

    id: str
    degradation: str
    """Empty: the clean picture."""
    file: str
    whole: str
    """Address of a small copy."""
    cut: str
    """Address of a piece at full size."""


@dataclass(frozen=True, slots=True)
class DegradedRow:
    """A clean picture and its copies."""

    image: SourceImage
    cards: Sequence[DegradedCard]


def shown(image: SourceImage, file: str, pixels: Pixels) -> DegradedCard:
    """A picture as the page shows it; the piece is cut around the picture's focus."""
    height, width = pixels.shape[:2]
    top = int(min(max(round(image.focus[1] * height - _CUT / 2), 0), max(0, height - _CUT)))
    left = int(min(max(round(image.focus[0] * width - _CUT / 2), 0), max(0, width - _CUT)))
    piece = pixels[top : top + _CUT, left : left + _CUT]
    return DegradedCard(image.id, image.degradation, file, small_address(pixels, _LONG_SIDE), small_address(piece))


def degraded_sheet(
    name: str, rows: Sequence[DegradedRow], spoils: Sequence[Degradation], *, how: str, total: int
) -> str:
    """The page; `how` names severity and seed, `total` counts the clean pictures, of which `rows` are the first."""
    shared = {"name": name, "unit": ROUND, **style_context({}, {})}
    ways = spoils[0].title.lower() if len(spoils) == 1 else count(len(spoils), "degradation")
    return Renderer(shared).render(
        "degraded_sheet.html",
        headline=f"{count(total, 'picture')}, {ways}",
        titles={spoil.name: spoil.title for spoil in spoils},
        spoils=spoils,
        rows=rows,
        how=how,
        hidden=total - len(rows),
    )
