"""SVG as text: elements whose attributes and contents are always escaped; and the base class of charts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from markupsafe import Markup, escape

WIDE, NARROW = 980, 350
"""Widths of a chart, for a page and for a phone. The style sheet shows one of them, so text keeps its size."""


def _attribute(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.1f}".removesuffix(".0")
    return str(value)


def element(name: str, *children: object, **attributes: object) -> Markup:
    """`<name …>children</name>`; `_` in attribute names reads as `-`, None leaves the attribute out."""
    parts = [
        f' {key.rstrip("_").replace("_", "-")}="{escape(_attribute(value))}"'
        for key, value in attributes.items()
        if value is not None
    ]
    inside = Markup("").join(escape(child) for child in children if child is not None)
    tag = Markup("<{}{}").format(Markup(name), Markup("".join(parts)))
    return Markup("{}>{}</{}>").format(tag, inside, Markup(name)) if inside else Markup("{}/>").format(tag)


def group(children: Iterable[object], **attributes: object) -> Markup:
    """A `<g>`."""
    return element("g", *children, **attributes)


def text(content: object, x: float, y: float, **attributes: object) -> Markup:
    """Text at a point."""
    return element("text", content, x=x, y=y, **attributes)


def line(x1: float, y1: float, x2: float, y2: float, **attributes: object) -> Markup:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, **attributes)


def path(points: Iterable[tuple[float, float] | None], **attributes: object) -> Markup:
    """A line through points; None makes a gap."""
    steps, down = [], False
    for point in points:
        if point is None:
            down = False
            continue
        steps.append(f"{'L' if down else 'M'}{_attribute(float(point[0]))} {_attribute(float(point[1]))}")
        down = True
    return element("path", d="".join(steps), fill=attributes.pop("fill", "none"), **attributes)


def drawing(children: Iterable[object], *, width: int, height: float, label: str) -> Markup:
    """A whole chart: scales down but not up; `label` is for screen readers."""
    size = "narrow" if width <= NARROW else "wide"
    return element(
        "svg",
        *children,
        class_=f"chart {size}",
        viewBox=f"0 0 {width} {height:.0f}",
        width=width,
        height=f"{height:.0f}",
        role="img",
        aria_label=label,
        xmlns="http://www.w3.org/2000/svg",
    )


class Chart:
    """A chart described as data: its values, title and colours. `report.plots` draws it for print."""

    __slots__ = ()


class PageChart(Chart, ABC):
    """A chart that a template renders too, as SVG for a page and for a phone."""

    __slots__ = ()

    @abstractmethod
    def svg(self, width: int) -> Markup:
        """The chart at one width."""

    def __html__(self) -> str:
        return self.svg(WIDE) + self.svg(NARROW)
