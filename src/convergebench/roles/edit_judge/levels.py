"""The levels at which a measured quantity counts for nothing and for everything, and the ramp between them.

They were chosen on the half `development` of the planted edits; `python -m benchmarks.factory_judge` reports the other.
"""

from __future__ import annotations

from typing import NamedTuple

EDITS_VERSION = 1
"""Raised whenever an answer about the same edit would change."""


class Ramp(NamedTuple):
    """The quantity that gives 0, and the one that gives 1; the first may be the larger one."""

    none: float
    full: float

    def __call__(self, value: float) -> float:
        """From 0 to 1, in proportion between the two."""
        return min(1.0, max(0.0, (value - self.none) / (self.full - self.none)))


LAYOUT = Ramp(0.25, 0.50)
"""Correlation of two pictures' edges: other photographs stay under 0.3, drawings of a photograph above 0.5."""
TOLD_APART = Ramp(0.25, 0.60)
"""How far the change in one place exceeds the change elsewhere (the metric `happened`)."""
STRENGTH = Ramp(8.0, 16.0)
"""Mean colour change (ΔE) in the place that changed."""
SIZE = Ramp(0.002, 0.008)
"""Share of the picture that a new or changed thing covers; less is a speck."""
SMALL_SIZE = Ramp(0.0005, 0.003)
"""The same for things worn by a person, and for writing."""
TOO_LARGE = Ramp(0.95, 0.75)
"""Share of the picture from which on a change is no longer one of a single thing."""
COMPACT = Ramp(0.05, 0.12)
"""Radius of the largest disc inside the changed place over the root of its area: a frame has 0.05, a disc 0.56."""
TONE = Ramp(1.5, 5.0)
"""Shift towards yellow or blue (b*) in the direction that was asked for."""
MOOD = Ramp(4.0, 11.0)
"""Mean colour change of the whole picture, for seasons, weather, light and vintage looks."""
GRAIN = Ramp(0.8, 3.0)
"""Rise of the noise in levels, for film grain."""
STYLE = Ramp(0.55, 1.20)
"""Distance of the descriptions of texture, for styles."""
REDRAWN = Ramp(0.10, 0.45)
"""The same distance from the input under the mapping of colours that explains most: filters stay under 0.05."""
HUE = Ramp(1.5, 4.0)
"""Change of warmth or of chroma at equal lightness, for looks that are more than a change of brightness."""
REACH = Ramp(0.35, 0.55)
"""Share of the picture that a change of the whole picture reaches."""
REDRAWN_PERSON = Ramp(0.5, 1.5)
"""Colour change (root mean square of ΔE) of a person that no mapping of colours explains."""
DRAWN_SHARE = Ramp(0.25, 0.40)
"""Share of a person who is drawn anew that changed."""
FILLED = Ramp(10.0, 3.0)
"""By how much (ΔE of the means) the changed place stands out from what surrounds it more than before: after a removal
it does not."""
FOREIGN = Ramp(0.60, 0.30)
"""Share of the changed place with colours that the input has nowhere: a thing that was moved, or has another shape,
brings none with it."""
SAME_SHAPE = Ramp(0.60, 0.85)
"""Mean local similarity in the place of a thing that has another colour or material, and is the same thing."""
COVERED = Ramp(0.15, 0.35)
"""Share of a thing's box that changed when it was removed or replaced."""
NO_FILTER = Ramp(0.02, 0.06)
"""Share of the colour change of the whole picture that no mapping of colours explains, for changes of one thing."""
ON_PLACE = Ramp(0.15, 0.50)
"""Share of a local change that lies on the person or the writing that it concerns."""
FACE = Ramp(1.5, 5.0)
"""Mean colour change of a person for small changes: expressions, poses."""
PERSON = Ramp(4.0, 12.0)
"""The same for persons who are drawn anew."""
BACKGROUND = Ramp(6.0, 15.0)
"""Mean colour change of everything but the main object."""
ZOOMED = Ramp(1.05, 1.20)
"""Magnification, or growth of the canvas along its side."""
FOUND = Ramp(0.55, 0.85)
"""Correlation at which one picture counts as found inside another."""
OUTSIDE = Ramp(9.0, 2.0)
"""Mean colour change where nothing was to change; codecs alone leave under 2."""
STRUCTURE = Ramp(0.55, 0.85)
"""Mean local similarity where nothing was to change."""
SHAPES = Ramp(0.35, 0.70)
"""Correlation of edges over the whole picture, for types that may change every colour."""
CROPPED = Ramp(0.15, 0.02)
"""Share of the input that is out of view although nobody asked for another framing."""
SEAM = Ramp(0.16, 0.06)
"""Length of the longest new straight edge along a row or a column, as a share of the shorter side."""
DRAWN_SEAM = Ramp(0.40, 0.22)
"""The same for pictures that were drawn anew or made grainy, in which there are other straight edges."""
BORDER = Ramp(3.5, 1.8)
"""Step across the border between the input and what was added around it, over that of other lines."""
RIM = Ramp(0.42, 0.22)
"""Share of the changed outline that has a new rim, beyond the share of such lines inside it."""
WRITING = Ramp(3.0, 8.0)
"""Colour change (root mean square of ΔE) of the lines of writing."""
NOISE = Ramp(7.0, 1.5)
"""Rise of the noise in levels."""
SHARPNESS = Ramp(0.65, 0.85)
"""Crispness of the steepest edges against the input's."""
CLIPPED = Ramp(0.25, 0.03)
"""Rise of the share of pixels that are burnt out or black."""
BLOCKS = Ramp(0.50, 0.10)
"""Rise of the blockiness."""
WORN = Ramp(90.0, 25.0)
"""Rise of `decay`."""
SHRUNK = Ramp(0.25, 0.80)
"""Pixels against the input's."""
FAULT = Ramp(0.0, 0.6)
"""A criterion below this is a plain fault, and then the edit is not what was asked for either."""
