"""What a failure detector is: a function of one chain with its facts declared beside it.

    @detector("colour-cast", level="image", title="Colour cast", rule="mean a* or b* moves by more than 6 …")
    def colour_cast(chain: ChainView) -> Examination: ...

A detector looks at the pictures of one chain, in order, and says where a failure is first seen, where in the picture,
and how sure it is. It reads no files and asks no model. If the pictures do not decide, it returns `cannot_tell(why)`;
if the failure cannot occur in the chain (no mirroring was requested), `does_not_apply(why)`, which leaves no label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np

from convergebench.ids import fingerprint
from convergebench.images.frame import Frame
from convergebench.metrics.operations import GEOMETRIC, INVERSE
from convergebench.types import Operation

Level = Literal["sub-object", "object", "image", "noise"]
"""What fails: part of an object, an object, the whole picture, or noise over all of it."""
LEVELS: tuple[Level, ...] = ("sub-object", "object", "image", "noise")

Compared = Literal["whole", "around", "no"]
"""What of a step's picture is compared with the source: all of it, all but the additions, or nothing."""


class Box(NamedTuple):
    """A rectangle in shares of the picture's width and height, from the upper left corner."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class StepView:
    """One picture of a chain; index 0 is the source, which has no instruction."""

    index: int
    load: Callable[[], Frame] = field(repr=False)
    """Decodes the picture; `ChainView.frame` caches the result."""
    instruction: str = ""
    operation: Operation | None = None
    """What this step's instruction requests."""
    orientation: Operation | None = None
    """The expected orientation against the source after all steps so far; None: that of the source."""
    compared: Compared = "whole"
    reasoning: str | None = None
    parent: int = 0
    """The index of the picture this step started from: the one before, or 0 in independent runs."""


KEPT = 6
"""Decoded pictures a view caches besides the source; a chain of 100 steps at 4K does not fit into memory."""
CLEAN = -1
"""Where a view caches the clean picture."""


@dataclass
class ChainView:
    """The pictures of one chain, each decoded on first access."""

    editor: str
    case: str
    source: str
    variant: str
    family: str
    steps: Sequence[StepView]
    """The source first, then every step that returned a picture."""
    restores: bool = False
    """Whether the source is a degraded picture and every step a restoration of it."""
    load_clean: Callable[[], Frame] | None = field(default=None, repr=False)
    """Decodes the clean picture that the source is a degraded copy of; None if there is none."""
    _frames: dict[int, Frame] = field(default_factory=dict, repr=False)

    @property
    def last(self) -> int:
        """Index of the last picture."""
        return self.steps[-1].index

    def asks_for(self, *operations: Operation) -> list[StepView]:
        """The steps whose instruction requests one of these operations."""
        return [step for step in self.steps[1:] if step.operation in operations]

    def frame(self, index: int) -> Frame:
        """The picture as returned."""
        if index not in self._frames:
            self._frames[index] = self.steps[index].load()
            for old in [one for one in self._frames if one > 0][:-KEPT]:
                del self._frames[old]
        return self._frames[index]

    def clean(self) -> Frame | None:
        """The clean picture, if there is one."""
        if self.load_clean is not None and CLEAN not in self._frames:
            self._frames[CLEAN] = self.load_clean()
        return self._frames.get(CLEAN)

    def upright(self, index: int) -> Frame:
        """The picture with every requested mirroring and rotation undone, so that it has the source's orientation."""
        turned = self.steps[index].orientation
        frame = self.frame(index)
        if turned is None or turned not in INVERSE:
            return frame
        back = GEOMETRIC[INVERSE[turned]]
        return frame.derived(("upright", turned), lambda one: Frame(np.ascontiguousarray(back(one.pixels)), one.id))


@dataclass(frozen=True, slots=True)
class Finding:
    """One failure, seen from `step` to `last` (None: to the end)."""

    step: int
    confidence: float
    """0 to 1, from how far the rule's threshold is exceeded; each detector's module says how."""
    detail: str
    """One sentence with the numbers."""
    region: Box | None = None
    """Where, in the picture of `shown`; None: all of it."""
    last: int | None = None
    shown: int | None = None
    """The step whose picture shows it best; None: `step`."""


@dataclass(frozen=True, slots=True)
class Examination:
    """A detector's result for one chain."""

    findings: tuple[Finding, ...] = ()
    """Empty: the failure was looked for and not found."""
    probes: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    """The values it measured: name → step → value."""
    cannot_tell: str = ""
    """Why the result is open, although the failure could occur in this chain."""
    does_not_apply: str = ""
    """Why this failure cannot occur in this chain."""
    retry: bool = False
    """Whether the result is open only because something is missing on this machine; the chain is examined again."""


def cannot_tell(
    why: str, probes: Mapping[str, Mapping[int, float]] | None = None, *, retry: bool = False
) -> Examination:
    """The result of a chain whose pictures do not decide whether the failure is there."""
    return Examination(cannot_tell=why, probes=probes or {}, retry=retry)


def does_not_apply(why: str) -> Examination:
    """The result of a chain in which the failure cannot occur."""
    return Examination(does_not_apply=why)


@dataclass(frozen=True, slots=True)
class DetectorFacts:
    """What a table and a reader need to know about a detector."""

    name: str
    level: Level
    title: str
    """As a heading: "Colour cast"."""
    rule: str
    """The condition of a finding, in one sentence with its thresholds."""
    summary: str
    version: int = 1
    paper: str = ""
    """Its name in the literature, where that differs."""

    @property
    def fingerprint(self) -> str:
        """Identifies the detector and its rule; raise `version` whenever its results would change."""
        return fingerprint(self.name, self.version, {"rule": self.rule})


@runtime_checkable
class Detector(Protocol):
    """Anything that finds a failure in a chain."""

    @property
    def facts(self) -> DetectorFacts:
        """Name, level, rule."""
        ...

    def __call__(self, chain: ChainView) -> Examination:
        """Look at one chain."""
        ...


@dataclass(frozen=True, slots=True)
class FunctionDetector:
    """A detector made of one function."""

    facts: DetectorFacts
    function: Callable[[ChainView], Examination] = field(repr=False)

    def __call__(self, chain: ChainView) -> Examination:
        """Look at one chain."""
        return self.function(chain)


def detector(
    name: str, *, level: Level, title: str, rule: str, version: int = 1, paper: str = ""
) -> Callable[[Callable[[ChainView], Examination]], FunctionDetector]:
    """Declare a function of one chain as the detector `name`; its docstring's first line is the summary."""

    def declare(function: Callable[[ChainView], Examination]) -> FunctionDetector:
        summary = (function.__doc__ or "").strip().partition("\n")[0]
        return FunctionDetector(DetectorFacts(name, level, title, rule, summary, version, paper), function)

    return declare
