"""The result of the analysis part `factory`. The columns declared here are the contract with the report and the claims.

An edit is one instruction for one picture, with all of its attempts. `turns` is `first` (edits of untouched sources,
which the paper's rates are about) or `all`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from convergebench.analysis.schemas import INTERVAL, AnalysisTables, B, F, N, T, clean
from convergebench.studies.factory_table import CRITERIA

_CHAIN: dict[str, type[pl.DataType]] = {"editor": T, "case": T, "source": T}
_SCORES: dict[str, type[pl.DataType]] = {"score": F, **dict.fromkeys(CRITERIA, F)}

SCHEMAS: dict[str, dict[str, type[pl.DataType]]] = {
    "edits": {
        **_CHAIN,
        **{"turn": N, "edit_type": T, "category": T, "assigned": T, "session": B, "long": T, "short": T},
        **{"attempts": N, "delivered": N, "judged": N, "outcome": T, "accepted_at": N, "position": N, **_SCORES},
        **{"spread": F, "reason": T, "quality": F, "fit": B, "damage": T},
    },
    "attempts": {
        **_CHAIN,
        **{"turn": N, "attempt": N, "edit_type": T, "category": T, "position": N, "state": T, "accepted": B},
        **{"refused": T, **_SCORES, "scores": T, "spread": F, "replies": N, "parsed": N, "asked": N, "reason": T},
        **{"dollars": F, "judge_dollars": F},
    },
    "sessions": {**_CHAIN, "planned": N, "done": N, "fit": N, "ended": T, "whole": B},
    "funnel": {"editor": T, "track": T, "stage": T, "n": N, "share": F, "aside": B, "what": T},
    "success_by_type": {
        **{"editor": T, "turns": T, "group": T, "unit": T, "share": F, **INTERVAL, "n": N, "accepted": N},
        **{"n_missing": N, "n_sources": N, "paper": F},
    },
    "judge_histograms": {"editor": T, "of": T, "low": F, "high": F, "n": N, "accepted": N},
    "judge_noise": {
        **{"editor": T, "n_edits": N, "n_sources": N, "replies": N, "sd": F, **INTERVAL, "between_sd": F},
        **{"flip_single": F, "flip_single_low": F, "flip_single_high": F, "flip": F, "near": N},
    },
    "role_replies": {"editor": T, "role": T, "questions": N, "asked_again": N, "unparsed": N},
    "judge_pairs": {
        **{"editor": T, "n_pairs": N, "n_sources": N, "n_missing": N, "consistent": F, "consistent_low": F},
        **{"consistent_high": F, "first_preferred": F, "first_low": F, "first_high": F, "agrees": F},
        **{"agrees_low": F, "agrees_high": F},
    },
    "sweeps": {
        **{"editor": T, "sweep": T, "choice": T, "chosen": B, "threshold": F, **dict.fromkeys(CRITERIA, F)},
        **{"n": N, "accepted": N, "unknown": N, "share": F, **INTERVAL, "share_most": F, "n_sources": N},
        **{"kept": N, "gained": N, "lost": N, "jaccard": F},
    },
    "sweep_types": {
        **{"editor": T, "sweep": T, "choice": T, "edit_type": T, "category": T, "n": N, "before": N, "after": N},
        **{"unknown": N},
    },
    "judge_agreement": {
        **{"editor": T, "question": T, "rater": T, "source": T, "measure": T, "value": F, **INTERVAL, "n": N},
        **{"n_sources": N, "n_missing": N, "note": T},
    },
    "separability": {
        **{"editor": T, "accuracy": F, **INTERVAL, "n_pairs": N, "n_sources": N, "features": N, "folds": N, "note": T}
    },
    "separability_features": {"editor": T, "metric": T, "weight": F, "alone": F, "n_pairs": N},
    "composition": {"editor": T, "subset": T, "n": N, "share": F, "paper_n": F, "paper_share": F, "what": T},
    "instruction_content": {"editor": T, "bucket": T, "n": N, "share": F, **INTERVAL, "n_instructions": N},
    "edit_costs": {"editor": T, "part": T, "calls": N, "dollars": F, "accepted": N, "per_accepted": F},
}
"""The columns of every frame."""

Rows = Sequence[Mapping[str, object]]


def frame(name: str, rows: Rows) -> pl.DataFrame:
    """The frame `name` from row mappings; columns that a row lacks are null, NaN becomes null."""
    columns = SCHEMAS[name]
    return clean(pl.DataFrame([{key: row.get(key) for key in columns} for row in rows], schema=columns))


@dataclass(frozen=True, slots=True)
class FactoryAnalysis(AnalysisTables):
    """The result of the analysis part `factory`."""

    headline: tuple[str, ...]
    """Plain sentences with number and uncertainty, the most important first."""
    threshold: float
    """A score above it was accepted."""
    judged: int
    """How often the judge was asked about each edit."""
    edits: pl.DataFrame
    """One row per editor, case and turn. `assigned` is the type that was dealt, `edit_type` the one that was done;
    `outcome`: accepted, discarded, unwritten (no instruction) or open; scores are those of the accepted attempt, or of
    the best one; `quality`, `fit` and `damage` are the inspector's."""
    attempts: pl.DataFrame
    """One row per attempt. `refused` is the editor's reason; `score` is null where it was refused or the judge's reply
    could not be parsed; `scores` are the single replies' (JSON)."""
    sessions: pl.DataFrame
    """One row per case that was planned to have several turns."""
    funnel: pl.DataFrame
    """track (`edits`: first turns, `sessions`), stage, n, share (of the track's first stage); `aside`: a way out of the
    funnel, or a remark, and no narrower stage."""
    success_by_type: pl.DataFrame
    """group: `all`, `category:NAME`, `type:ID`; unit: `edit` (accepted within the attempts allowed), `attempt` (of all
    attempts made), `first-attempt`. n_missing has no verdict: unwritten, unfinished, or not judged. A refusal is a
    failure. `paper` is the rate that the paper gives for the type; it does not say per what."""
    judge_histograms: pl.DataFrame
    """of: `score`, a criterion (bins of 0.05, of which the last is closed) or `attempts` (per edit)."""
    judge_noise: pl.DataFrame
    """From edits that were judged at least twice. sd: within an edit; `flip_single`: two single replies disagree on
    accepting; `flip`: the decision that was made (a mean of `replies`) would turn in a new draw; `near`: edits within
    two standard deviations of the threshold."""
    role_replies: pl.DataFrame
    """Questions per role, how often one was asked again, and how many stayed without a reply that can be parsed."""
    judge_pairs: pl.DataFrame
    """Accepted against rejected edit, asked in both orders. consistent: the same answer in both; first_preferred: mean
    preference for what is shown first (one half: no effect of order); agrees: the accepted one wins on average."""
    sweeps: pl.DataFrame
    """Other thresholds and weights on the attempts that were made (first turns). unknown: accepted as it was, not under
    this rule, and further attempts were never made; `share` counts these as failures, `share_most` as successes.
    kept, gained, lost and jaccard compare the accepted pictures."""
    sweep_types: pl.DataFrame
    """Edits accepted per type before and after, where a sweep's choice changes the number."""
    judge_agreement: pl.DataFrame
    """The judge's scores against people's and other models' ratings of the same pictures."""
    separability: pl.DataFrame
    """How often a simple reward model (Bradley–Terry on differences of measurements) tells the accepted from the
    rejected edit of images it has not seen; one half is chance."""
    separability_features: pl.DataFrame
    """Standardised weights of that model over all pairs, and the accuracy of each measurement alone (no fitting but its
    direction)."""
    composition: pl.DataFrame
    """Rows of each subset beside the paper's."""
    instruction_content: pl.DataFrame
    """What instructions are about, by keywords; an instruction may be in several buckets."""
    edit_costs: pl.DataFrame
    """Calls and dollars per part, and per accepted edit."""
