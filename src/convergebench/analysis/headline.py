"""The findings as plain sentences, each with its number and its uncertainty.

The tested contrast comes first (`analysis.contrast`). Half-lives follow as a plain list, since two medians that differ
by a round prove nothing. "none lost" appears only when no case passed the level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from convergebench.analysis.halflife import Level
from convergebench.analysis.restoration.paper import METRICS
from convergebench.analysis.settling import commonest
from convergebench.analysis.wording import counted, interval, listed
from convergebench.studies.analysis_settings import AnalysisSettings
from convergebench.studies.units import ROUND_TRIP, Unit

NOTHING = "No chain has been measured yet."
MOST_NAMED = 4
"""Editors named in the half-life sentence; the table has the others."""
FEWEST_CASES = 3
"""Fewest cases of a pair for the word "never"."""

Row = Mapping[str, Any]


def never_sentence(adherence: pl.DataFrame, editors: Sequence[str], settings: AnalysisSettings) -> str | None:
    """Which pairs an editor never does or never undoes, so that keeping the picture there is no merit."""
    words = {"forward": ("does", "do"), "backward": ("undoes", "undo")}
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
            found.setdefault((row["editor"], row["leg"]), []).append(pair)
    alike: dict[tuple[str, str], list[str]] = {}
    for (editor, leg), pairs in found.items():
        alike.setdefault((leg, listed(pairs)), []).append(editor)
    parts = [f"{listed(names)} never {words[leg][len(names) > 1]} {pairs}" for (leg, pairs), names in alike.items()]
    return f"{'; '.join(parts)}." if parts else None


def coverage_sentence(ranking: pl.DataFrame, settings: AnalysisSettings, unit: Unit) -> str | None:
    """Which editors have no rank because of low coverage, and how many chains were refused or failed."""
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
    """How many pictures could not be measured and count as lost."""
    rows = ranking.filter(pl.col("n_lost") > 0).to_dicts()
    if not rows:
        return None
    parts = [f"{row['n_lost']:,} of {row['editor']}" for row in rows]
    return f"Images that the editor made unmeasurable count as lost: {listed(parts)}."


def half_life_sentence(ranking: pl.DataFrame, level: Level, better: str, settings: AnalysisSettings, unit: Unit) -> str:
    """How long images stay close to the original, editor by editor, over equal rounds; without a comparison."""
    rows = ranking.filter(pl.col("half_life").is_not_null()).to_dicts()
    rows = sorted(rows, key=lambda row: (row["rank"] is None, row["rank"] or 0))
    ranked = [row for row in rows if row["rank"] is not None] or rows
    parts = [_life(row, unit, settings) for row in ranked[:MOST_NAMED]]
    side = "≥" if better == "higher" else "≤"
    what = f"{METRICS.get(level.metric, level.metric)} {side} {level.threshold:.2f}"
    return f"Half of the images stay close to the original ({what}): {'; '.join(parts)}."


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
    """Which editors were followed for fewer rounds than the ranked editors are compared over."""
    rows = ranking.filter(pl.col("followed").is_not_null()).to_dicts()
    most = max((row["followed"] for row in rows if row["rank"] is not None), default=0)
    short = [f"{row['editor']} ({row['followed']})" for row in rows if row["followed"] < most]
    return f"Run for fewer than the {unit.counted(most)} compared: {listed(short)}." if short else None


def settling_sentence(verdicts: pl.DataFrame, editors: list[str]) -> str | None:
    """The commonest verdict of the best and the worst editor, as shares of their chains."""
    parts = []
    for editor in dict.fromkeys(editors):
        mine = verdicts.filter((pl.col("editor") == editor) & (pl.col("verdict") != "unknown"))
        word = commonest([row["verdict"] for row in mine.iter_rows(named=True) for _ in range(row["chains"])])
        if word is not None:
            share = mine.filter(pl.col("verdict") == word)["share"].item()
            verb = "is too early to judge" if word == "too early" else word
            parts.append(f"{editor} {verb} in {share:.0%} of its chains")
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
    return f"{row['editor']} loses most on the {unit.way} {pair}: {row['metric']} AUC {row['auc']:.2f}{ends}."


def left_out_sentence(ranking: pl.DataFrame) -> str | None:
    """How many chains of ranked editors are not compared because another editor lacks the case."""
    rows = ranking.filter(pl.col("rank").is_not_null()).to_dicts()
    out, whole = (sum(row[key] for row in rows) for key in ("n_left_out", "n_chains"))
    if not out:
        return None
    verb = "is" if out == 1 else "are"
    chains = counted(whole, "chain")
    return f"{out:,} of {chains} of the ranked editors {verb} not compared: not all editors have the case."


def unmeasured_sentence(ranking: pl.DataFrame, unit: Unit, *, score: tuple[str, ...]) -> str | None:
    """Which editors have unmeasured rounds, at which the comparison ends."""
    rows = ranking.filter(pl.col("n_missing") > 0).to_dicts()
    if not rows or not score:
        return None
    parts = [f"{unit.counted(row['n_missing'])} of {row['editor']}" for row in rows]
    verb = "lacks" if sum(row["n_missing"] for row in rows) == 1 else "lack"
    return f"{listed(parts)} {verb} a value of {' or '.join(score)}; those cases are scored over fewer {unit.heads}."


def simulated_sentence(editors: Sequence[str], ranked: Sequence[str], simulated: frozenset[str]) -> str | None:
    """Which editors are simulated, and whether the ranked ones are."""
    own = [editor for editor in editors if editor in simulated]
    if not own:
        return None
    if len(own) == len(editors):
        return "The editor is simulated." if len(editors) == 1 else "All editors are simulated."
    if ranked and all(editor in simulated for editor in ranked):
        return "All ranked editors are simulated; no other editor of this run follows instructions."
    noun = "is a simulated editor" if len(own) == 1 else "are simulated editors"
    return f"{listed(own)} {noun}, shown beside real ones for reference."


def copying_sentence(editors: tuple[str, ...], uninstructed: frozenset[str]) -> str | None:
    """Which editors only copy, so that what they keep does not compare with editors that follow instructions."""
    copies = [editor for editor in editors if editor in uninstructed]
    if not copies:
        return None
    verb = "ignores instructions and only copies" if len(copies) == 1 else "ignore instructions and only copy"
    return f"{listed(copies)} {verb} the image."
