"""Where networks run and in which precision: one choice for the process, made before the first image.

    with place(Place("cuda", "bfloat16")): ...

A metric asks `here()` each time it works, so a test or a worker can move all of them at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, NamedTuple, get_args

from convergebench.errors import Prerequisite, StudyError
from convergebench.registry import suggest

Precision = Literal["float32", "bfloat16"]


class Place(NamedTuple):
    """A torch device and the precision of the features worked out on it."""

    device: str = "cpu"
    precision: Precision = "float32"


PROCESSOR = Place()

_chosen = PROCESSOR


def here() -> Place:
    """The choice in force, in every thread."""
    return _chosen


def move(place: Place) -> None:
    """Make this the choice from now on (in a worker process, say)."""
    global _chosen
    _chosen = place


@contextmanager
def place(chosen: Place) -> Iterator[None]:
    """Make this the choice for a while."""
    before = here()
    move(chosen)
    try:
        yield
    finally:
        move(before)


def choose(device: str = "auto", precision: str = "float32") -> Place:
    """A place from what a person typed; `auto` is a GPU if torch sees one, else the processor."""
    if precision not in get_args(Precision):
        raise StudyError(f"unknown precision '{precision}'{suggest(precision, get_args(Precision))}")
    kind, _, number = device.partition(":")
    if device not in ("auto", "cpu", "cuda") and not (kind == "cuda" and number.isascii() and number.isdecimal()):
        raise StudyError(f"unknown device '{device}'; give auto, cpu, cuda or cuda:1")
    processor = Place("cpu", precision)  # type: ignore[arg-type]
    if kind == "cpu":
        return processor
    try:
        import torch
    except ImportError:
        if kind == "cuda":
            raise Prerequisite('device cuda needs torch: pip install "convergebench[learned]"') from None
        return processor
    if torch.cuda.is_available():
        there = torch.cuda.device_count()
        if number and int(number) >= there:
            raise Prerequisite(f"there is no {device} here; the last of {there} is cuda:{there - 1}")
        return Place("cuda" if kind == "auto" else device, precision)  # type: ignore[arg-type]
    if kind == "cuda":
        raise Prerequisite("torch sees no GPU here; leave --device out, or install a torch build with CUDA")
    return processor
