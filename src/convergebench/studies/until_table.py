"""`[until]` of a study file: the question that `cbench run --until decided` answers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from convergebench.documents import Strict
from convergebench.studies.values import Name, Seed


class UntilTable(Strict):
    """Which difference is to be decided, how surely, and from how many images at most."""

    editors: tuple[Name, ...] = ()
    """Editors to compare; empty = all of the study that are ranked."""
    baseline: str = ""
    """Compare every other editor with this one; empty = every two editors."""
    ask: Literal["pairs", "best"] = "pairs"
    """`pairs`: every comparison is decided. `best`: an editor that was found behind another is no longer run."""
    number: str = "score"
    """`score`, or a metric whose area is compared, such as `ssim`."""
    difference: Annotated[float, Field(gt=0, le=100)] = 5.0
    """Smallest difference of interest, in points of 100: smaller ones count as none. Flag: `--difference`."""
    error: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    """Largest probability of any wrong statement, over all comparisons and looks together."""
    images: Annotated[int, Field(ge=0)] = 0
    """Most images; 0 = all of the study."""
    method: Literal["suite", "bounded", "symmetric"] = "suite"
    """`suite`: about the images of this study, assumes nothing. `bounded`: about images like these. `symmetric`: the
    same, decides sooner, and assumes that differences lie symmetrically about their mean."""
    largest: Annotated[float, Field(gt=0, le=100)] = 100.0
    """Points with which one image counts at most; smaller decides sooner, about a mean in which outliers count less."""
    step: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Images between two looks; 0 = a twentieth of the images."""
    seed: Seed | None = None
    """Seed of the order of the images; unset = drawn when the run begins, and kept with the run."""
