"""The constants of the analysis: `[analysis]` of a study file, checked there and used as they are by the analysis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, ConfigDict, Field

from convergebench.documents import Strict, check_document
from convergebench.studies.values import Name, Position, Seed

Share = Annotated[float, Field(ge=0, le=1)]
Percentile = Annotated[float, Field(gt=0, lt=100)]
Draws = Annotated[int, Field(ge=100, le=100_000)]
Confidence = Annotated[float, Field(gt=0.5, lt=1)]

# plain dataclasses, so that a test or a sensitivity trial can take values that a study file may not ask for


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """How scores become verdicts in `cbench audit`; each key has a flag there or is printed with the result."""

    __pydantic_config__: ClassVar[ConfigDict] = Strict.model_config

    gaps: tuple[Position, ...] = ()
    """The steps (or rounds) whose score is held against the baseline's; empty = those of 5, 10 and 20 that chains
    reach, else two that they do reach."""
    baseline: Annotated[int, Field(ge=0, le=1_000_000)] = 1
    """The step that all others are held against: 1, because the first step may crop."""
    by: Literal["round", "step"] = "round"
    """What is counted: whole rounds (the picture shows the source again), or every single edit."""
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Range of a metric in place of its typical one: `pi = [0, 55]`."""
    percentiles: Annotated[tuple[Percentile, ...], Field(min_length=1)] = (5.0, 25.0, 50.0)
    """A filter keeps what scores at least as well as this percentile of untouched images."""
    damage: str = ""
    """Full-reference metric that says how damaged a picture is; empty: LPIPS or SSIM against the baseline's picture."""
    enough: Annotated[int, Field(ge=1, le=1_000_000)] = 12
    """Images without a failure that it takes to call a metric sound."""
    draws: Draws = 2000
    """Bootstrap draws, whole source images at a time."""
    seed: Seed = 0
    """Fixes the draws."""
    confidence: Confidence = 0.95
    """Of every interval."""

    def __post_init__(self) -> None:
        early = [gap for gap in self.gaps if gap <= self.baseline]
        if early:
            raise ValueError(
                f"gap {early[0]} is not after the baseline ({self.baseline}); give later ones, e.g. 5, 10, 20"
            )
        if len(set(self.gaps)) < len(self.gaps):
            raise ValueError("a gap is listed twice")
        for name, (low, high) in self.ranges.items():
            if not (isfinite(low) and isfinite(high) and low < high):
                raise ValueError(f"the range of {name} is [{low:g}, {high:g}]; give the lower end first")


@dataclass(frozen=True, slots=True)
class AnalysisSettings:
    """Every constant of the analysis; each is printed with the result."""

    __pydantic_config__: ClassVar[ConfigDict] = Strict.model_config

    quality: tuple[str, ...] = ("ssim", "lpips")
    """Metrics whose mean AUC is Q, as far as they were measured."""
    semantic: Annotated[str | None, AfterValidator(lambda name: name or "")] = "gist"  # a manifest knows no null
    """Metric whose AUC is S."""
    adherence: tuple[str, str] = ("happened", "undone")
    """Metrics that say whether an edit was done and whether it was undone; the score is conditioned on them."""
    coverage: Share = 0.8
    """Least share of the cases and rounds that an editor must deliver to get a rank."""
    headline: str = "ssim"
    """Metric of the half-life sentence."""
    level: str = "noticeable"
    """Level of the half-life sentence: `noticeable`, `half`."""
    levels: dict[str, dict[Name, float]] = field(default_factory=dict)
    """Overrides per metric: {"ssim": {"noticeable": 0.9}}; the metric's own facts otherwise."""
    sustained: bool = False
    """Half-life at the first round after which the level stays passed, instead of the first passing."""
    distance: str = "rmse"
    """Metric of drift and displacement (its lag rows are named `rmse-lag1` …)."""
    floor: Share = 0.5 / 255
    """Displacement that 8-bit rounding alone can make, for deterministic editors."""
    max_period: Annotated[int, Field(ge=1, le=6)] = 6
    """Longest limit cycle looked for, in rounds."""
    settling_rounds: Annotated[int, Field(ge=4, le=1000)] = 10
    """Rounds below which it is too early to say that a chain settles, cycles, drifts or diverges."""
    points: tuple[Position, ...] = (1, 2, 3, 5, 10, 15, 20)
    """Rounds whose numbers are printed in tables; curves have every round."""
    chain_draws: Annotated[int, Field(ge=50, le=100_000)] = 500
    """Without effect: the interval of q is no longer drawn. Kept so that older study files can be read."""
    permutations: Annotated[int, Field(ge=99, le=1_000_000)] = 9999
    """Label swaps of the paired test when there are too many to enumerate."""
    exact_sources: Annotated[int, Field(ge=0, le=20)] = 14
    """Up to this many sources all 2^K swaps are enumerated and p is exact."""
    draws: Draws = 2000
    """Bootstrap draws, whole source images at a time."""
    seed: Seed = 0
    """Fixes the draws."""
    confidence: Confidence = 0.95
    """Of every interval."""
    interval: Literal["corrected-t", "percentile", "bca"] = "corrected-t"
    """Student's t corrected for skewness; or percentiles of draws, plain or bias-corrected (bca)."""
    onset: str = ""
    """Metric whose curve shows the onset of decay; empty: the headline one, against step 1 where that was measured."""
    floors: tuple[str, ...] = ("sim-jpeg", "sim-resize", "taesd", "taesdxl", "taesd3", "taef1", "taef2")
    """Editors that stand for codec-only, resize-only and autoencoder-only floors, where they were run."""
    audit: AuditSettings = field(default_factory=AuditSettings)
    """`[analysis.audit]`: how `cbench audit` judges metrics."""


class _AnalysisDocument(Strict):
    analysis: AnalysisSettings = AnalysisSettings()


class _AuditDocument(Strict):
    audit: AuditSettings = AuditSettings()


def analysis_settings(spec: Mapping[str, Any]) -> AnalysisSettings:
    """The constants of a study, as its file or the manifest of its run has them."""
    return check_document({"analysis": spec.get("analysis", {})}, _AnalysisDocument, where="study").analysis


def audit_settings(spec: Mapping[str, Any], **given: Any) -> AuditSettings:
    """The constants of `[analysis.audit]` with those that are given (not None) in their place."""
    own = spec.get("analysis", {}).get("audit", {})
    table = {**own, **{key: value for key, value in given.items() if value is not None}}
    return check_document({"audit": table}, _AuditDocument, where="settings").audit
