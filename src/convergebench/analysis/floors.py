"""What a model loses beyond the floor: its loss minus that of a codec-only, resize-only or autoencoder-only editor.

Excess = floor's AUC − editor's AUC, on the cases for which both have one, paired by case; positive means that the model
loses more than storing and scaling its output would. Both areas of a case cover the rounds that both chains have: a
chain that broke after two rounds is not compared with ten rounds of the floor.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from convergebench.analysis.area import area_until, last_value
from convergebench.analysis.bootstrap import Bootstrap, by_source
from convergebench.analysis.retention import retained
from convergebench.analysis.schemas import table
from convergebench.analysis.trajectories import Floats, Ints, Trajectories


def floor_table(
    data: Trajectories, metrics: tuple[str, ...], floors: tuple[str, ...], bootstrap: Bootstrap
) -> pl.DataFrame:
    """The frame `floors`: every editor against every floor editor that was run, for metrics that have an area."""
    return table("floors", list(_rows(data, metrics, floors, bootstrap)))


def _rows(
    data: Trajectories, metrics: tuple[str, ...], floors: tuple[str, ...], bootstrap: Bootstrap
) -> Iterator[dict[str, object]]:
    place = {name: number for number, name in enumerate(zip(data.column("editor"), data.column("case"), strict=True))}
    for editor in data.editors:
        for floor in floors:
            if floor not in data.editors or editor in floors:
                continue
            mine = np.flatnonzero(data.of(editor))
            cases = data.chains["case"].gather(mine).to_list()
            paired = [
                (row, place[floor, case]) for row, case in zip(mine, cases, strict=True) if (floor, case) in place
            ]
            for metric in metrics if paired else ():
                rows, others = np.array(paired).T
                kept = retained(data, metric)
                yield {
                    **{"editor": editor, "floor": floor, "metric": metric},
                    **_excess(*_areas(kept[rows], kept[others]), data.source[rows], bootstrap),
                }


def _areas(own: Floats, floor: Floats) -> tuple[Floats, Floats]:
    """Both areas, case by case, up to the last round that both have."""
    end = np.minimum(last_value(own), last_value(floor))
    return area_until(own, end), area_until(floor, end)


def _excess(own: Floats, floor: Floats, sources: Ints, bootstrap: Bootstrap) -> dict[str, object]:
    both = ~np.isnan(own) & ~np.isnan(floor)
    columns = np.column_stack([own, floor, floor - own])
    columns[~both] = np.nan
    sums, counts = by_source(columns, sources)
    band = bootstrap.ratio(sums, counts)
    auc, floor_auc, excess = band.estimate
    return {
        **{"auc": auc, "floor_auc": floor_auc, "excess": excess, "low": band.low[2], "high": band.high[2]},
        **{"n_cases": int(both.sum()), "n_sources": int((counts[:, 2] > 0).sum()), "n_missing": int((~both).sum())},
    }
