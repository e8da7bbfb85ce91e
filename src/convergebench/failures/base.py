"""What a failure detector is: a function of one chain with its facts declared beside it.

    @detector("colour-cast", level="image", title="Colour cast", rule="mean a* or b* moves by more than 6 …")
    def colour_cast(chain: ChainView) -> Examination: ...

A detector looks at the pictures of one chain, in order, and says where a failure is first seen, where in the picture,
and how sure it is. It reads no files, asks nobody and guesses nothing: what cannot be told is `cannot_tell(why)`, a
failure that the chain could not show at all (no mirroring was asked for) is `does_not_apply(why)` and leaves no label.
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
"""Part of a thing, a thing, the whole picture, or the noise that lies over all of it."""
LEVELS: tuple[Level, ...] = ("sub-object", "object", "image", "noise")

Compared = Literal["whole", "around", "no"]
"""What of a step's picture may be held against the source: all, what lies around an addition, or nothing."""


class Box(NamedTuple):
    """A rectangle in shares of the picture's width and height, from the upper left corner."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class StepView:
    """One picture of a chain; index 0 is the source, which nobody asked for anything."""

    index: int
    load: Callable[[], Frame] = field(repr=False)
    """Decodes the picture; `ChainView.frame` keeps what it gives."""
    instruction: str = ""
    operation: Operation | None = None
    """What the words of this step asked for."""
    lies: Operation | None = None
    """How the picture should lie beside the source if all went well so far: turned, mirrored, or None for as it was."""
    compared: Compared = "whole"
    reasoning: str | None = None
    parent: int = 0
    """The index of the picture this step started from: the one before, or 0 in independent runs."""


KEPT = 6
"""Decoded pictures a view holds beside the source; a chain of 100 steps at 4K does not fit into memory."""


@dataclass
class ChainView:
    """The pictures of one chain, each decoded when it is asked for."""

    editor: str
    case: str
    source: str
    variant: str
    family: str
    steps: Sequence[StepView]
    """The source first, then every step that gave a picture."""
    _frames: dict[int, Frame] = field(default_factory=dict, repr=False)

    @property
    def last(self) -> int:
        """Index of the last picture."""
        return self.steps[-1].index

    def asks_for(self, *operations: Operation) -> list[StepView]:
        """The steps whose words asked for one of these."""
        return [step for step in self.steps[1:] if step.operation in operations]

    def frame(self, index: int) -> Frame:
        """The picture as it came."""
        if index not in self._frames:
            self._frames[index] = self.steps[index].load()
            for old in [one for one in self._frames if one != 0][:-KEPT]:
                del self._frames[old]
        return self._frames[index]

    def upright(self, index: int) -> Frame:
        """The picture turned and mirrored back to how the source lies, as far as that was asked for."""
        lies = self.steps[index].lies
        frame = self.frame(index)
        if lies is None or lies not in INVERSE:
            return frame
        back = GEOMETRIC[INVERSE[lies]]
        return frame.derived(("upright", lies), lambda one: Frame(np.ascontiguousarray(back(one.pixels)), one.id))


@dataclass(frozen=True, slots=True)
class Finding:
    """One failure, seen from `step` to `last` (None: to the end)."""

    step: int
    confidence: float
    """0 to 1: how far beyond its threshold the rule is, as the detector's file says."""
    detail: str
    """One plain sentence with the numbers."""
    region: Box | None = None
    """Where, in the picture of `shown`; None: all of it."""
    last: int | None = None
    shown: int | None = None
    """The step whose picture shows it best; None: `step`."""


@dataclass(frozen=True, slots=True)
class Examination:
    """What a detector says of a chain."""

    findings: tuple[Finding, ...] = ()
    """Empty: looked for and not seen."""
    probes: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    """The numbers it looked at: name → step → value."""
    cannot_tell: str = ""
    """Why nothing can be said, though the chain was asked for something that could fail so."""
    does_not_apply: str = ""
    """Why this failure cannot happen in this chain."""


def cannot_tell(why: str, probes: Mapping[str, Mapping[int, float]] | None = None) -> Examination:
    """The failure could be there; this chain does not let one see."""
    return Examination(cannot_tell=why, probes=probes or {})


def does_not_apply(why: str) -> Examination:
    """The chain was never asked for what could fail so."""
    return Examination(does_not_apply=why)


@dataclass(frozen=True, slots=True)
class DetectorFacts:
    """What a table and a reader need to know about a detector."""

    name: str
    level: Level
    title: str
    """As a heading: "Colour cast"."""
    rule: str
    """When it speaks, in one sentence with its thresholds."""
    summary: str
    version: int = 1
    paper: str = ""
    """What the literature calls it, where that differs."""

    @property
    def fingerprint(self) -> str:
        """The detector in one word; raise `version` whenever its answers would change."""
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
        summary = (function.__doc__ or "").strip().splitlines()[0]
        return FunctionDetector(DetectorFacts(name, level, title, rule, summary, version, paper), function)

    return declare
