"""The sentences at the top of a factory's page."""

from __future__ import annotations

from typing import Any

import polars as pl

from convergebench.analysis.factory.composition import pair_count
from convergebench.analysis.factory.result import FactoryAnalysis
from convergebench.analysis.wording import counted, percent, share_interval

NOTHING = "No case has been started yet."
FEWEST = 5
"""Edits that a category must have to be named as the easiest or the hardest."""


def factory_sentences(found: FactoryAnalysis, confidence: float) -> tuple[str, ...]:
    """The most important first; sentences without a number are left out."""
    if not found.edits.height:
        return (NOTHING,)
    sentences: list[str | None] = []
    for editor in found.edits["editor"].unique().sort():
        sentences.append(_success(found, editor, confidence))
    for editor in found.edits["editor"].unique().sort():
        sentences += [
            _categories(found, editor),
            _sessions(found, editor),
            _noise(found, editor),
            _rows(found, editor),
            _separable(found, editor, confidence),
        ]
    return tuple(sentence for sentence in sentences if sentence)


def _row(frame: pl.DataFrame, **equal: object) -> dict[str, Any]:
    rows = frame.filter(**equal).to_dicts() if frame.height else []
    return rows[0] if rows else {}


def _by(found: FactoryAnalysis, editor: str) -> str:
    """` by NAME` where there are several editors."""
    return f" by {editor}" if found.edits["editor"].n_unique() > 1 else ""


def _success(found: FactoryAnalysis, editor: str, confidence: float) -> str:
    rates = found.success_by_type.filter(editor=editor, turns="first", group="all")
    edit, first = (_row(rates, unit=unit) for unit in ("edit", "first-attempt"))
    if not edit or edit["share"] is None:
        return f"No edit by {editor} has a verdict yet."
    ends = share_interval(edit["low"], edit["high"], confidence)
    few = "" if ends else f" ({counted(edit['n_sources'], 'source image')}, too few for an interval)"
    at_once = ""
    if first.get("share") is not None and edit["share"] != first["share"]:
        at_once = f", {percent(first['share'])} at the first attempt"
    return f"The judge accepts {percent(edit['share'])} of {edit['n']} edits by {editor}{ends}{few}{at_once}."


def _categories(found: FactoryAnalysis, editor: str) -> str | None:
    rates = found.success_by_type.filter(
        pl.col("group").str.starts_with("category:"),
        pl.col("n") >= FEWEST,
        pl.col("share").is_not_null(),
        editor=editor,
        turns="first",
        unit="edit",
    ).sort("share", "group")
    if rates.height < 2 or rates["share"][0] == rates["share"][-1]:
        return None
    hardest, easiest = (
        (row["group"].removeprefix("category:"), row) for row in (rates.row(0, named=True), rates.row(-1, named=True))
    )
    apart = _apart(easiest[1], hardest[1])
    return (
        f"Easiest for {editor}: {easiest[0]} ({percent(easiest[1]['share'])} of {easiest[1]['n']}); "
        f"hardest: {hardest[0]} ({percent(hardest[1]['share'])} of {hardest[1]['n']}){apart}."
    )


def _apart(better: dict[str, Any], worse: dict[str, Any]) -> str:
    """What to think of the difference."""
    if better["low"] is None or worse["high"] is None:
        return "; too few source images to separate them"
    return "" if better["low"] > worse["high"] else "; their intervals overlap"


def _sessions(found: FactoryAnalysis, editor: str) -> str | None:
    own = found.sessions.filter(editor=editor)
    if not own.height:
        return None
    whole, stopped = own.filter("whole").height, own.filter(pl.col("ended") == "damaged").height
    inspector = f"; the inspector stopped {stopped}" if stopped else ""
    by = _by(found, editor)
    return f"{whole} of {counted(own.height, 'session')}{by} completed all turns{inspector}."


def _noise(found: FactoryAnalysis, editor: str) -> str | None:
    row = _row(found.judge_noise, editor=editor)
    if not row:
        return None
    return (
        f"Judging the same edit{_by(found, editor)} again, the judge varies "
        f"by a standard deviation of {row['sd']:.3f}; "
        f"{percent(row['flip_single'])} of pairs of replies disagree on acceptance."
    )


def _rows(found: FactoryAnalysis, editor: str) -> str | None:
    n = dict(found.composition.filter(editor=editor).select("subset", "n").iter_rows())
    cost = _row(found.edit_costs, editor=editor, part="all").get("per_accepted")
    price = f", for ${cost:.4g} per accepted edit" if isinstance(cost, float) and cost > 0 else ""
    return (
        f"This yields {counted(n['sft'], 'training example')}{_by(found, editor)}, "
        f"{counted(pair_count(found.edits, found.attempts, editor), 'preference pair')} "
        f"and {counted(n['multi-turn'], 'multi-turn session')}{price}."
    )


def _separable(found: FactoryAnalysis, editor: str, confidence: float) -> str | None:
    row = _row(found.separability, editor=editor)
    if not row or row["accuracy"] is None:
        return None
    ends = share_interval(row["low"], row["high"], confidence)
    return (
        f"A simple reward model prefers the accepted edit{_by(found, editor)} in {percent(row['accuracy'])}{ends} "
        f"of {row['n_pairs']} pairs of unseen images; 50% is chance."
    )
