"""How often two judges decide otherwise about the same edit.

A second attempt is there for both only where both rejected the first, so decisions on all common edits are a choice in
favour of agreement; `first` has the first attempts of first turns alone, which are made whatever a judge says.
"""

from __future__ import annotations

import polars as pl

from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.factory.shares import share_of
from convergebench.analysis.schemas import INTERVAL, F, N, T, clean

DECISIONS: dict[str, type[pl.DataType]] = {
    **{"editor": T, "attempts": T, "n": N, "n_sources": N, "both": N, "first_only": N, "second_only": N, "neither": N},
    **{"differ": F, **INTERVAL},
}


def decision_table(first: pl.DataFrame, second: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """Accepted by both, by one, by neither, and the share that differs; from two runs' `attempts`, by `state`.

    An edit without a score has no decision and is left out.
    """
    ours = first.drop_nulls(["state", "score"]).select("editor", "source", "turn", "attempt", "state", "accepted")
    theirs = second.drop_nulls(["state", "score"]).unique("state", keep="first", maintain_order=True)
    both = ours.join(theirs.select("state", pl.col("accepted").alias("theirs")), on="state", how="inner")
    rows = []
    for (editor,), part in both.sort("editor").group_by("editor", maintain_order=True):
        begun = part.filter((pl.col("turn") == 1) & (pl.col("attempt") == 1))
        for name, some in (("first", begun), ("all", part)):
            pairs = list(zip(some["accepted"].to_list(), some["theirs"].to_list(), strict=True))
            differ = share_of([one != other for one, other in pairs], some["source"].to_list(), bootstrap)
            rows.append(
                {
                    **{"editor": editor, "attempts": name, "n": len(pairs), "n_sources": differ.n_sources},
                    **{"both": pairs.count((True, True)), "first_only": pairs.count((True, False))},
                    **{"second_only": pairs.count((False, True)), "neither": pairs.count((False, False))},
                    **{"differ": differ.value, "low": differ.low, "high": differ.high},
                }
            )
    return clean(pl.DataFrame(rows, schema=DECISIONS))
