"""Restoration studies whose truth is known: twelve prompts in a design, repeats, pictures that differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from convergebench.analysis.restoration.factors import Cell, effects_of
from convergebench.analysis.restoration.result import SCHEMAS
from convergebench.analysis.restoration.scope import RestorationScope
from convergebench.analysis.trajectories import Floats
from convergebench.studies.analysis_settings import AnalysisSettings

CELLS: tuple[Cell, ...] = (("short", False), ("short", True), ("long", False), ("long", True))
WORDINGS = 3
"""Prompts in each cell."""
EFFECTS = effects_of({cell: ["a", "b", "c"] for cell in CELLS})
"""Length, fidelity and interaction, as the analysis weighs them."""
Generator = np.random.Generator


@dataclass(frozen=True)
class PromptWorld:
    """Decibels: how pictures differ, what prompts do to them, and how that differs from picture to picture."""

    length: float = 0.0
    fidelity: float = 0.0
    interaction: float = 0.0
    uneven: float = 0.4
    """Standard deviation of every effect between pictures."""
    skewed: bool = False
    """Whether a few pictures take most of an effect."""
    wording: float = 0.0
    """Standard deviation between wordings of one cell, the same on every picture."""
    noise: float = 0.3
    """Standard deviation of a single result."""
    pictures: float = 3.0
    """Standard deviation between pictures."""
    together: int = 1
    """Pictures made from one photograph, which share what an effect does to them."""

    def values(self, draw: Generator, studies: int, photographs: int) -> Floats:
        """Studies × pictures × cells × wordings."""
        shape = (studies, photographs * self.together)
        found = draw.normal(25, self.pictures, shape)[..., None, None] + draw.normal(
            0, self.noise, (*shape, 4, WORDINGS)
        )
        found += draw.normal(0, self.wording, (studies, 1, 4, WORDINGS))
        for effect, size in zip(EFFECTS, (self.length, self.fidelity, self.interaction), strict=True):
            own = size + np.repeat(self._uneven(draw, (studies, photographs)), self.together, axis=1)
            sides = np.array([np.sign(effect.weights[cell]) for cell in CELLS])
            # half of it on each side; an interaction is a difference of differences
            found += own[..., None, None] * sides[:, None] * (0.25 if effect.name == "interaction" else 0.5)
        return found

    def photographs(self, count: int) -> tuple[str, ...]:
        """The photograph of every picture."""
        return tuple(f"p{number:03}" for number in range(count) for _ in range(self.together))

    def _uneven(self, draw: Generator, shape: tuple[int, int]) -> Floats:
        if not self.skewed:
            return draw.normal(0, self.uneven, shape)
        drawn = draw.lognormal(0, 1, shape)
        return np.asarray(self.uneven * (drawn - np.exp(0.5)) / np.sqrt((np.e - 1) * np.e))


def contrasts(values: Floats) -> dict[str, Floats]:
    """Effect → its difference within every picture: studies × pictures."""
    means = values.mean(axis=-1)
    return {
        effect.name: sum((effect.weights[cell] * means[..., place] for place, cell in enumerate(CELLS)), np.zeros(()))
        for effect in EFFECTS
    }


def empty_scope(permutations: int = 999) -> RestorationScope:
    """The settings that means and tests need, without a run."""
    nothing: frozenset[str] = frozenset()
    return RestorationScope(
        restored=pl.DataFrame(schema=SCHEMAS["restored"]),
        metrics=(),
        facts={},
        prompts={},
        unified="",
        photographs={},
        settings=AnalysisSettings(permutations=permutations),
        uninstructed=nothing,
        simulated=nothing,
        deterministic=nothing,
    )
