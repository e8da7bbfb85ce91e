"""Metrics: one file each, found by name.

>>> from convergebench.metrics import expand, load_metric
>>> expand(["classical", "rmse"])
['psnr', 'ssim', 'ms-ssim', 'gmsd', 'delta-e', 'rmse']
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from convergebench import registry
from convergebench.errors import StudyError
from convergebench.listed_room import make_listed
from convergebench.metrics._table import SETS

if TYPE_CHECKING:
    from convergebench.metrics.base import Metric

__all__ = ["SETS", "expand", "load_metric"]


def load_metric(name: str) -> Metric:
    """The metric of that name, built-in or plug-in; `StudyError` with the nearest name if there is none.

    A path that ends in `.toml` is a user's rubric with a `[metric]` table.
    """
    if name.endswith(".toml"):
        from convergebench.metrics.judged.from_rubric import metric_from_rubric
        from convergebench.rubrics.rubric import load_rubric

        return metric_from_rubric(load_rubric(name), name)
    found: Metric = registry.load("metrics", name)
    return found


def expand(names: Iterable[str]) -> list[str]:
    """Names with sets (`classical`, `diagnostics`, `adherence`, `default`) spelt out, each once, in order."""
    known = registry.names("metrics")
    expanded: dict[str, None] = {}
    for name in names:
        if name not in SETS and name not in known and not name.endswith(".toml"):
            raise StudyError(f"unknown metric '{name}'{registry.suggest(name, [*known, *SETS])} (cbench list metrics)")
        # an absolute path: the report may be made from another folder
        entry = str(Path(name).resolve()) if name.endswith(".toml") else name
        expanded.update(dict.fromkeys(SETS.get(name, (entry,))))
    return list(expanded)


make_listed(__name__)
