"""`docs/reference/python.md`: the names of `import convergebench`, and of what metrics and suites are written with."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import convergebench
from convergebench.api import comparing
from convergebench.images.frame import Frame
from convergebench.images.suite import Suite
from convergebench.metrics.base import FunctionMetric, Item, MetricFacts, Reading, metric
from docs.pages.markdown import code, first_line, table

HEAD = """# Python names

The functions of the Python API ([how they are used](../python-api.md)), and what editors, metrics, suites and studies
of third parties are written with. Each of these comes in by an entry point of the group `convergebench.editors`,
`.metrics`, `.suites` or `.studies`.
"""
MORE: dict[str, tuple[Any, ...]] = {
    "convergebench.metrics.base": (metric, Item, Reading, MetricFacts, FunctionMetric),
    "convergebench.images.frame": (Frame,),
    "convergebench.images.suite": (Suite,),
}


def page() -> str:
    """Names in order of their module, then the fields of the small frozen classes."""
    public = {name: getattr(convergebench, name) for name in convergebench.__all__}
    rows = [[code(name), _said(value)] for name, value in public.items()]
    parts = [HEAD, "## convergebench\n", table(["name", "what it is"], rows)]
    for module, values in MORE.items():
        parts += [f"## {module}\n", table(["name", "what it is"], ([code(v.__name__), _said(v)] for v in values))]
    parts.append("## Fields\n")
    for value in (*public.values(), *(one for values in MORE.values() for one in values)):
        if dataclasses.is_dataclass(value):
            parts.append(f"### {value.__name__}\n\n{_fields(value)}")  # type: ignore[union-attr]
    return "\n".join(parts)


def _said(value: Any) -> str:
    if inspect.ismodule(value):  # a room that can be called
        value = getattr(comparing, value.__name__.rpartition(".")[2])
    own = inspect.getdoc(value) if inspect.isclass(value) or inspect.isfunction(value) else None
    return first_line(own) or "A generator that yields `Edit`, `Ask` or `Compare` and receives `State` or `Reply`."


def _fields(value: Any) -> str:
    rows = []
    for field in dataclasses.fields(value):
        given = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        default = (
            code(repr(field.default))
            if field.default is not dataclasses.MISSING
            else ("a new one" if given else "required")
        )
        rows.append([code(field.name), code(field.type), default])
    return table(["field", "type", "default"], rows)
