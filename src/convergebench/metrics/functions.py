"""A plain function `f(image) -> float` or `f(image, reference) -> float` as a metric.

What cannot be seen in its code is said in two lines below it: `f.better = "higher"` and `f.range = (0, 1)`.
Functions are named by the user (`--metric file.py:f`) or given in Python; a run never chooses which code is loaded.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isnan
from pathlib import Path
from typing import Annotated, Any, Literal

from PIL import Image
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from convergebench import registry
from convergebench.errors import Prerequisite, StudyError, Unmeasurable
from convergebench.function_identity import function_hash
from convergebench.images.frame import Frame
from convergebench.metrics.base import Item, MetricFacts, Reading

GIVEN = "given:"
"""Begins the name of a function that was given in Python and may be found in no file."""
LARGEST_FILE = 20_000
ASKED = 'add two lines below it: {name}.better = "higher" (or "lower"), {name}.range = (0, 1)'

_given: dict[str, Callable[..., Any]] = {}
_typed: set[str] = set()


@dataclass(frozen=True, slots=True)
class OwnFunctionMetric:
    """A metric made of a function of pictures."""

    facts: MetricFacts
    function: Callable[..., Any] = field(repr=False)
    code: str
    """Hash of the function's code: a changed function is measured again."""
    in_process: bool = False
    """Whether other processes cannot find it."""

    def measure(self, items: Sequence[Item]) -> list[Reading]:
        """One reading per item; only `Unmeasurable` becomes a missing value."""
        return [self._reading(item) for item in items]

    def _reading(self, item: Item) -> Reading:
        pictures = [_picture(item.subject)]
        if self.facts.kind == "full-reference":
            if item.reference is None:
                return Reading(None, "no-reference", "there is no image to compare with")
            pictures.append(_picture(item.reference))
        try:
            value = self.function(*pictures)
        except Unmeasurable as reason:
            return Reading(None, reason.status, str(reason))
        try:
            return Reading(float(value))
        except (TypeError, ValueError) as error:
            raise TypeError(f"it gave {type(value).__name__} where a number is needed") from error


@dataclass(frozen=True, slots=True)
class KeptMetric:
    """What a run knows of a function that measured it: enough for a report, nothing that could be called."""

    facts: MetricFacts

    def measure(self, items: Sequence[Item]) -> list[Reading]:
        """Always `Prerequisite`."""
        raise Prerequisite(f"{self.facts.name} is a user's own function; name it: --metric FILE.py:{self.facts.name}")


def is_function(name: str) -> bool:
    """Whether a metric is named as a function of the user's own."""
    return name.startswith(GIVEN) or registry.is_own_code(name)


def named_by_user(name: str) -> str:
    """The name to load a function by that the user has typed, which from now on may be loaded; checked at once."""
    if not name.startswith(GIVEN):
        metric_from_function(registry.load_from_module("metric", name), name)  # errors have the name as it was typed
        file, _, attribute = name.rpartition(":")
        # an absolute path: values may be added, and the report made, from another folder
        name = f"{Path(file).resolve()}:{attribute}" if registry.is_in_file(name) else name
    _typed.add(name)
    load_function(name)
    return name


def give(function: Callable[..., Any]) -> str:
    """The name under which a function that was given in Python is known in this process."""
    own = _name_of(function)
    _given[f"{GIVEN}{own}"] = function
    return f"{GIVEN}{own}"


def load_function(name: str, *, trusted: bool = False) -> OwnFunctionMetric:
    """The metric of this name, if the user has typed it; `trusted`: a parent process says so."""
    if not trusted and name not in _typed:
        raise StudyError(f"a run does not choose which code is loaded; if '{name}' is yours: --metric {name}")
    if not name.startswith(GIVEN):
        return metric_from_function(registry.load_from_module("metric", name), name)
    if name not in _given:
        own = name.removeprefix(GIVEN)
        raise StudyError(f"{own} is a function that was given in Python; give it again: metrics=[{own}]")
    return metric_from_function(_given[name], name)


def metric_from_function(function: Any, use: str) -> OwnFunctionMetric:
    """The metric that a function is, or one line that says what it lacks."""
    own = _name_of(function)
    if not callable(function) or isinstance(function, type):
        raise StudyError(
            f"metric '{use}' is a {type(function).__name__}; name a function f(image) or f(image, reference)"
        )
    if not own.isidentifier():
        raise StudyError(f"metric '{use}' has no name that tables could show; define it with def NAME(image): …")
    if own in registry.names("metrics"):
        raise StudyError(f"metric '{use}' is called '{own}' like a metric that there is already; rename it")
    compares = _arguments(function, use) == 2
    better, bounds = getattr(function, "better", None), getattr(function, "range", None)
    if better not in ("higher", "lower") or not _is_range(bounds):
        wrong = (
            "does not say which values are better and how far they go"
            if better is None or bounds is None
            else (f"has better = {better!r:.40} and range = {bounds!r:.60}")
        )
        raise StudyError(f"metric '{use}' {wrong}; {ASKED.format(name=own)}")
    facts = MetricFacts(
        name=own,
        kind="full-reference" if compares else "no-reference",
        better=better,
        range=(float(bounds[0]), float(bounds[1])),  # type: ignore[index]
        summary=_summary(function, own),
        roles=("return",) if compares else ("source", "return"),
        aligned=compares,
        licence="the user's own",
    )
    return OwnFunctionMetric(facts, function, function_hash(function), in_process=use.startswith(GIVEN))


def _name_of(function: Any) -> str:
    """Of a function, or of the class of an object that can be called; a partial has none."""
    return "" if isinstance(function, partial) else str(getattr(function, "__name__", type(function).__name__))


def _arguments(function: Callable[..., Any], use: str) -> int:
    """1 or 2: how many pictures it takes."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some functions written in C have none
        return 2
    places = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    needed = [one for one in places if one.default is one.empty]
    others = [one for one in parameters if one.kind is one.KEYWORD_ONLY and one.default is one.empty]
    if len(needed) in (1, 2) and not others:
        return len(needed)
    shown = f"{use.rpartition(':')[2]}{inspect.signature(function)}"
    raise StudyError(f"metric '{use}' is {shown}; it should take (image) or (image, reference)")


def _is_range(bounds: Any) -> bool:
    if not (isinstance(bounds, tuple | list) and len(bounds) == 2):
        return False
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) and not isnan(one) for one in bounds)
    return numbers and bounds[0] < bounds[1]


def _summary(function: Any, own: str) -> str:
    text = str(getattr(function, "__doc__", None) or "").strip().partition("\n")[0]
    return text[:200] or f"the user's own function {own}"


def _picture(frame: Frame) -> Image.Image:
    return Image.fromarray(frame.pixels)


class KeptFacts(BaseModel):
    """The file in which a run keeps what it knows of a function; it may have come from anywhere."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]
    kind: Literal["full-reference", "no-reference"]
    better: Literal["higher", "lower"]
    range: tuple[float, float]
    summary: Annotated[str, Field(max_length=300)]
    code: Annotated[str, Field(max_length=100)]


def facts_file(metric: OwnFunctionMetric) -> bytes:
    """The content of that file."""
    facts = metric.facts
    fields = {name: getattr(facts, name) for name in ("name", "kind", "better", "range", "summary")}
    return json.dumps(KeptFacts(**fields, code=metric.code).model_dump()).encode()


def read_facts(path: Path) -> KeptMetric:
    """What such a file says; `StudyError` if it is damaged."""
    try:
        with path.open("rb") as file:
            kept = KeptFacts.model_validate(json.loads(file.read(LARGEST_FILE)))
        if kept.name in registry.names("metrics") or not _is_range(kept.range):
            raise ValueError("it is another metric")
    except (OSError, ValueError, RecursionError, ValidationError) as error:
        raise StudyError(f"{path} does not say what its metric is; measure it again: --metric FILE.py:NAME") from error
    compares = kept.kind == "full-reference"
    roles = ("return",) if compares else ("source", "return")
    return KeptMetric(
        MetricFacts(
            name=kept.name,
            kind=kept.kind,
            better=kept.better,
            range=kept.range,
            summary=kept.summary,
            roles=roles,
            aligned=compares,
            licence="the user's own",
        )
    )
