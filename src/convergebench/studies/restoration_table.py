"""The table [restoration] of a study file: which prompts, on which degraded pictures, how often."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, FiniteFloat

from convergebench.documents import Strict

SCENES = {
    "aerial-view": "Aerial View",
    "animal-fur": "Animal Fur",
    "architecture": "Architecture",
    "cartoon": "Cartoon/Comic",
    "large-face": "Large Face",
    "medium-face": "Medium Face",
    "small-face": "Small Face",
    "crowd": "Crowd",
    "text": "Text",
    "hands-feet": "Hands/Feet",
    "trees-leaves": "Trees/Leaves",
    "hand-drawn": "Hand-drawn",
    "fabric-texture": "Fabric Texture",
}
"""Kind → its name in the literature: the thirteen scenes."""
DEGRADATIONS = {
    "defocus-blur": "Defocus Blur",
    "motion-blur": "Motion Blur",
    "digital-zoom": "Digital Zoom",
    "old-film": "Old Film",
    "old-photo-grey": "Old Photo (Black and White)",
    "old-photo-colour": "Old Photo (Color)",
    "surveillance": "Surveillance",
}
"""Kind → its name in the literature: the seven degradations."""


class RestorationTable(Strict):
    """The table [restoration] of a study file."""

    prompts: Annotated[tuple[str, ...], Field(min_length=1)] = ("LF3",)
    """Prompts by id (S1 … LF3), group (S, SF, L, LF), `all`, `stability` (L3, LF1, S1, SF2), or a TOML file."""
    unified: str = "LF3"
    """The prompt used to compare methods; if it is not among `prompts`, the first of them."""
    repeats: Annotated[int, Field(ge=1, le=100)] = 1
    """Runs of each prompt on each image; repeats never share a call."""
    rounds: Annotated[int, Field(ge=1, le=50)] = 1
    """Rounds of refinement: each restores the result of the one before. Flag: `--rounds`."""
    follow_up: Annotated[str, Field(max_length=2000)] = ""
    """The instruction of the second and later rounds; empty = the same prompt again."""
    scenes: tuple[str, ...] = ("mixed",)
    """Degradations applied to every image of the suite, in a set named after its kind (`small-face`)."""
    degradations: tuple[str, ...] = ()
    """Degradations with a set of their own (`cbench list degradations`), or `all` seven. With neither these nor
    `scenes`, the images are used as they are, e.g. real old photographs."""
    per_degradation: Annotated[int, Field(ge=1, le=1000)] = 5
    """Images in each degradation's own set."""
    severity: Annotated[FiniteFloat, Field(gt=0, le=4)] = 1.0
    """Strength of the degradation: 1 is typical, 2 about twice as strong."""
    reference: Literal["scenes", "all"] = "scenes"
    """Which results are compared with the clean image: only those of scenes, as in the literature, where degradation
    sets have no clean image; or all, because images degraded here have one. An image that came with a clean one is
    always compared."""
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    """Random seed: which images a degradation's set gets, and how each is degraded."""
