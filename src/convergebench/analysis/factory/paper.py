"""Numbers that the paper of Pico-Banana-400K prints, as the claims have them."""

from __future__ import annotations

from functools import cache

import polars as pl

from convergebench.claims.tables import PAPERS

SUBSETS = {"sft": "single turn sft", "multi-turn": "multi turn sft", "preference": "single turn preference"}
"""Our name of a subset → the paper's."""


@cache
def paper_rates() -> dict[str, float]:
    """Edit type → the paper's success rate, where it gives one."""
    table = pl.read_csv(PAPERS / "pico_edit_types.csv").drop_nulls("success_rate")
    return dict(table.select("edit_type", "success_rate").iter_rows())


@cache
def paper_subsets() -> dict[str, tuple[float, float]]:
    """Our name of a subset → the paper's number of examples, and its share."""
    table = pl.read_csv(PAPERS / "pico_subsets.csv")
    found = {name: (1000.0 * thousands, percent / 100) for name, thousands, percent in table.iter_rows()}
    return {ours: found[theirs] for ours, theirs in SUBSETS.items()}
