"""Table 3 of the literature: does an editor give the same answer twice?

Friedman's test asks whether the repeats' *numbers* matter: whether first answers, say, are better than second ones over
most pictures. Repeats of one request are exchangeable, so it finds nothing but chance however unsteady an editor is:
one that answers at random passes it as well as one that hardly varies. What measures steadiness is `spread`, the
standard deviation between repeats of one picture, beside `between`, that between pictures.

Blocks are pictures, also where several are of one photograph: under the null hypothesis repeats are exchangeable within
each. Pictures without all repeats are left out and counted.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from convergebench.analysis.bootstrap import Bootstrap, Interval
from convergebench.analysis.permutation import holm
from convergebench.analysis.restoration.friedman import FEW, FriedmanTest, friedman
from convergebench.analysis.restoration.paper import as_printed, paper_tests
from convergebench.analysis.restoration.pictures import finite, numbered
from convergebench.analysis.restoration.result import frame
from convergebench.analysis.restoration.scope import RestorationScope
from convergebench.analysis.trajectories import Floats, Ints


def stability_table(scope: RestorationScope) -> pl.DataFrame:
    """The frame `stability`, Holm over all tests of an editor; without repeats it has no rows."""
    rows: list[dict[str, object]] = []
    for editor in scope.editors:
        own = [
            {"editor": editor, "prompt": prompt, "metric": metric, **row}
            for prompt in scope.prompts_of(editor)
            for metric in scope.metrics
            if (row := _row(editor, prompt, metric, scope))
        ]
        tested = [row for row in own if row["p"] is not None]
        for row, p in zip(tested, holm([float(str(row["p"])) for row in tested]), strict=True):
            row.update({"p_holm": p, "significant_holm": p < scope.level})
        rows += own
    return frame("stability", rows)


def repeat_matrix(rows: pl.DataFrame) -> tuple[list[str], Floats]:
    """Pictures, and their values as pictures × repeats, NaN where one is missing."""
    pictures, repeats = (sorted(rows[name].unique()) for name in ("source", "replicate"))
    values = np.full((len(pictures), len(repeats)), np.nan)
    where, across = ({name: place for place, name in enumerate(keys)} for keys in (pictures, repeats))
    for picture, repeat, value in rows.select("source", "replicate", "value").iter_rows():
        if value is not None:
            values[where[picture], across[repeat]] = value
    return pictures, values


def _row(editor: str, prompt: str, metric: str, scope: RestorationScope) -> dict[str, object]:
    own = scope.restored.filter(pl.col("round") == 1, editor=editor, prompt=prompt, metric=metric)
    pictures, values = repeat_matrix(own)
    if values.shape[1] < 2:
        return {}
    whole = np.asarray(~np.isnan(values).any(axis=1))
    known = values[whole]
    test = friedman(known)
    photographs = numbered([scope.photograph(one) for one, there in zip(pictures, whole, strict=True) if there])
    printed = paper_tests().get((prompt, metric)) if as_printed([prompt], scope.prompts) else None
    return {
        **{"statistic": test.statistic, "p": test.p, "repeats": values.shape[1], "n_cases": test.blocks},
        "significant": None if test.p is None else test.p < scope.level,
        **{"n_sources": int(np.unique(photographs).size), "n_missing": int((~whole).sum())},
        **_spread(known, photographs, scope),
        "between": float(known.mean(axis=1).std(ddof=1)) if known.shape[0] > 1 else None,
        "note": _note(known, test, editor, scope),
        **({"paper_statistic": printed.statistic, "paper_p": printed.p} if printed else {}),
    }


def pooled_spread(values: Floats, photographs: Ints, bootstrap: Bootstrap) -> Interval:
    """The standard deviation within a picture, pooled over pictures × repeats, with an interval over photographs."""
    away = values - values[:, :1]  # equal repeats have no variance at all, not that of rounding
    features = np.zeros((int(photographs.max()) + 1, 2))
    np.add.at(features, photographs, np.column_stack([away.var(axis=1, ddof=1), np.ones(values.shape[0])]))
    return bootstrap.statistic(features, _pooled, bounds=(0.0, np.inf))


def _spread(known: Floats, photographs: Ints, scope: RestorationScope) -> dict[str, float | None]:
    if not known.size:
        return {}
    band = pooled_spread(known, photographs, scope.bootstrap)
    names = ("spread", "spread_low", "spread_high")
    return {name: finite(float(value[0])) for name, value in zip(names, band, strict=True)}


def _pooled(totals: Floats) -> Floats:
    return np.sqrt(np.maximum(totals[..., 0], 0.0) / totals[..., -1])


def _note(known: Floats, test: FriedmanTest, editor: str, scope: RestorationScope) -> str:
    if not known.size:
        return "no picture has all repeats"
    if (known == known[:, :1]).all():
        why = ", as it says of itself" if editor in scope.deterministic else ""
        return f"all repeats are equal{why}"
    if test.exact:
        return "exact p"
    return f"p is rough with {known.shape[0]} pictures" if known.shape[0] < FEW else ""
