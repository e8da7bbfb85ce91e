"""What a degradation is: a function from clean pixels to spoilt ones, with its facts declared beside it.

    @degradation("motion-blur", title="Motion Blur", family="Blur Artifacts")
    def motion_blur(pixels: Pixels, draw: np.random.Generator, severity: float) -> Pixels: ...

`severity` is 1 for the usual damage, 0 for none and 2 for about twice as much; the function draws the rest (angle,
strength within its range, places of scratches) from `draw`, so that the same seed gives the same picture. The result
has the size of the input: what is compared with the clean picture must cover it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from convergebench.degradations._table import TABLE
from convergebench.errors import StudyError
from convergebench.ids import fingerprint
from convergebench.images.frame import Pixels
from convergebench.kinds import require_word
from convergebench.registry import third_party

MOST_SEVERE = 4.0
"""Beyond it pictures are hardly recognisable."""

Spoil = Callable[[Pixels, np.random.Generator, float], Pixels]


@dataclass(frozen=True, slots=True)
class Degradation:
    """A named way to spoil a picture."""

    name: str
    """One lower-case word, as study files write it; it is the kind of pictures in a set of this degradation."""
    title: str
    """As the literature's tables write it."""
    family: str
    summary: str
    function: Spoil = field(repr=False)
    version: int = 1
    """Raise it whenever the same seed would give another picture."""

    @property
    def fingerprint(self) -> str:
        """Identifies the degradation and its version."""
        return fingerprint(self.name, self.version, {})

    def __call__(self, pixels: Pixels, *, seed: int, severity: float = 1.0) -> Pixels:
        """The spoilt picture: 8-bit RGB of the same size. Severity 0 gives an exact copy.

        What is drawn does not depend on the severity: the same seed gives the same damage, weaker or stronger.
        """
        if not 0 <= severity <= MOST_SEVERE:
            raise StudyError(f"severity {severity:g}: should be between 0 (no damage) and {MOST_SEVERE:g}")
        if severity == 0:
            return pixels.copy()
        with third_party(f"degradation '{self.name}'", built_in=self.name in TABLE):
            spoilt = self.function(pixels.copy(), np.random.default_rng(seed), severity)
        if not isinstance(spoilt, np.ndarray) or spoilt.shape != pixels.shape or spoilt.dtype != np.uint8:
            gave = (
                f"{spoilt.dtype} of shape {spoilt.shape}" if isinstance(spoilt, np.ndarray) else type(spoilt).__name__
            )
            raise StudyError(f"degradation '{self.name}' returned {gave} instead of uint8 of shape {pixels.shape}")
        return spoilt


def degradation(name: str, *, title: str, family: str, version: int = 1) -> Callable[[Spoil], Degradation]:
    """Declare a function as the degradation `name`; its docstring's first line is the summary."""
    require_word(name)

    def declare(function: Spoil) -> Degradation:
        summary = (function.__doc__ or "").strip().partition("\n")[0]
        return Degradation(name, title, family, summary, function, version)

    return declare
