"""The combined convergence score C = 100 · √(Q · S), with its parts.

Q is the mean over the quality metrics of their mean AUC, S the mean AUC of the semantic metric. In both, a round that
was not delivered, not done or not undone counts 0 (`common_cases`): an edit that fails is a failure to converge. A
metric counts as present when any chain has a value of it. Without S the score is 100 · Q, without Q it is 100 · S, and
the formula says so. Being worse than unrelated counts as 0: two negatives must not make a good score.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from convergebench.analysis.trajectories import Floats
from convergebench.analysis.wording import listed
from convergebench.studies.analysis_settings import AnalysisSettings


@dataclass(frozen=True, slots=True)
class Score:
    """Which metrics make the score. Its features are their AUC sums and, last, the number of cases."""

    quality: tuple[str, ...]
    semantic: str | None
    absent: tuple[str, ...] = ()
    """Requested metrics without any value."""
    adhered: bool = False
    """Whether adherence was measured; otherwise every delivered round counts."""

    @property
    def metrics(self) -> tuple[str, ...]:
        """All its metrics, quality first."""
        return self.quality + ((self.semantic,) if self.semantic else ())

    @property
    def formula(self) -> str:
        """As printed under the ranking."""
        absent = listed(self.absent, most=len(self.absent))
        if not self.metrics:
            return f"C = 100·√(Q·S) has no value: {absent or 'no metric'} was not measured"
        names = listed(self.quality, most=len(self.quality))
        quality = f"Q = {'mean AUC' if len(self.quality) > 1 else 'AUC'} of {names}"
        semantic = f"S = AUC of {self.semantic}"
        missing = f" ({absent} not measured)" if absent else ""
        share = "delivered, done and undone" if self.adhered else "delivered (adherence was not measured)"
        times = f"; what was not {share} counts 0"
        if not self.semantic:
            reason = missing or " (no semantic metric was asked for)"
            return f"C = 100·Q{reason}; {quality}{times}"
        if not self.quality:
            return f"C = 100·S{missing}; {semantic}{times}"
        return f"C = 100·√(Q·S){missing}; {quality}; {semantic}{times}"

    def parts(self, totals: Floats) -> tuple[Floats, Floats]:
        """Q and S from feature totals (… × features); NaN for a part without a metric."""
        means = _per_case(totals)
        blank = np.full(means.shape[:-1], np.nan)
        quality = means[..., : len(self.quality)].mean(axis=-1) if self.quality else blank
        return np.asarray(quality), np.asarray(means[..., -1] if self.semantic else blank)

    def value(self, totals: Floats) -> Floats:
        """C from feature totals."""
        quality, semantic = (np.maximum(part, 0.0) for part in self.parts(totals))
        if not self.semantic:
            return np.asarray(100 * quality)
        return np.asarray(100 * (np.sqrt(quality * semantic) if self.quality else semantic))


def make_score(areas: Mapping[str, Floats], settings: AnalysisSettings, *, adhered: bool = False) -> Score:
    """The score that the measured metrics allow."""
    present = {name for name, values in areas.items() if not np.isnan(values).all()}
    asked = (*settings.quality, *((settings.semantic,) if settings.semantic else ()))
    return Score(
        quality=tuple(name for name in settings.quality if name in present),
        semantic=settings.semantic if settings.semantic in present else None,
        absent=tuple(name for name in asked if name not in present),
        adhered=adhered,
    )


def _per_case(totals: Floats) -> Floats:
    counts = totals[..., -1:]
    blank = np.full(totals[..., :-1].shape, np.nan)
    return np.asarray(np.divide(totals[..., :-1], counts, out=blank, where=counts > 0))
