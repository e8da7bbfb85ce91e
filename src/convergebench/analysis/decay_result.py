"""The result of the analysis part `decay`: when chains break, how they fail, who notices, which variants help.

The columns declared here are the contract between the analysis and the report. An empty frame has the same columns.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import polars as pl

from convergebench.analysis.schemas import INTERVAL, AnalysisTables, B, F, N, T

SCHEMAS: dict[str, dict[str, type[pl.DataType]]] = {
    "onsets": {
        **{"editor": T, "case": T, "source": T, "pair": T, "category": T, "replicate": N, "metric": T},
        **{"onset": N, "last": N, "breakpoint": N, "gain": F, "clear": N, "why": T},
    },
    "onset_summary": {
        **{"editor": T, "pair": T, "metric": T, "median": N, "low": N, "high": N, "text": T},
        **{"n_cases": N, "n_censored": N, "n_sources": N},
    },
    "failures": {
        **{"editor": T, "pair": T, "mode": T, "level": T, "title": T, "chains": N, "seen": N, "undecided": N},
        **{"share": F, **INTERVAL, "first_step": F, "source_of": T},
    },
    "labels": {
        **{"editor": T, "case": T, "source_image": T, "pair": T, "mode": T, "level": T, "title": T, "present": B},
        **{"step": N, "last": N, "shown": N, "region": T, "evidence": T, "confidence": F, "source": T, "by": T},
        **{"detail": T, "rule": T},
    },
    "agreement": {
        **{"mode": T, "n": N, "both": N, "rule_only": N, "person_only": N, "neither": N},
        **{"kappa": F, "precision": F, "recall": F, "step_difference": F},
    },
    "noticing": {
        **{"editor": T, "case": T, "source": T, "pair": T, "replicate": N, "first_yes": N, "last": N},
        **{"asked": N, "yes": N, "no": N, "unparsable": N, "missing": N},
    },
    "noticing_summary": {
        **{"editor": T, "pair": T, "source": T, "n_runs": N, "n_never": N, "mean": F, "std": F},
        **{"median": F, **INTERVAL, "text": T},
        **{"delay_median": F, "delay_low": F, "delay_high": F, "delay_text": T, "n_delay": N},
    },
    "variants": {
        **{"editor": T, "pair": T, "baseline": T, "category": T, "metric": T, "step": N, "mean": F},
        **{"baseline_mean": F, "difference": F, **INTERVAL, "n_sources": N, "n_cases": N, "n_missing": N},
    },
    "success": {
        **{"editor": T, "pair": T, "operation": T, "steps": N, "done": N, "share": F, **INTERVAL, "n_missing": N}
    },
}
"""The columns of every frame."""


@dataclass(frozen=True, slots=True)
class DecayAnalysis(AnalysisTables):
    """The result of the analysis part `decay`."""

    onsets: pl.DataFrame
    """Per chain and metric: onset (null: not within `last` steps, and `why`), the last step known to be `clear` of it,
    the breakpoint of a two-segment fit and the `gain` of that fit over a straight line (difference in BIC)."""
    onset_summary: pl.DataFrame
    """Per editor, variant and metric: Kaplan–Meier median of the onset with its interval; `text` is `7` or `> 20`."""
    failures: pl.DataFrame
    """Per editor, variant and mode: chains examined, seen, undecided, share (of the decided ones) with its interval,
    median first step, and the sources of the labels (`rule 12, person 1`). The variant `all` pools every variant."""
    labels: pl.DataFrame
    """One row per label that counts: a person's over a judge's over a rule's. `present` null: undecided, `detail` says
    why. `region`: JSON [x, y, width, height], shares of the picture `shown`."""
    agreement: pl.DataFrame
    """Per mode: rule against person on the chains that have both; `step_difference` is the median distance of the
    first steps."""
    noticing: pl.DataFrame
    """Per chain: the first step whose summary says that the image is damaged (null: never), and the answers."""
    noticing_summary: pl.DataFrame
    """Per editor, variant and source (`all` pools them): mean and standard deviation over runs that noticed, the
    Kaplan–Meier median, and the delay behind the onset."""
    variants: pl.DataFrame
    """A variant against its baseline, paired by source image, at single steps."""
    success: pl.DataFrame
    """How often the requested operation (mirror, rotate, add, monochrome) happened."""

    @classmethod
    def empty(cls) -> DecayAnalysis:
        """All frames without rows."""
        return cls(**{one.name: pl.DataFrame(schema=SCHEMAS[one.name]) for one in fields(cls)})
