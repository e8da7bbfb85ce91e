"""Find detectors by the name a user types, and check what they return."""

from __future__ import annotations

import math
from collections.abc import Sequence

from convergebench.errors import StudyError
from convergebench.failures import load_detector
from convergebench.failures.base import Box, Detector, Examination, Finding
from convergebench.registry import load_from_module


def find_detector(name: str) -> Detector:
    """A built-in or plug-in detector by name, or `module:name` from the current folder or an installed package."""
    found = load_from_module("detector", name) if ":" in name else load_detector(name)
    if not isinstance(found, Detector):
        raise StudyError(f"detector '{name}' is a {type(found).__name__}; declare it with @detector(…)")
    return found


def find_detectors(names: Sequence[str]) -> dict[str, Detector]:
    """The detector of each name; `StudyError` if two look for the same failure."""
    found: dict[str, Detector] = {}
    modes: dict[str, str] = {}
    for name in names:
        found[name] = find_detector(name)
        other = modes.setdefault(found[name].facts.name, name)
        if other != name:
            raise StudyError(
                f"'{other}' and '{name}' both look for '{found[name].facts.name}'; examine with one of them"
            )
    return found


def checked_examination(answer: object, last: int) -> Examination:
    """The result, if it is valid for a chain that ends at step `last`; `ValueError` otherwise."""
    if not isinstance(answer, Examination):
        raise ValueError(f"answered with a {type(answer).__name__}, not an Examination")
    if sum(map(bool, (answer.findings, answer.cannot_tell, answer.does_not_apply))) > 1:
        raise ValueError("says that it found something and that it could not look")
    findings = tuple(_finding(one, last) for one in answer.findings)
    probes = {
        str(name): {_step_in_range(step, 0, last): float(value) for step, value in values.items()}
        for name, values in answer.probes.items()
    }
    return Examination(findings, probes, str(answer.cannot_tell), str(answer.does_not_apply), bool(answer.retry))


def _finding(found: Finding, last: int) -> Finding:
    step = _step_in_range(found.step, 1, last)
    confidence = float(found.confidence)
    if not 0 <= confidence <= 1:
        raise ValueError(f"confidence {confidence:g} is not between 0 and 1")
    return Finding(
        step,
        confidence,
        str(found.detail),
        None if found.region is None else _clipped(found.region),
        None if found.last is None else _step_in_range(found.last, step, last),
        step if found.shown is None else _step_in_range(found.shown, 0, last),
    )


def _step_in_range(step: int, least: int, most: int) -> int:
    if not least <= int(step) <= most:
        raise ValueError(f"step {step} is not between {least} and {most}")
    return int(step)


def _clipped(region: Box) -> Box:
    """The region clipped to the picture; `ValueError` if it leaves it by more than rounding explains."""
    x, y, width, height = (float(part) for part in region)
    fits = min(x, y) >= -1e-3 and max(x + width, y + height) <= 1 + 1e-3 and min(width, height) > 0
    if not (fits and all(map(math.isfinite, (x, y, width, height)))):
        raise ValueError(f"region {x:g}, {y:g}, {width:g}, {height:g} is not inside the picture (shares from 0 to 1)")
    x, y = max(x, 0.0), max(y, 0.0)
    return Box(x, y, min(width, 1 - x), min(height, 1 - y))
