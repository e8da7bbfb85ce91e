"""What an accepted edit costs: the editor's calls and every role's, those of failed attempts too."""

from __future__ import annotations

import polars as pl

from convergebench.analysis.factory.result import frame

ALL = "all"


def cost_table(edits: pl.DataFrame, answers: pl.DataFrame, spending: pl.DataFrame) -> pl.DataFrame:
    """The frame `edit_costs`. A role's calls belong to the editor in whose chain they were made first.

    Calls that failed, and those of no chain, have no chain to belong to; with one editor they are its own, with several
    they stand under `all` alone.
    """
    accepted = edits.filter(pl.col("outcome") == "accepted")
    counts = dict(accepted.group_by("editor").len().iter_rows())
    spent = {name: (calls, dollars) for name, calls, dollars, *_ in spending.iter_rows()} if spending.height else {}
    roles = [name for name in spent if name.startswith("role:")]
    editors = edits["editor"].unique().sort().to_list()
    rows = []
    for editor in editors:
        parts = {"editor": spent.get(editor, (0, 0.0))}
        if len(editors) == 1:
            parts |= {name.removeprefix("role:"): spent[name] for name in roles}
        else:
            parts |= _asked(answers, editor)
        rows += _rows(editor, parts, counts.get(editor, 0))
    if len(editors) > 1:
        parts = {"editor": _sum([spent.get(editor, (0, 0.0)) for editor in editors])}
        parts |= {name.removeprefix("role:"): spent[name] for name in roles}
        rows += _rows(ALL, parts, accepted.height)
    return frame("edit_costs", rows)


Spent = tuple[int, float]
"""Calls and dollars."""


def _asked(answers: pl.DataFrame, editor: str) -> dict[str, Spent]:
    if not answers.height:
        return {}
    own = answers.filter(pl.col("editor") == editor).sort("role").group_by("role", maintain_order=True)
    return {role: (calls, dollars) for role, calls, dollars in own.agg(pl.len(), pl.col("dollars").sum()).iter_rows()}


def _sum(parts: list[Spent]) -> Spent:
    return sum(calls for calls, _ in parts), sum(dollars for _, dollars in parts)


def _rows(editor: str, parts: dict[str, Spent], accepted: int) -> list[dict[str, object]]:
    return [
        {
            **{"editor": editor, "part": part, "calls": calls, "dollars": dollars, "accepted": accepted},
            "per_accepted": dollars / accepted if accepted else None,
        }
        for part, (calls, dollars) in {**parts, ALL: _sum(list(parts.values()))}.items()
    ]
