"""The findings as plain sentences, each with its number and its uncertainty.

"until round trip 6" (or step 6, where nothing is undone) is the half-life itself: the first round after which the
median image is past the level. "never" is said only when no case passed it; a median that was not reached although
some did is "still keeps most".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from convergebench.analysis.compare import Contest
from convergebench.analysis.halflife import Level, fit
from convergebench.analysis.result import AnalysisSettings
from convergebench.analysis.survival import median, restricted_mean
from convergebench.analysis.trajectories import Trajectories
from convergebench.analysis.units import ROUND_TRIP, Unit

NOTHING = "No chain has been measured yet."


@dataclass(frozen=True, slots=True)
class Standing:
    """How long one editor keeps the level: the numbers of its half of a sentence."""

    editor: str
    median: int | None
    low: int | None
    high: int | None
    mean: float
    followed: int
    events: int


def standings(data: Trajectories, held: Contest, level: Level, confidence: float) -> list[Standing]:
    """Best first; on the common cases when there is a ranking, else on all cases with a value."""
    found = []
    for editor in held.ranked or data.editors:
        rows = data.of(editor) & (held.common if held.ranked else True)
        curve = fit(data, level.cases, rows, confidence=confidence)
        mean, followed = restricted_mean(curve)
        if followed:
            found.append(Standing(editor, *median(curve), mean, followed, int(curve.events.sum())))
    return sorted(found, key=lambda one: (-(np.inf if one.median is None else one.median), one.events, -one.mean))


def half_life_sentence(found: list[Standing], confidence: float, unit: Unit = ROUND_TRIP) -> str:
    """Best and worst editor in one sentence; with one editor, or when all are equal, just that."""
    best, worst = found[0], found[-1]
    if len(found) == 1:
        return f"{_alone(best, confidence, unit)}."
    if best.median == worst.median:
        return f"{_together(found, unit)}."
    if best.median is not None:
        only = f"{worst.editor} only until {unit.one} {_number(worst, confidence)}"
        return f"{_until(best, confidence, unit)}; {only}."
    never = [one for one in found if one.median is None and one.events == 0]
    if never:
        verb = "never loses" if len(never) == 1 else "never lose"
        tail = f"{listed([one.editor for one in never])} {verb} it within {never[0].followed}"
    else:
        tail = f"{best.editor} still keeps most images so after {best.followed}"
    return f"{_until(worst, confidence, unit)}; {tail}."


def meaning(level: Level, facts_better: str, *, cases: int, sources: int) -> str:
    """What `recognisable` means here, and on how much it rests."""
    side = "at least" if facts_better == "higher" else "at most"
    return (
        f"Recognisable means: {level.metric} of {side} {level.threshold:g} against the source ({level.name} level), "
        f"for the median of {counted(cases, 'case')} from {counted(sources, 'source image')} per editor."
    )


def score_sentence(ranking: pl.DataFrame, pairwise: pl.DataFrame, confidence: float) -> str | None:
    """Who leads by the combined score, and whether that can be told from the runner-up."""
    rows = ranking.filter(pl.col("rank").is_not_null()).to_dicts()
    if not rows:
        return None
    first = [row for row in rows if row["rank"] == 1]
    leader = f"{first[0]['score']:.1f} of 100{interval(first[0]['low'], first[0]['high'], confidence)}"
    if len(rows) == 1:
        return f"{first[0]['editor']} has a combined score of {leader}."
    if len(first) > 1:
        return (
            f"{listed([row['editor'] for row in first])} share the best combined score, {first[0]['score']:.1f} of 100."
        )
    second = rows[1]
    runner = f"{second['editor']} with {second['score']:.1f}{interval(second['low'], second['high'], confidence)}"
    test = pairwise.filter((pl.col("better") == first[0]["editor"]) & (pl.col("worse") == second["editor"])).to_dicts()[
        0
    ]
    told = "" if test["significant"] else "not "
    end = f"the difference is {told}significant (Holm p = {test['p_holm']:.2g})"
    return f"By the combined score {first[0]['editor']} leads with {leader}, before {runner}; {end}."


def settling_sentence(verdicts: pl.DataFrame, editors: list[str]) -> str | None:
    """The commonest verdict of the best and the worst editor, as shares of their chains."""
    parts = []
    for editor in dict.fromkeys(editors):
        mine = verdicts.filter((pl.col("editor") == editor) & (pl.col("verdict") != "unknown")).sort(
            "chains", descending=True, maintain_order=True
        )
        if mine.height:
            top = mine.row(0, named=True)
            parts.append(f"{editor} {top['verdict']} in {top['share']:.0%} of its chains")
    return f"{'; '.join(parts)}." if parts else None


def hardest_sentence(auc: pl.DataFrame, settings: AnalysisSettings, unit: Unit = ROUND_TRIP) -> str | None:
    """The editor and pair (or variant) that lose most by the headline metric, when there are several pairs."""
    pairs = auc.filter((pl.col("metric") == settings.headline) & pl.col("group").str.starts_with("pair:"))
    rows = pairs.drop_nulls("auc").sort("auc", "editor", "group").to_dicts()
    if not rows or len({row["group"] for row in rows}) < 2 or rows[0]["auc"] == rows[-1]["auc"]:
        return None
    row = rows[0]
    ends = interval(row["low"], row["high"], settings.confidence, digits=2)
    pair = row["group"].removeprefix("pair:")
    return (
        f"Most is lost by {row['editor']} on the {unit.way} {pair}: "
        f"area {row['auc']:.2f} of 1 under {row['metric']}{ends}."
    )


def left_out_sentence(chains: pl.DataFrame) -> str | None:
    """How many chains did not finish."""
    unfinished = chains.filter(pl.col("status") != "finished").height
    if not unfinished:
        return None
    verb = "is" if unfinished == 1 else "are"
    return f"{unfinished} of {counted(chains.height, 'chain')} did not finish and {verb} left out of the ranking."


def unmeasured_sentence(ranking: pl.DataFrame, *, score: tuple[str, ...]) -> str | None:
    """Which editors finished chains that the score cannot measure: what is left out is not what went well."""
    rows = ranking.filter(pl.col("n_missing") > 0).to_dicts()
    if not rows or not score:
        return None
    parts = [f"{row['n_missing']} of {counted(row['n_finished'], 'finished chain')} of {row['editor']}" for row in rows]
    total = sum(row["n_missing"] for row in rows)
    verb, these = ("lacks", "is") if total == 1 else ("lack", "are")
    return f"{listed(parts)} {verb} a value of {' or '.join(score)} and {these} left out of the ranking for all."


def shortened_sentence(data: Trajectories, held: Contest) -> str | None:
    """How many ranked chains went on after another editor's recording of the case had ended."""
    longer = int((held.common & (data.reached > held.until)).sum())
    if not longer:
        return None
    verb = "is" if longer == 1 else "are"
    return f"{counted(longer, 'chain')} of the ranking {verb} scored only as far as all editors went with the case."


def simulated_sentence(editors: tuple[str, ...], simulated: frozenset[str]) -> str | None:
    """Says which editors only pretend, above all when they stand beside real ones."""
    pretend = [editor for editor in editors if editor in simulated]
    if not pretend:
        return None
    if len(pretend) == len(editors):
        return "The editor is simulated." if len(editors) == 1 else "All editors are simulated."
    noun = "is a simulated editor" if len(pretend) == 1 else "are simulated editors"
    return f"{listed(pretend)} {noun}, shown beside real ones for scale."


def copying_sentence(editors: tuple[str, ...], uninstructed: frozenset[str]) -> str | None:
    """Says which editors only copy: what they keep is not what an editor keeps that also does what it is told."""
    copies = [editor for editor in editors if editor in uninstructed]
    if not copies:
        return None
    verb = "copies and never edits" if len(copies) == 1 else "copy and never edit"
    return f"{listed(copies)} {verb}, whatever the words say."


def counted(number: int, noun: str) -> str:
    """`1 case`, `2 cases`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: list[str], most: int = 3) -> str:
    """`a`, `a and b`, `a, b and c`, `a, b and 4 others`."""
    if len(names) > most:
        names = [*names[: most - 1], counted(len(names) - most + 1, "other")]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def interval(low: float | None, high: float | None, confidence: float, digits: int = 1) -> str:
    """` (95%: 4.1–5.2)`, or nothing when there is no interval."""
    if low is None or high is None:
        return ""
    return f" ({100 * confidence:.3g}%: {low:.{digits}f}–{high:.{digits}f})"


def _alone(one: Standing, confidence: float, unit: Unit) -> str:
    if one.median is not None:
        return _until(one, confidence, unit)
    share = "an image" if one.events == 0 else "most images"
    return f"{one.editor} keeps {share} recognisable for all of {unit.counted(one.followed)}"


def _together(found: list[Standing], unit: Unit) -> str:
    both = "both" if len(found) == 2 else "all"
    who = f"{listed([one.editor for one in found])} {both}"
    first = found[0]
    if first.median is not None:
        return f"{who} keep an image recognisable until {unit.one} {first.median}"
    share = "an image" if all(one.events == 0 for one in found) else "most images"
    return f"{who} keep {share} recognisable for {unit.counted(min(one.followed for one in found))}"


def _until(one: Standing, confidence: float, unit: Unit) -> str:
    return f"{one.editor} keeps an image recognisable until {unit.one} {_number(one, confidence)}"


def _number(one: Standing, confidence: float) -> str:
    if one.low is None:
        return str(one.median)
    high = f"–{one.high}" if one.high is not None else f" to beyond {one.followed}"
    ends = str(one.low) if one.low == one.high else f"{one.low}{high}"
    return f"{one.median} ({100 * confidence:.3g}%: {ends})"
