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
    """The steps (or rounds) whose score is compared with the baseline's; empty = those of 5, 10 and 20 that the
    chains reach, else two that they do reach."""
    baseline: Annotated[int, Field(ge=0, le=1_000_000)] = 1
    """The step that all others are compared with: 1, because the first step may crop."""
    by: Literal["round", "step"] = "round"
    """What is counted: whole rounds (after which the image shows the source again), or every single edit."""
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Range of a metric instead of its typical one: `pi = [0, 55]`."""
    percentiles: Annotated[tuple[Percentile, ...], Field(min_length=1)] = (5.0, 25.0, 50.0)
    """A filter keeps what scores at least as well as this percentile of untouched images."""
    damage: str = ""
    """Full-reference metric for the damage to an image; empty = LPIPS or SSIM against the baseline's image."""
    enough: Annotated[int, Field(ge=1, le=1_000_000)] = 12
    """Images without a failure needed to call a metric reliable."""
    draws: Draws = 2000
    """Bootstrap samples; whole source images are resampled."""
    seed: Seed = 0
    """Seed of the resampling."""
    confidence: Confidence = 0.95
    """Confidence level of every interval."""

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
    """Metrics whose mean AUC is Q; those that were not measured are skipped."""
    semantic: Annotated[str | None, AfterValidator(lambda name: name or "")] = "gist"  # a manifest knows no null
    """Metric whose AUC is S."""
    adherence: tuple[str, str] = ("happened", "undone")
    """Metrics for whether an edit was done and whether it was undone; the score is conditioned on them."""
    coverage: Share = 0.8
    """Smallest share of cases and rounds that an editor must deliver to be ranked."""
    headline: str = "ssim"
    """Metric of the headline half-life."""
    level: str = "noticeable"
    """Level of the headline half-life: `noticeable`, `half`."""
    levels: dict[str, dict[Name, float]] = field(default_factory=dict)
    """Levels per metric, e.g. {"ssim": {"noticeable": 0.9}}; otherwise the metric's own."""
    sustained: bool = False
    """Half-life at the first round after which the level stays crossed, instead of the first crossing."""
    distance: str = "rmse"
    """Metric of drift and displacement (its lag rows are named `rmse-lag1` …)."""
    floor: Share = 0.5 / 255
    """Displacement that 8-bit rounding alone can cause, for deterministic editors."""
    max_period: Annotated[int, Field(ge=1, le=6)] = 6
    """Longest limit cycle looked for, in rounds."""
    settling_rounds: Annotated[int, Field(ge=4, le=1000)] = 10
    """Rounds below which it is too early to say that a chain settles, cycles, drifts or diverges."""
    points: tuple[Position, ...] = (1, 2, 3, 5, 10, 15, 20)
    """Rounds whose numbers are printed in tables; curves have every round."""
    chain_draws: Annotated[int, Field(ge=50, le=100_000)] = 500
    """No effect: the interval of q is no longer resampled. Kept so that older study files can be read."""
    permutations: Annotated[int, Field(ge=99, le=1_000_000)] = 9999
    """Label swaps of the paired test when there are too many to enumerate."""
    exact_sources: Annotated[int, Field(ge=0, le=20)] = 14
    """Up to this many sources all 2^K swaps are enumerated and p is exact."""
    draws: Draws = 2000
    """Bootstrap samples; whole source images are resampled."""
    seed: Seed = 0
    """Seed of the resampling."""
    confidence: Confidence = 0.95
    """Confidence level of every interval."""
    interval: Literal["corrected-t", "percentile", "bca"] = "corrected-t"
    """Student's t corrected for skewness; or bootstrap percentiles, plain or bias-corrected (bca)."""
    onset: str = ""
    """Metric whose curve shows the onset of degradation; empty = the headline metric, against step 1 if measured."""
    floors: tuple[str, ...] = ("sim-jpeg", "sim-resize", "taesd", "taesdxl", "taesd3", "taef1", "taef2")
    """Editors that serve as codec-only, resize-only and autoencoder-only floors, if they were run."""
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
