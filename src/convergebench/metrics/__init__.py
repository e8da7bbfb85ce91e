"""Metrics: one file each, found by name.

>>> from convergebench.metrics import expand, load_metric
>>> expand(["classical", "rmse"])
['psnr', 'ssim', 'ms-ssim', 'gmsd', 'delta-e', 'rmse']
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convergebench import registry
from convergebench.errors import Prerequisite, StudyError
from convergebench.listed_room import make_listed
from convergebench.metrics._table import SETS

if TYPE_CHECKING:
    from convergebench.metrics.base import Metric

__all__ = ["SETS", "expand", "is_own", "load_for_parent", "load_metric"]


def load_metric(name: str, *, trusted: bool = False) -> Metric:
    """The metric of that name, built-in or plug-in; `StudyError` with the nearest name if there is none.

    A path that ends in `.toml` is a user's rubric with a `[metric]` table. `file.py:name` and `module:name` are
    functions of the user's own, loaded if the user typed them (`expand`) or if a parent process says so (`trusted`).
    """
    if is_own(name):
        from convergebench.metrics.functions import load_function, read_facts

        return read_facts(Path(name)) if name.endswith(".json") else load_function(name, trusted=trusted)
    if name.endswith(".toml"):
        from convergebench.metrics.judged.from_rubric import metric_from_rubric
        from convergebench.rubrics.rubric import load_rubric

        return metric_from_rubric(load_rubric(name), name)
    return _checked(registry.load("metrics", name), name)


def load_for_parent(name: str) -> Metric:
    """The same in a process that works for another one, which has checked the names."""
    return load_metric(name, trusted=True)


def is_own(name: str) -> bool:
    """Whether this names a function of the user's own, or the file in which a run keeps what it knows of one."""
    return name.endswith(".json") or name.startswith("given:") or registry.is_own_code(name)


def _checked(found: Any, name: str) -> Metric:
    """A plug-in may be anything; it is used only if it is a metric."""
    from convergebench.metrics._table import TABLE
    from convergebench.metrics.base import Metric, MetricFacts

    with registry.third_party(f"metric '{name}'", built_in=name in TABLE):
        # facts first: `isinstance` of a protocol looks at the attributes in an order that differs between processes,
        # and a plug-in whose facts raise must always give that reason
        fits = name in TABLE or (isinstance(getattr(found, "facts", None), MetricFacts) and isinstance(found, Metric))
    if not fits:
        raise Prerequisite(
            f"metric '{name}' cannot be used: it is a {type(found).__name__}; declare it with @metric(…) or @batched(…)"
        )
    metric: Metric = found
    return metric


def expand(names: Iterable[str]) -> list[str]:
    """Names with sets (`classical`, `diagnostics`, `adherence`, `default`) spelt out, each once, in order."""
    known = registry.names("metrics")
    expanded: dict[str, None] = {}
    functions: dict[str, str] = {}
    for name in names:
        if is_own(name) and not name.endswith(".json"):
            from convergebench.metrics.functions import named_by_user

            entry = named_by_user(name)
            other = functions.setdefault(load_metric(entry).facts.name, entry)
            if other != entry:
                raise StudyError(
                    f"'{other}' and '{entry}' have one name, which tables could not tell apart; rename one"
                )
            expanded[entry] = None
            continue
        if name not in SETS and name not in known and not name.endswith(".toml"):
            raise StudyError(
                f"unknown metric '{name}'{registry.suggest(name, [*known, *SETS])} (cbench list metrics; your own "
                "function: FILE.py:NAME)"
            )
        # an absolute path: the report may be made from another folder
        entry = str(Path(name).resolve()) if name.endswith(".toml") else name
        expanded.update(dict.fromkeys(SETS.get(name, (entry,))))
    return list(expanded)


make_listed(__name__)
