"""The findings as plain sentences, each with its number and its uncertainty.

The first one is a tested contrast: who keeps pictures closest to the original, by the score and at equal rounds. A
winner is named only where the difference to every other ranked editor holds; otherwise the sentence says that they
cannot be told apart, and how many images it would take. Half-lives follow as a plain list, since two medians that
differ by a round prove nothing. "none lost" is said only when no case passed the level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from convergebench.analysis.halflife import Level
from convergebench.analysis.result import AnalysisSettings
from convergebench.analysis.settling import commonest
from convergebench.analysis.units import ROUND_TRIP, Unit

NOTHING = "No chain has been measured yet."
MOST_NAMED = 4
"""Editors whose half-life stands in the sentence; the table has the others."""
FEWEST_CASES = 3
"""Cases without which "never" is not said of a pair."""

Row = Mapping[str, Any]


def contrast_sentences(
    ranking: pl.DataFrame, pairwise: pl.DataFrame, settings: AnalysisSettings, unit: Unit
) -> list[str]:
    """Who leads, or that nobody can be told to and what it would take, or why nobody is ranked."""
    rows = ranking.filter(pl.col("rank").is_not_null()).to_dicts()
    if not rows:
        return [_nobody(ranking.to_dicts(), settings, unit)]
    first = rows[0]
    leader = f"{first['score']:.1f} of 100"
    if len(rows) == 1:
        cases = f"{counted(first['n_cases'], 'case')} from {counted(first['n_sources'], 'image')}"
        ends = interval(first["low"], first["high"], settings.confidence)
        return [f"{first['editor']} scores {leader}{ends} over {cases}."]
    others = [_against(pairwise, first["editor"], row["editor"]) for row in rows[1:]]
    held = [pair is not None and pair["significant"] and pair["better"] == first["editor"] for pair in others]
    if all(held):
        closest = others[0]
        assert closest is not None
        return [
            f"{first['editor']} keeps pictures closest to the original: it scores {leader}, "
            f"{closest['difference']:.1f} more than {closest['worse']}, the next{_tested(closest, settings)}."
        ]
    return _undecided(rows, others, held, settings)


def _undecided(
    rows: Sequence[Row], others: Sequence[Row | None], held: Sequence[bool], settings: AnalysisSettings
) -> list[str]:
    """Which editors share the lead and the difference that was seen; then what it would take to tell."""
    equal = [row for row, sure in zip(rows[1:], held, strict=True) if not sure]
    names = listed([rows[0]["editor"], *(row["editor"] for row in equal)])
    pair = next(pair for pair, sure in zip(others, held, strict=True) if not sure)
    if pair is None:
        return [f"{names} cannot be told apart: they have no case in common."]
    images = counted(pair["n_sources"], "image")
    seen = f"{pair['better']} scores {pair['difference']:.1f} more than {pair['worse']}{_tested(pair, settings)}"
    if pair["difference"] < 0.05:
        seen = f"{pair['better']} and {pair['worse']} score the same"
    behind = [row["editor"] for row, sure in zip(rows[1:], held, strict=True) if sure]
    ahead = [f"{rows[0]['editor']} is ahead of {listed(behind)}."] if behind else []
    more = " ".join([*_needed(pair, len(rows), settings), *ahead])
    return [f"{names} cannot be told apart with {images}: {seen}.", *([more] if more else [])]


def _needed(pair: Row, editors: int, settings: AnalysisSettings) -> list[str]:
    """What it would take, or that no outcome could have been enough."""
    pairs = editors * (editors - 1) // 2
    enough = [f"About {pair['needed']:,} images would tell a difference of this size."] if pair["needed"] else []
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


def _nobody(rows: Sequence[Row], settings: AnalysisSettings, unit: Unit) -> str:
    scored = [row for row in rows if row["score"] is not None]
    if not scored and sum(row["n_finished"] > 0 and row["n_missing"] == 0 for row in rows) > 1:
        return "Nobody is ranked: the editors have no case in common."
    if not scored:
        return "No editor has a score: no case was finished with a value of every metric of the score."
    low = [row for row in scored if row["coverage"] < settings.coverage]
    parts = listed([f"{row['editor']} covers {row['coverage']:.0%}" for row in low])
    return f"Nobody is ranked: {parts} of the cases and {unit.heads}; {settings.coverage:.0%} is needed for a rank."


def never_sentence(adherence: pl.DataFrame, editors: Sequence[str], settings: AnalysisSettings) -> str | None:
    """Which pairs an editor never does, or never undoes: what it keeps there is not to its credit."""
    words = {"forward": "does", "backward": "undoes"}
    rows = adherence.filter(
        pl.col("group").str.starts_with("pair:")
        & pl.col("metric").is_in(list(settings.adherence))
        & (pl.col("share") == 0)
        & (pl.col("n_cases") >= FEWEST_CASES)
        & pl.col("editor").is_in(list(editors))
    ).to_dicts()
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["leg"] in words:
            pair = f"“{row['group'].removeprefix('pair:')}” (0 of {counted(row['n_cases'], 'case')})"
            found.setdefault((row["editor"], words[row["leg"]]), []).append(pair)
    parts = [f"{editor} never {verb} {listed(pairs)}" for (editor, verb), pairs in found.items()]
    return f"{'; '.join(parts)}." if parts else None


def coverage_sentence(ranking: pl.DataFrame, settings: AnalysisSettings, unit: Unit) -> str | None:
    """Who has no rank for having delivered too little, and what was refused and failed."""
    rows = ranking.filter((pl.col("coverage") < settings.coverage) & pl.col("rank").is_null()).to_dicts()
    rows = [row for row in rows if not row["reference"]]
    if not rows:
        return None
    parts = [
        f"{row['editor']} has no rank: it covers {row['coverage']:.0%} of the cases and {unit.heads} "
        f"({row['n_refused']} refused, {row['n_failed']} failed of {counted(row['n_chains'], 'chain')})"
        for row in rows
    ]
    return f"{'; '.join(parts)}; {settings.coverage:.0%} is needed."


def lost_sentence(ranking: pl.DataFrame) -> str | None:
    """How many pictures were beyond measuring; they count as lost, not as missing."""
    rows = ranking.filter(pl.col("n_lost") > 0).to_dicts()
    if not rows:
        return None
    parts = [f"{row['n_lost']:,} of {row['editor']}" for row in rows]
    return f"Pictures that could not be measured for what was done to them count as lost: {listed(parts)}."


def half_life_sentence(ranking: pl.DataFrame, level: Level, better: str, settings: AnalysisSettings, unit: Unit) -> str:
    """How long an image stays recognisable, editor by editor, at equal rounds; no contest is made of it."""
    rows = ranking.filter(pl.col("half_life").is_not_null()).to_dicts()
    rows = sorted(rows, key=lambda row: (row["rank"] is None, row["rank"] or 0))
    ranked = [row for row in rows if row["rank"] is not None] or rows
    parts = [_life(row, unit, settings) for row in ranked[:MOST_NAMED]]
    side = "at least" if better == "higher" else "at most"
    what = f"{level.metric} of {side} {level.threshold:g}, {level.name} level"
    return f"Half of the images stay recognisable ({what}): {'; '.join(parts)}."


def _life(row: Row, unit: Unit, settings: AnalysisSettings) -> str:
    of = f"{row['half_life_events']} of {row['half_life_cases']} lost"
    if row["half_life_median"] is None:
        none = f"none of {row['half_life_cases']} lost" if row["half_life_events"] == 0 else of
        return f"{row['editor']} for all {unit.counted(row['followed'])} ({none})"
    return f"{row['editor']} until {unit.one} {row['half_life_median']}{_rounds(row, settings)}"


def _rounds(row: Row, settings: AnalysisSettings) -> str:
    low, high = row["half_life_low"], row["half_life_high"]
    if low is None:
        return ""
    ends = f"{low} to beyond {row['followed']}" if high is None else str(low) if low == high else f"{low}–{high}"
    return f" ({100 * settings.confidence:.3g}%: {ends})"


def shorter_sentence(ranking: pl.DataFrame, unit: Unit) -> str | None:
    """Who was followed for fewer rounds than the ranked editors are compared over."""
    rows = ranking.filter(pl.col("followed").is_not_null()).to_dicts()
    most = max((row["followed"] for row in rows if row["rank"] is not None), default=0)
    short = [f"{row['editor']} ({row['followed']})" for row in rows if row["followed"] < most]
    return f"Followed for fewer than the {unit.counted(most)} compared: {listed(short)}." if short else None


def settling_sentence(verdicts: pl.DataFrame, editors: list[str]) -> str | None:
    """The commonest verdict of the best and the worst editor, as shares of their chains."""
    parts = []
    for editor in dict.fromkeys(editors):
        mine = verdicts.filter((pl.col("editor") == editor) & (pl.col("verdict") != "unknown"))
        word = commonest([row["verdict"] for row in mine.iter_rows(named=True) for _ in range(row["chains"])])
        if word is not None:
            share = mine.filter(pl.col("verdict") == word)["share"].item()
            said = "is too early to judge" if word == "too early" else word
            parts.append(f"{editor} {said} in {share:.0%} of its chains")
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


def left_out_sentence(ranking: pl.DataFrame) -> str | None:
    """How many chains of ranked editors are not compared, because another editor has nothing there."""
    rows = ranking.filter(pl.col("rank").is_not_null()).to_dicts()
    out, whole = (sum(row[key] for row in rows) for key in ("n_left_out", "n_chains"))
    if not out:
        return None
    verb = "is" if out == 1 else "are"
    chains = counted(whole, "chain")
    return f"{out:,} of {chains} of the ranked editors {verb} not compared: not all editors have the case."


def unmeasured_sentence(ranking: pl.DataFrame, unit: Unit, *, score: tuple[str, ...]) -> str | None:
    """Which editors have rounds that nobody measured: there the comparison ends."""
    rows = ranking.filter(pl.col("n_missing") > 0).to_dicts()
    if not rows or not score:
        return None
    parts = [f"{unit.counted(row['n_missing'])} of {row['editor']}" for row in rows]
    verb = "lacks" if sum(row["n_missing"] for row in rows) == 1 else "lack"
    return f"{listed(parts)} {verb} a value of {' or '.join(score)}; chains are compared up to there."


def simulated_sentence(editors: Sequence[str], ranked: Sequence[str], simulated: frozenset[str]) -> str | None:
    """Says which editors only pretend, and whether it is these that are ranked."""
    pretend = [editor for editor in editors if editor in simulated]
    if not pretend:
        return None
    if len(pretend) == len(editors):
        return "The editor is simulated." if len(editors) == 1 else "All editors are simulated."
    if ranked and all(editor in simulated for editor in ranked):
        return "All ranked editors are simulated; no other editor of this run follows instructions."
    noun = "is a simulated editor" if len(pretend) == 1 else "are simulated editors"
    return f"{listed(pretend)} {noun}, shown beside real ones for reference."


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


def span(low: float, high: float, digits: int = 1) -> str:
    """`4.1–5.2`, or `−0.3 to 5.2` where a sign would hide in the dash."""
    joint = "–" if low >= 0 and high >= 0 else " to "
    return f"{low:.{digits}f}{joint}{high:.{digits}f}".replace("-", "−")


def interval(low: float | None, high: float | None, confidence: float, digits: int = 1) -> str:
    """` (95%: 4.1–5.2)`, or nothing when there is no interval."""
    if low is None or high is None:
        return ""
    return f" ({100 * confidence:.3g}%: {span(low, high, digits)})"
