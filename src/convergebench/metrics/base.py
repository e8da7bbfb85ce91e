"""What a metric is: a function with its facts declared beside it.

    @metric("psnr", kind="full-reference", better="higher", range=(0, inf), unit="dB", roles=("return",))
    def psnr(item: Item) -> float: ...

A metric gives one value per image. It never resizes, reduces, clamps or catches; when there is no value it
raises `Unmeasurable(status, why)` and the row holds None with that status.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame
from convergebench.types import CompareRole, Operation

MetricKind = Literal["full-reference", "no-reference", "semantic", "diagnostic", "adherence"]
Better = Literal["higher", "lower", "neither"]
Dimension = Literal["quality", "semantic", "none"]


class Item(NamedTuple):
    """One thing to measure, already aligned. `via` is the image between the two (the forward edit of a round)."""

    subject: Frame
    reference: Frame | None = None
    via: Frame | None = None
    operation: Operation | None = None


class Reading(NamedTuple):
    """A value, or None with the reason in one word."""

    value: float | None
    status: str = "ok"
    detail: str = ""


@dataclass(frozen=True, slots=True)
class MetricFacts:
    """What a table, a chart and a reader need to know about a metric."""

    name: str
    """As typed and as printed."""
    kind: MetricKind
    better: Better
    range: tuple[float, float]
    summary: str
    """One line: what it measures."""
    unit: str = ""
    roles: tuple[CompareRole, ...] = ("return",)
    """Which comparisons it fills in."""
    dimension: Dimension = "none"
    """Which of the two dimensions of the ranking it counts towards, if any."""
    self_value: float | None = None
    """Its value for an image against itself (1 for SSIM, 0 for LPIPS), None if there is no finite one."""
    noticeable: float | None = None
    """Default level at which loss is noticeable."""
    half: float | None = None
    """Default level at which half is lost."""
    aligned: bool = True
    """False if it wants the images as they came (returned size, crop)."""
    paper: str = ""
    licence: str = "Apache-2.0 (own code)"
    version: int = 1
    needs: tuple[str, ...] = ()
    """Extras it needs, e.g. ("learned",)."""


@runtime_checkable
class Metric(Protocol):
    """Anything that measures. Batches come in, one reading per item goes out, in order."""

    facts: MetricFacts

    def measure(self, items: Sequence[Item]) -> list[Reading]:
        """One reading per item."""
        ...


@dataclass(frozen=True, slots=True)
class FunctionMetric:
    """A metric made of one pure function of one item."""

    facts: MetricFacts
    function: Callable[[Item], float] = field(repr=False)

    def __call__(self, item: Item) -> float:
        """The bare function."""
        return self.function(item)

    def measure(self, items: Sequence[Item]) -> list[Reading]:
        """One reading per item; only `Unmeasurable` becomes a missing value."""
        readings = []
        for item in items:
            try:
                readings.append(Reading(float(self.function(item))))
            except Unmeasurable as reason:
                readings.append(Reading(None, reason.status, str(reason)))
        return readings


def metric(name: str, **facts: object) -> Callable[[Callable[[Item], float]], FunctionMetric]:
    """Declare a function of one `Item` as the metric `name`; its docstring's first line is the summary."""

    def declare(function: Callable[[Item], float]) -> FunctionMetric:
        summary = (function.__doc__ or "").strip().splitlines()[0]
        return FunctionMetric(MetricFacts(name=name, summary=summary, **facts), function)  # type: ignore[arg-type]

    return declare
