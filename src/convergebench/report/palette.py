"""Colours: one accent, Okabe–Ito for editors, the same editor the same colour in every chart.

Light and dark values are chosen separately for their background, not inverted. Yellow is darkened on white, and the
eighth colour is a grey instead of Okabe–Ito's black, which would be invisible on one of the two backgrounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LIGHT = ("#0072B2", "#D55E00", "#009E73", "#B5568B", "#B87A00", "#2E8FD0", "#6B7280", "#9A8B00")
DARK = ("#4FA8E0", "#FF8A3D", "#2CC79A", "#E29AC3", "#F0B43C", "#8CD0FA", "#A3ACB9", "#F0E442")
DASHES = ("", "6 3", "2 2", "8 3 2 3")
"""Line styles of the first, second, … pass through the eight colours."""

INFERNO = (
    *("#000004", "#0b0724", "#210c4a", "#3d0965", "#57106e", "#71196e", "#8a226a", "#a32c61", "#bc3754"),
    *("#d24644", "#e45a31", "#f1731d", "#f98e09", "#fcac11", "#f9cb35", "#f2ea69", "#fcffa4"),
)
"""Seventeen even stops of a perceptual map (matplotlib's inferno), for difference images."""


@dataclass(frozen=True, slots=True)
class Style:
    """How one editor is drawn. `slot` counts from 0; `dash` is an SVG dash pattern, empty for a full line."""

    slot: int
    dash: str

    @property
    def variable(self) -> str:
        """The CSS colour, which follows the theme."""
        return f"var(--e{self.slot + 1})"

    @property
    def swatch(self) -> str:
        """The CSS of its dot in text: full in the first pass through the colours, a ring after that."""
        return f"box-shadow:inset 0 0 0 3px {self.variable}" if self.dash else f"background:{self.variable}"

    @property
    def dot(self) -> dict[str, str]:
        """The SVG attributes of its dot, full or a ring as in `swatch`."""
        if self.dash:
            return {"fill": "var(--paper)", "stroke": self.variable, "stroke_width": "2.5"}
        return {"fill": self.variable}

    @property
    def light(self) -> str:
        """The colour on white, for print and matplotlib."""
        return LIGHT[self.slot]


def styles(editors: Sequence[str]) -> dict[str, Style]:
    """A style for each editor, fixed by its place in the list; after eight the line style changes."""
    size = len(LIGHT)
    return {
        editor: Style(place % size, DASHES[(place // size) % len(DASHES)])
        for place, editor in enumerate(dict.fromkeys(editors))
    }


def css_variables(colours: Sequence[str]) -> str:
    """`--e1:#0072B2;--e2:…` for a style sheet."""
    return "".join(f"--e{place + 1}:{colour};" for place, colour in enumerate(colours))
