"""Which raters are left out, by rules that honest raters with much noise, bias or a taste of their own pass.

A bias is mentioned and no reason to leave somebody out: methods are compared within raters. docs/design/ratings.md has
what the rules find and how often they are wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import polars as pl
from scipy.special import bdtr

from convergebench.analysis.ratings.answers import PeopleAnswers
from convergebench.analysis.ratings.raters import RaterQuality, rater_qualities
from convergebench.analysis.ratings.result import frame

FEWEST_ANSWERS = 10
"""With fewer answers a rater is not judged, except by attention items."""
SLIPS, UNLIKELY = 0.1, 0.02
"""An honest rater fails one attention item in ten; more failures than that are counted against a rater where they are
less likely than this."""
CONSTANT, MORE_CONSTANT = 0.9, 0.3
"""Share of the commonest answer of somebody who does not look, and how far it must be above that of the others."""
SIDED, SIDE_LEVEL = 0.8, 0.001
"""Share of one side in pairs, and the level of its binomial test."""
STANDARD = 1.645
"""Standard errors to either end of the 90 % interval of the agreement."""
OF_USUAL, DOUBTFUL = 0.5, 1 / 3
"""Agreement whose whole interval is below this share of the median rater's is none; the agreement itself suffices where
this share of the attention items was failed too."""
CONSISTENT, FEWEST_REPEATS = 0.5, 5
"""Repeat difference, as a share of that between unrelated answers, which shows a judgement of one's own."""
STRONG_BIAS = 0.15
"""Bias that is mentioned, as a share of the scale."""
FAST = 1.0
"""Median seconds an answer below which the speed is mentioned."""


def raters_table(answers: PeopleAnswers) -> pl.DataFrame:
    """The frame `raters`. Everybody is held against the others twice: the second time without those found first."""
    found = rater_qualities(answers, frozenset(answers.raters))
    unreliable = {one.rater for one in found if reasons(one, found)}
    if unreliable:
        found = rater_qualities(answers, frozenset(answers.raters) - unreliable)
    rows = []
    for one in found:
        why = reasons(one, found)
        columns = {name: getattr(one, name) for name in frame("raters", []).columns if hasattr(one, name)}
        rows.append({**columns, "flagged": bool(why), "why": "; ".join([*why, *_remarks(one)])})
    return frame("raters", rows)


def flagged_raters(raters: pl.DataFrame) -> frozenset[str]:
    """Who is left out."""
    return frozenset(raters.filter("flagged")["rater"])


def reasons(one: RaterQuality, everybody: Sequence[RaterQuality]) -> list[str]:
    """Why this rater is left out; empty for one who counts."""
    others = [other for other in everybody if other.rater != one.rater]
    found = []
    if one.attention and _at_least(one.attention_failed, one.attention, SLIPS) < UNLIKELY:
        found.append(f"failed {one.attention_failed} of {one.attention} attention items")
    if one.n < FEWEST_ANSWERS:
        return found
    usual = [other.same_answer for other in others if other.same_answer is not None and other.n >= FEWEST_ANSWERS]
    same = one.same_answer or 0.0
    one_sided = _one_sided(one)
    if not one_sided and same >= CONSTANT and usual and same >= median(usual) + MORE_CONSTANT:
        found.append(f"gave the same answer in {100 * same:.0f}%")
    return [*found, *one_sided, *_disagrees(one, others)]


def _one_sided(one: RaterQuality) -> list[str]:
    if one.left_side is None:
        return []
    side, share = ("left", one.left_side) if one.left_side >= 0.5 else ("right", 1 - one.left_side)
    p = min(1.0, 2 * _at_least(round(share * one.sided), one.sided, 0.5))
    return [f"chose the {side} side in {100 * share:.0f}%"] if share >= SIDED and p < SIDE_LEVEL else []


def _disagrees(one: RaterQuality, others: Sequence[RaterQuality]) -> list[str]:
    """Nothing in common with the others, or the opposite; one who repeats the own answers has another taste."""
    known = [other.agreement for other in others if other.agreement is not None and other.shared >= FEWEST_ANSWERS]
    low, high = one.bound(-STANDARD), one.bound(STANDARD)
    if one.shared < FEWEST_ANSWERS or len(known) < 2 or low is None or high is None:
        return []
    usual = median(known)
    if usual > 0 and high < 0:
        return ["answers against the others, as on a reversed scale"]
    if low > 0 or _repeated(one, below=CONSISTENT):
        return []
    certain = high < OF_USUAL * usual
    likely = (one.agreement or 0.0) < OF_USUAL * usual and _doubtful(one)
    return ["answers have nothing in common with those of the others"] if certain or likely else []


def _doubtful(one: RaterQuality) -> bool:
    """Whether attention items speak against the rater, though not enough by themselves."""
    return one.attention > 0 and one.attention_failed >= DOUBTFUL * one.attention


def _repeated(one: RaterQuality, *, below: float) -> bool:
    """Whether repeats differ by less than this share of the difference between unrelated answers."""
    if one.repeat_difference is None or not one.unrelated_difference or one.repeats < FEWEST_REPEATS:
        return False
    return one.repeat_difference < below * one.unrelated_difference


def _remarks(one: RaterQuality) -> list[str]:
    """What a reader should know and what does not count against the rater."""
    found = []
    if one.n < FEWEST_ANSWERS:
        found.append(f"too few answers to judge (under {FEWEST_ANSWERS})")
    if one.bias is not None and abs(one.bias) >= STRONG_BIAS and one.shared >= FEWEST_ANSWERS:
        way = "higher" if one.bias > 0 else "lower"
        found.append(f"rates {100 * abs(one.bias):.0f}% of the scale {way} than the others (allowed)")
    if one.seconds is not None and one.seconds < FAST:
        found.append(f"answers within {one.seconds:.1f} s")
    return found


def _at_least(hits: int, n: int, chance: float) -> float:
    """The probability of at least so many hits."""
    return 1.0 if hits <= 0 else float(1 - bdtr(hits - 1, n, chance))
