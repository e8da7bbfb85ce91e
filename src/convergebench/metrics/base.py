"""What a metric is: a function with its facts declared beside it.

    @metric("psnr", kind="full-reference", better="higher", range=(0, inf), unit="dB", roles=("return",))
    def psnr(item: Item) -> float: ...

    @batched("lpips", kind="full-reference", better="lower", range=(0, inf), network=True, weights=("lpips-alex",))
    def lpips(items: Sequence[Item]) -> list[float | Unmeasurable]: ...

A metric gives one value per image. It never resizes, reduces, clamps or catches; when there is no value it
raises (in a batch: returns) `Unmeasurable(status, why)` and the row holds None with that status. Facts are declared
at import; torch, weights and other heavy dependencies are loaded only when the metric runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from convergebench.errors import Unmeasurable
from convergebench.images.frame import Frame
from convergebench.metrics._torch import compiled_here
from convergebench.metrics.place import Place, here
from convergebench.types import Better, CompareRole, Operation

MetricKind = Literal["full-reference", "no-reference", "semantic", "diagnostic", "adherence"]
Dimension = Literal["quality", "semantic", "none"]

Values = list[float | Unmeasurable]
"""One per item, in order."""
OnGpu = Callable[[Sequence["Item"]], Values | None]
"""Values of a batch on the GPU that `place.here` names; None where the processor must do it."""

BY_ITSELF: tuple[CompareRole, ...] = ("around", "alone")
"""Roles that a no-reference metric of returned pictures measures in addition to those it names."""

GPU_BATCH = 32
"""Images per call on a GPU."""

LOST = frozenset(
    {"all-edited", "face-lost", "featureless", "size", "too-slender", "too-small", "unaligned", "unreadable"}
)
"""Statuses of a missing value that the editor caused."""
SOURCE_UNFIT = "source-unfit"
"""The status instead of those where the source itself has no value either, so that the editor is not at fault."""


class Item(NamedTuple):
    """One measurement's input, already aligned. `via` is the image between the two (the forward edit of a round).

    `instruction` is the text the subject was made with; `before` and `after` describe the picture as it should have
    been before and after them. They are empty where unknown.
    """

    subject: Frame
    reference: Frame | None = None
    via: Frame | None = None
    operation: Operation | None = None
    instruction: str = ""
    before: str = ""
    after: str = ""


class Reading(NamedTuple):
    """A value, or None with the reason in one word."""

    value: float | None
    status: str = "ok"
    detail: str = ""


@dataclass(frozen=True, slots=True)
class MetricFacts:
    """What a table, a chart and a reader need to know about a metric."""

    name: str
    """As users type it and tables print it."""
    kind: MetricKind
    better: Better
    range: tuple[float, float]
    """Bounds of the value; infinite where there is none."""
    summary: str
    """One line: what it measures."""
    unit: str = ""
    roles: tuple[CompareRole, ...] = ("return",)
    """Which kinds of comparison it measures."""
    dimension: Dimension = "none"
    """Which of the two dimensions of the ranking it counts towards, if any."""
    self_value: float | None = None
    """Its value for an image against itself (1 for SSIM, 0 for LPIPS), None if there is no finite one."""
    noticeable: float | None = None
    """Default level at which loss is noticeable."""
    half: float | None = None
    """Default level at which half is lost."""
    aligned: bool = True
    """False if it needs the images as returned (size, crop)."""
    paper: str = ""
    licence: str = "Apache-2.0 (own code)"
    version: int = 1
    typical: tuple[float, float] | None = None
    """The range its authors give for everyday images. Real scores leave it; nothing is ever clipped to it."""
    needs: tuple[str, ...] = ()
    """Extras it needs, e.g. ("learned",)."""
    weights: tuple[str, ...] = ()
    """Weight files it needs, by their names in `cbench weights list`."""
    noncommercial: bool = False
    """Whether its code or its weights may not be used commercially."""
    network: bool = False
    """Whether it runs on a device of the user's choice, in a precision of the user's choice."""
    batch: int = 1
    """Preferred number of items per call."""
    learned_from: tuple[str, ...] = ()
    """Editors whose pictures it was trained on, so that their scores are no test."""
    asks: str = ""
    """The role that answers its question (`judge`, `rater`), if a model measures it rather than code."""


@runtime_checkable
class Metric(Protocol):
    """Anything that measures. Batches come in, one reading per item goes out, in order."""

    @property
    def facts(self) -> MetricFacts:
        """What a table, a chart and a reader need to know."""
        ...

    def measure(self, items: Sequence[Item]) -> list[Reading]:
        """One reading per item."""
        ...


@dataclass(frozen=True, slots=True)
class FunctionMetric:
    """A metric made of one pure function of one item."""

    facts: MetricFacts
    function: Callable[[Item], float] = field(repr=False)
    on_gpu: OnGpu | None = field(repr=False, default=None)
    """The same values from a GPU, a batch at a time."""

    def __call__(self, item: Item) -> float:
        """The bare function."""
        return self.function(item)

    def measure(self, items: Sequence[Item]) -> list[Reading]:
        """One reading per item; only `Unmeasurable` becomes a missing value."""
        there = self._from_gpu(items)
        if there is not None:
            return there
        readings = []
        for item in items:
            try:
                readings.append(Reading(float(self.function(item))))
            except Unmeasurable as reason:
                readings.append(Reading(None, reason.status, str(reason)))
        return readings

    def _from_gpu(self, items: Sequence[Item]) -> list[Reading] | None:
        if self.on_gpu is None or not compiled_here(here().device):
            return None
        values = self.on_gpu(items)
        return None if values is None else _readings(values)


@dataclass(frozen=True, slots=True)
class BatchMetric:
    """A metric made of one pure function of several items, such as a network."""

    facts: MetricFacts
    function: Callable[[Sequence[Item]], Sequence[float | Unmeasurable]] = field(repr=False)

    def __call__(self, item: Item) -> float:
        """The value of one item."""
        value = self.function([item])[0]
        if isinstance(value, Unmeasurable):
            raise value
        return value

    def measure(self, items: Sequence[Item]) -> list[Reading]:
        """One reading per item; the whole batch is one call."""
        values = self.function(items)
        if len(values) != len(items):
            raise ValueError(f"{self.facts.name} gave {len(values)} values for {len(items)} images")
        return _readings(values)


def _readings(values: Sequence[float | Unmeasurable]) -> list[Reading]:
    return [
        Reading(None, value.status, str(value)) if isinstance(value, Unmeasurable) else Reading(float(value))
        for value in values
    ]


def runs_on_gpu(metric: Metric) -> bool:
    """Whether a GPU can measure it: a network, or pixels by a kernel."""
    return metric.facts.network or getattr(metric, "on_gpu", None) is not None


def batch_size(metric: Metric, place: Place) -> int:
    """Items per call: what the metric prefers, and on a GPU enough to keep it busy."""
    return max(metric.facts.batch, GPU_BATCH) if place.device != "cpu" and runs_on_gpu(metric) else metric.facts.batch


def metric(
    name: str, *, on_gpu: OnGpu | None = None, **facts: object
) -> Callable[[Callable[[Item], float]], FunctionMetric]:
    """Declare a function of one `Item` as the metric `name`; its docstring's first line is the summary."""

    def declare(function: Callable[[Item], float]) -> FunctionMetric:
        return FunctionMetric(_facts(name, function, facts), function, on_gpu)

    return declare


def batched(
    name: str, **facts: object
) -> Callable[[Callable[[Sequence[Item]], Sequence[float | Unmeasurable]]], BatchMetric]:
    """Declare a function of several items, which gives one value or one `Unmeasurable` for each, as a metric."""

    def declare(function: Callable[[Sequence[Item]], Sequence[float | Unmeasurable]]) -> BatchMetric:
        return BatchMetric(_facts(name, function, facts), function)

    return declare


def _facts(name: str, function: Callable[..., object], facts: Mapping[str, Any]) -> MetricFacts:
    summary = (function.__doc__ or "").strip().partition("\n")[0]
    return MetricFacts(name=name, summary=summary, **facts)
