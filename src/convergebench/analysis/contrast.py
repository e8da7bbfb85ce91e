"""The first sentence of every report: which editor keeps pictures closest to the original, if the test decides it.

A winner is named only where the difference in score to every other ranked editor holds after Holm's correction.
Otherwise the sentence says that they cannot be told apart, the next one how many images it would take, or that no
outcome could have been significant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from convergebench.analysis.wording import counted, interval, listed, span
from convergebench.studies.analysis_settings import AnalysisSettings
from convergebench.studies.units import Unit

Row = Mapping[str, Any]


def contrast_sentences(
    ranking: pl.DataFrame, pairwise: pl.DataFrame, settings: AnalysisSettings, unit: Unit
) -> list[str]:
    """Which editor leads; or that the test is undecided and what it would take; or why no editor is ranked."""
    rows = ranking.filter(pl.col("rank").is_not_null()).to_dicts()
    if not rows:
        return [_no_ranking(ranking.to_dicts(), settings, unit)]
    first = rows[0]
    leader = f"{first['score']:.1f} of 100"
    if len(rows) == 1:
        cases = f"{counted(first['n_cases'], 'case')} from {counted(first['n_sources'], 'image')}"
        ends = interval(first["low"], first["high"], settings.confidence)
        return [f"{first['editor']} scores {leader}{ends} over {cases}."]
    others = [_against(pairwise, first["editor"], row["editor"]) for row in rows[1:]]
    certain = [pair is not None and pair["significant"] and pair["better"] == first["editor"] for pair in others]
    if all(certain):
        closest = others[0]
        assert closest is not None
        return [
            f"{first['editor']} keeps pictures closest to the original: it scores {leader}, "
            f"{closest['difference']:.1f} more than {closest['worse']}, the next{_tested(closest, settings)}."
        ]
    return _undecided(rows, others, certain, settings)


def _undecided(
    rows: Sequence[Row], others: Sequence[Row | None], certain: Sequence[bool], settings: AnalysisSettings
) -> list[str]:
    """Which editors share the lead and the observed difference; then what it would take to decide."""
    equal = [row for row, sure in zip(rows[1:], certain, strict=True) if not sure]
    names = listed([rows[0]["editor"], *(row["editor"] for row in equal)])
    pair = next(pair for pair, sure in zip(others, certain, strict=True) if not sure)
    if pair is None:
        return [f"{names} cannot be told apart: they have no case in common."]
    images = counted(pair["n_sources"], "image")
    seen = f"{pair['better']} scores {pair['difference']:.1f} more than {pair['worse']}{_tested(pair, settings)}"
    if pair["difference"] < 0.05:
        seen = f"{pair['better']} and {pair['worse']} score the same"
    behind = [row["editor"] for row, sure in zip(rows[1:], certain, strict=True) if sure]
    ahead = [f"{rows[0]['editor']} is ahead of {listed(behind)}."] if behind else []
    more = " ".join([*_needed(pair, len(rows), settings), *ahead])
    return [f"{names} cannot be told apart with {images}: {seen}.", *([more] if more else [])]


def _needed(pair: Row, editors: int, settings: AnalysisSettings) -> list[str]:
    """How many images would decide, or that no outcome could have been significant."""
    pairs = editors * (editors - 1) // 2
    enough = (
        [f"About {pair['needed']:,} images would be needed to detect a difference of this size."]
        if pair["needed"]
        else []
    )
    if pair["smallest_p"] * pairs >= 1 - settings.confidence:
        over = f" times {pairs} for as many pairs" if pairs > 1 else ""
        images = counted(pair["n_sources"], "image")
        none = f"With {images} no outcome could be significant (smallest p {pair['smallest_p']:.2g}{over})."
        return [none, *enough]
    return enough


def _against(pairwise: pl.DataFrame, one: str, other: str) -> Row | None:
    both = [one, other]
    found = pairwise.filter(pl.col("better").is_in(both) & pl.col("worse").is_in(both)).to_dicts()
    return found[0] if found else None


def _tested(pair: Row, settings: AnalysisSettings) -> str:
    """` (95%: 3.1–10.4; p = 0.004; 12 images)`."""
    ends = "" if pair["low"] is None else f"{100 * settings.confidence:.3g}%: {span(pair['low'], pair['high'])}; "
    p = "p < 0.001" if pair["p_holm"] < 0.001 else f"p = {pair['p_holm']:.2g}"
    return f" ({ends}{p}; {counted(pair['n_sources'], 'image')})"


def _no_ranking(rows: Sequence[Row], settings: AnalysisSettings, unit: Unit) -> str:
    scored = [row for row in rows if row["score"] is not None]
    if not scored and sum(row["n_finished"] > 0 and row["n_missing"] == 0 for row in rows) > 1:
        return "No editor is ranked: they have no case in common."
    if not scored:
        return "No editor has a score: no case was finished with a value of every metric of the score."
    low = [row for row in scored if row["coverage"] < settings.coverage]
    parts = listed([f"{row['editor']} covers {row['coverage']:.0%}" for row in low])
    return f"No editor is ranked: {parts} of the cases and {unit.heads}; {settings.coverage:.0%} is needed for a rank."
