"""The base classes of charts: data with a title, which pages draw by Vega-Lite and prints by matplotlib."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from convergebench.report.charts.plot import Spec
from convergebench.report.charts.twin import static_svg, twins_wanted

WIDE, NARROW = 980, 350
"""Widths of a chart, for a page and for a phone. The style sheet shows one of them, so text keeps its size."""


class Chart:
    """A chart described as data: its values, title and colours. `report.plots` draws it for print."""

    __slots__ = ()


class PageChart(Chart, ABC):
    """A chart that a template renders too: its specification, and a static twin for each of its widths."""

    __slots__ = ()
    linked: ClassVar[bool] = False
    """Whether its marks are links."""

    @property
    def widths(self) -> tuple[int, ...]:
        """The widths that it is drawn at."""
        return WIDE, NARROW

    @abstractmethod
    def spec(self, width: int) -> Spec:
        """The chart at one width."""

    def svg(self, width: int) -> Markup:
        """The static chart at one width."""
        return static_svg(self.spec(width), label=self._label, kind=self._kind(width), linked=self.linked)

    @property
    def _label(self) -> str:
        return str(getattr(self, "label", ""))

    def _kind(self, width: int) -> str:
        return "only" if len(self.widths) == 1 else "narrow" if width <= NARROW else "wide"

    def packed(self) -> dict[str, Any]:
        """What the page's script draws it from: a specification for each width."""
        return self._packed({self._kind(width): self.spec(width) for width in self.widths})

    def _packed(self, specs: dict[str, Spec]) -> dict[str, Any]:
        return {"label": self._label, "linked": self.linked, **_shared_once(specs)}

    def __html__(self) -> str:
        specs = {self._kind(width): self.spec(width) for width in self.widths}
        twins = [
            static_svg(spec, label=self._label, kind=kind, linked=self.linked)
            for kind, spec in specs.items()
            if twins_wanted()
        ]
        data = htmlsafe_json_dumps(self._packed(specs), dumps=_dumps)
        return Markup('<div class="vega">{}<script type="application/json">{}</script></div>').format(
            Markup("").join(twins), data
        )


def _shared_once(specs: dict[str, Spec]) -> dict[str, Any]:
    """The specifications, with data sets that all of them have in common listed once."""
    every = [spec["datasets"] for spec in specs.values()]
    common = {name: rows for name, rows in every[0].items() if all(one.get(name) == rows for one in every)}
    own = {
        kind: {**spec, "datasets": {name: rows for name, rows in spec["datasets"].items() if name not in common}}
        for kind, spec in specs.items()
    }
    return {"datasets": common, **own}


def _dumps(value: Any, **_: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
