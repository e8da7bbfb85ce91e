"""Rating studies whose truth is known: raters, pictures and methods with effects of stated size, and raters who cheat.

A latent score is the method's mean plus effects of the picture, of the method on it, of the rater, of the rater's taste
for the method, and noise; it is rounded to 0–5. Means over everything are then known in closed form.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import polars as pl
from scipy.special import expit, ndtr

from convergebench.analysis.parts import AnalysisContext
from convergebench.analysis.trajectories import Floats

Generator = np.random.Generator
Kind = Literal["honest", "noisy", "strict", "generous", "dissenter", "random", "constant", "reversed", "left"]
Mode = Literal["score", "preference"]
HONEST: tuple[Kind, ...] = ("honest", "noisy", "strict", "generous", "dissenter")
"""Raters who answer what they see; a dissenter has a taste of their own and keeps to it."""
BIAS: dict[str, float] = {"strict": -1.5, "generous": 1.5}
Shown = tuple[int, int, int | None]
"""Place of the picture, the method, and the method on the right in a pair."""
CLEAN, INPUT = 4.8, 0.8
"""Latent scores of the clean and of the degraded picture, shown as attention items."""


@dataclass(frozen=True, slots=True)
class RatingWorld:
    """Methods' means and standard deviations of the effects, in points."""

    means: tuple[float, ...] = (3.6, 3.0, 2.7, 2.2, 1.6)
    picture: float = 0.6
    on_picture: float = 0.5
    rater: float = 0.5
    taste: float = 0.25
    noise: float = 0.8

    @property
    def spread(self) -> float:
        """Of one latent score around its method's mean."""
        parts = (self.picture, self.on_picture, self.rater, self.taste, self.noise)
        return float(np.sqrt(sum(part**2 for part in parts)))

    def true_means(self) -> Floats:
        """Of the rounded scores, over all raters and pictures."""
        steps = np.arange(5) + 0.5
        return np.array([float((1 - ndtr((steps - mean) / self.spread)).sum()) for mean in self.means])

    def latent(self, draw: Generator, pictures: int) -> Floats:
        """Pictures × methods: what a rater without bias, taste and noise sees."""
        hard = draw.normal(0, self.picture, (pictures, 1))
        return np.array(self.means) + hard + draw.normal(0, self.on_picture, (pictures, len(self.means)))

    def scores(self, draw: Generator, raters: int, pictures: int) -> Floats:
        """Raters × pictures × methods of honest raters."""
        own = draw.normal(0, self.rater, (raters, 1, 1)) + draw.normal(0, self.taste, (raters, 1, len(self.means)))
        seen = self.latent(draw, pictures)[None] + own
        return rounded(seen + draw.normal(0, self.noise, seen.shape))

    def true_chances(self) -> Floats:
        """Methods × methods: how often one is preferred to the other, over all raters and pictures."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(60)
        apart = np.subtract.outer(np.array(self.means), np.array(self.means))
        wide = np.sqrt(2 * (self.on_picture**2 + self.taste**2))
        return np.asarray((expit(apart[..., None] + wide * nodes) * weights).sum(axis=-1) / weights.sum())

    def pairs(self, draw: Generator, raters: int, pictures: int) -> pl.DataFrame:
        """Every two methods on every picture by every rater, sides by chance: the frame `pairs` of answers."""
        seen = self.latent(draw, pictures)[None] + draw.normal(0, self.taste, (raters, 1, len(self.means)))
        one, other = (np.array(side) for side in zip(*combinations(range(len(self.means)), 2), strict=True))
        swapped = draw.random((raters, pictures, one.size)) < 0.5
        left, right = np.where(swapped, other, one), np.where(swapped, one, other)
        apart = np.take_along_axis(seen, left, 2) - np.take_along_axis(seen, right, 2)
        won = draw.random(apart.shape) < expit(apart)
        rater, picture = np.meshgrid(np.arange(raters), np.arange(pictures), indexing="ij")
        names = np.array(methods(len(self.means)))
        columns = {
            "rater": np.repeat(rater.ravel(), one.size).astype(str),
            "source": np.repeat(picture.ravel(), one.size).astype(str),
            "left": names[left.ravel()],
            "right": names[right.ravel()],
            "value": won.ravel().astype(float),
        }
        return pl.DataFrame({name: pl.Series(values.tolist()) for name, values in columns.items()})


def methods(count: int) -> list[str]:
    """Their names."""
    return [f"method-{number + 1}" for number in range(count)]


def rounded(latent: Floats) -> Floats:
    """On the scale 0–5."""
    return np.clip(np.rint(latent), 0, 5)


def ratings(
    draw: Generator,
    kinds: Sequence[Kind],
    pictures: int,
    *,
    world: RatingWorld | None = None,
    mode: Mode = "score",
    attention: int = 4,
    repeats: int = 6,
) -> pl.DataFrame:
    """The table `ratings` of a study by raters of these kinds: every method on every picture, or every pair."""
    world = world or RatingWorld()
    seen = world.latent(draw, pictures)
    rows = []
    for number, kind in enumerate(kinds):
        rater = _Rater(f"rater-{number}", kind, draw, world, seen)
        shown = rater.scores() if mode == "score" else rater.pairs()
        rows += [rater.answer(one, 1) for one in shown]
        rows += [rater.answer(shown[place], 2) for place in draw.permutation(len(shown))[:repeats]]
        rows += [rater.checked(place % 2 == 0, place % pictures, mode) for place in range(attention)]
    made = [f"{place:08d}" for place in range(len(rows))]
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(pl.Series("made", made))


def study(ratings: pl.DataFrame, pictures: int, count: int = 5) -> AnalysisContext:
    """What the analysis part gets of a run with these ratings."""
    chains = [
        {"editor": method, "case": _case(place), "source": f"picture-{place}"}
        for method in methods(count)
        for place in range(pictures)
    ]
    nobody: frozenset[str] = frozenset()
    return AnalysisContext(pl.DataFrame(), pl.DataFrame(chains), {}, nobody, nobody, ratings=ratings)


class _Rater:
    """Answers about what is shown, in the manner of their kind."""

    def __init__(self, name: str, kind: Kind, draw: Generator, world: RatingWorld, seen: Floats) -> None:
        self.name, self.kind, self.draw = name, kind, draw
        self.bias = BIAS.get(kind, 0.0) + float(draw.normal(0, world.rater))
        self.felt = seen + self.bias + draw.normal(0, world.taste, seen.shape[1])
        if kind == "dissenter":
            self.felt = draw.normal(2.6, 1.3, seen.shape)
        self.noise = world.noise * {"noisy": 1.6, "dissenter": 0.5}.get(kind, 1.0)
        self.names = methods(seen.shape[1])

    def scores(self) -> list[Shown]:
        return [(int(place), int(method), None) for place, method in np.ndindex(*self.felt.shape)]

    def pairs(self) -> list[Shown]:
        shown: list[Shown] = []
        for place in range(self.felt.shape[0]):
            for one, other in combinations(range(self.felt.shape[1]), 2):
                shown.append((place, one, other) if self.draw.random() < 0.5 else (place, other, one))
        return shown

    def answer(self, shown: Shown, showing: int) -> dict[str, Any]:
        place, method, against = shown
        detail: dict[str, Any] = {"showing": showing, "seconds": float(self.draw.gamma(4, 1.5))}
        if against is None:
            return self._row(self.names[method], place, "score", self._score(self.felt[place, method]), detail)
        detail["against"] = {"editor": self.names[against], "case": _case(place), "step": 1, "image": "i"}
        value = self._prefers(self.felt[place, method] - self.felt[place, against])
        return self._row(self.names[method], place, "preference", value, detail)

    def checked(self, clean: bool, place: int, mode: str) -> dict[str, Any]:
        """An attention item."""
        if mode == "score":
            value = self._score((CLEAN if clean else INPUT) + self.bias / 2)
            rule: dict[str, Any] = {"attention": {"least": 3} if clean else {"most": 2}}
        else:
            value = self._prefers((CLEAN - INPUT) if clean else (INPUT - CLEAN))
            other = {"editor": "input" if clean else "clean", "case": _case(place), "step": 0, "image": "i"}
            rule = {"attention": {"least": 0.5} if clean else {"most": 0.5}, "against": other}
        return self._row("clean" if clean else "input", place, mode, value, {"showing": 1, **rule})

    def _score(self, felt: float) -> float:
        if self.kind == "random":
            return float(self.draw.integers(0, 6))
        if self.kind == "constant":
            return 3.0 if self.draw.random() < 0.97 else 4.0
        score = float(min(5.0, max(0.0, round(felt + self.draw.normal(0, self.noise)))))
        return 5 - score if self.kind == "reversed" else score

    def _prefers(self, apart: float) -> float:
        if self.kind == "left":
            return 1.0 if self.draw.random() < 0.97 else 0.0
        if self.kind == "constant":
            return 0.5
        slope = {"random": 0.0, "reversed": -2.0, "noisy": 1.0, "dissenter": 4.0}.get(self.kind, 2.0)
        chance = float(expit(slope * apart))
        tied = 0.15 * 4 * chance * (1 - chance)
        return 0.5 if self.draw.random() < tied else float(self.draw.random() < chance)

    def _row(self, editor: str, place: int, question: str, value: float, detail: dict[str, Any]) -> dict[str, Any]:
        return {
            **{"editor": editor, "case": _case(place), "step": 1, "image": "i", "question": question},
            **{"value": value, "rater": self.name, "source": "person", "detail": json.dumps(detail)},
        }


def _case(place: int) -> str:
    return f"picture-{place}/LF3/0"
