"""What people say, in sentences. A method is called best only where it is ahead of every other by Holm's correction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from convergebench.analysis.ratings.agreement import INTERVAL_ALPHA, LEFT
from convergebench.analysis.ratings.result import RatingsAnalysis
from convergebench.analysis.ratings.scales import PREFERENCE, SCALES
from convergebench.analysis.ratings.two_way import FEWEST_RATERS
from convergebench.analysis.wording import counted, interval, listed, percent, span

RELIABLE, TENTATIVE = 0.8, 0.667
"""Krippendorff's own limits of α: for conclusions, and for tentative ones."""

Row = Mapping[str, Any]


def rating_sentences(found: RatingsAnalysis, confidence: float) -> tuple[str, ...]:
    """The most important first; none without ratings, and no claim with fewer than three raters who count."""
    raters = found.raters
    if not raters.height:
        return ()
    flagged, counting = raters.filter("flagged").height, raters.filter(~pl.col("flagged")).height
    left_out = _left_out(flagged, raters.height)
    if counting < FEWEST_RATERS:
        few = f"{counted(counting, 'rater')} who can be relied on" if flagged else counted(counting, "rater")
        sentence = f"Too few ratings for a finding: {few}, {FEWEST_RATERS} are needed."
        return tuple(one for one in (sentence, left_out) if one)
    sentences = [_scores(found, confidence), _preferences(found), _agreement(found, confidence), left_out]
    return tuple(sentence for sentence in sentences if sentence)


def _scores(found: RatingsAnalysis, confidence: float) -> str | None:
    """Of the first question that was asked and has a best answer at its top."""
    for question in ("score", "overall"):
        rows = found.rating_means.filter(pl.col("rank").is_not_null(), question=question).to_dicts()
        if rows:
            return _best(question, rows, found.rating_contrasts.filter(question=question), confidence)
    return None


def _best(question: str, rows: list[dict[str, Any]], contrasts: pl.DataFrame, confidence: float) -> str | None:
    first, others = rows[0], [row["editor"] for row in rows[1:]]
    scale = SCALES[question].high
    if first["n_raters"] < FEWEST_RATERS:
        return None
    if not others:
        return f"People rate {first['editor']} {_rated(first, scale, confidence)}."
    beaten = _beaten(contrasts, first["editor"])
    if set(others) <= beaten:
        return f"People rate {first['editor']} best: {_rated(first, scale, confidence)}."
    rivals = [row for row in rows[1:] if row["editor"] not in beaten]
    apart = f"Raters do not separate {listed([first['editor'], *(row['editor'] for row in rivals)])}"
    rest = f" ({first['mean']:.1f} and {rivals[0]['mean']:.1f} of {scale}{_counts(first)})"
    behind = [name for name in others if name in beaten]
    return f"{apart}{rest}" + (
        f"; {listed(behind)} {'is' if len(behind) == 1 else 'are'} behind {first['editor']}." if behind else "."
    )


def _rated(row: Row, scale: int, confidence: float) -> str:
    """`3.7 of 5 (95%: 3.4–4.0; 20 raters, 20 photographs)`."""
    ends = "" if row["low"] is None else f"{100 * confidence:.3g}%: {span(row['low'], row['high'])}"
    return f"{row['mean']:.1f} of {scale} ({ends}{_counts(row) if ends else _counts(row)[2:]})"


def _counts(row: Row) -> str:
    return f"; {counted(row['n_raters'], 'rater')}, {counted(row['n_sources'], 'photograph')}"


def _beaten(contrasts: pl.DataFrame, editor: str) -> set[str]:
    return set(contrasts.filter(pl.col("significant"), better=editor)["worse"])


def _preferences(found: RatingsAnalysis) -> str | None:
    rows = found.preferences.to_dicts()
    ranked = [row for row in rows if row["rank"] is not None]
    if len(ranked) < 2 or found.preferences["strength"].count() < 2:
        return None
    first = ranked[0]
    beaten = _beaten(found.rating_contrasts.filter(question=PREFERENCE), first["editor"])
    rivals = [row["editor"] for row in rows if row["editor"] not in {first["editor"], *beaten}]
    if not rivals:
        share = percent(first["wins"] / first["n"])
        return f"In pairs, people prefer {first['editor']} to every other method: it wins {share} of {first['n']}."
    pairs = counted(sum(row["n"] for row in rows) // 2, "comparison")
    return f"In pairwise comparisons, raters do not separate {listed([first['editor'], *rivals])} ({pairs})."


def _agreement(found: RatingsAnalysis, confidence: float) -> str | None:
    rows = found.rating_agreement.filter(pl.col("value").is_not_null(), measure=INTERVAL_ALPHA).to_dicts()
    if not rows:
        return None
    value = rows[0]["value"]
    words = "agree well" if value >= RELIABLE else "agree moderately" if value >= TENTATIVE else "agree little"
    ends = interval(rows[0]["low"], rows[0]["high"], confidence, 2)
    side = found.rating_agreement.filter(pl.col("note").str.starts_with("the side matters"), measure=LEFT).to_dicts()
    more = f"; the left picture is preferred in {percent(side[0]['value'])} of pairs" if side else ""
    return f"Raters {words}: Krippendorff's α = {value:.2f}{ends}{more}.".replace("= -", "= −")


def _left_out(flagged: int, raters: int) -> str | None:
    if not flagged:
        return None
    verb = "is" if flagged == 1 else "are"
    return f"{flagged} of {counted(raters, 'rater')} {verb} left out as unreliable; the table of raters says why."
