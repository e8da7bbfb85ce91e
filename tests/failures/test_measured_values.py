"""What every detector measures on chains that never change.

Labels of finished runs are kept as long as a detector's version stands: if its measurements change, its version must
be raised with them. `python -m tests.failures.test_measured_values` records them anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from benchmarks.planted._inventions import grain_texture, letters, painted_colours
from convergebench.failures import _objects, expand_detectors, load_detector
from convergebench.failures.base import ChainView
from tests.failures.chains import APPLE, GREY, NOISE, TURN, asked, simulated
from tests.failures.conftest import not_fetched
from tests.failures.planted import FAILURES, planted, ripples, static
from tests.failures.restored import astronaut, cup, grey, put, restoration

BY_NETWORK = ("lost-object", "new-object")
"""Detectors that measure what a network sees; they have tests of their own."""
GOLDEN = Path(__file__).parents[1] / "golden" / "failures.json"


def _restored(*, known: bool) -> ChainView:
    """A blurred and noisy picture: restored perfectly, and with letters, texture and everything upside down."""
    given = static(np.asarray(cv2.GaussianBlur(cup(), (0, 0), 1.5), np.uint8), 1)
    results = (cup(), put(letters, cup()).pixels, put(grain_texture, cup()).pixels, cup()[::-1, ::-1])
    return restoration(given, *results, clean=cup() if known else None)


CHAINS: dict[str, Callable[[], ChainView]] = {
    **{name: partial(planted, change) for name, change in FAILURES.items()},
    "ripples": lambda: planted(ripples),
    "apples": lambda: simulated([asked(APPLE, "add", wear=NOISE) for _ in range(4)]),
    "turns": lambda: simulated([asked(TURN, "rotate-90", unturned=index % 2) for index in range(3)]),
    "grey": lambda: simulated([asked(GREY, "monochrome") for _ in range(2)]),
    "restored": lambda: _restored(known=False),
    "restored, clean picture known": lambda: _restored(known=True),
    "coloured": lambda: restoration(grey(astronaut()), put(painted_colours, grey(astronaut())).pixels),
}


def measured(name: str) -> dict[str, Any]:
    """By detector: its version, what it found where and how surely, and the values that it measured."""
    chain = CHAINS[name]()
    found = {}
    fitting = expand_detectors(["restorations" if chain.restores else "edits"])
    for detector in map(load_detector, [one for one in fitting if one not in BY_NETWORK]):
        result = detector(chain)
        found[detector.facts.name] = {
            "version": detector.facts.version,
            "findings": [[one.step, one.last, one.shown, one.confidence, one.region] for one in result.findings],
            "probes": {probe: list(map(list, values.items())) for probe, values in result.probes.items()},
            "open": bool(result.cannot_tell),
        }
    return found


@pytest.mark.parametrize("name", CHAINS)
def test_a_detector_measures_what_it_measured_or_has_another_version(name: str) -> None:
    recorded = json.loads(GOLDEN.read_text(encoding="utf-8"))[name]
    now = json.loads(json.dumps(measured(name)))
    assert now.keys() == recorded.keys()
    for detector in recorded:
        assert _shape(now[detector]) == _shape(recorded[detector]), detector
        values, before = (_numbers(_without_places(one[detector])) for one in (now, recorded))
        assert values == pytest.approx(before, rel=2e-3, abs=1e-4), detector


def _without_places(value: dict[str, Any]) -> dict[str, Any]:
    """Without the regions of findings: of several places that are equally bad, the processor's rounding picks one."""
    return {**value, "findings": [finding[:-1] for finding in value["findings"]]}


def _numbers(value: Any) -> list[float]:
    if isinstance(value, dict | list):
        return [number for part in (value.values() if isinstance(value, dict) else value) for number in _numbers(part)]
    return [float(value)] if isinstance(value, int | float) else []


def _shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _shape(part) for name, part in value.items()}
    return [_shape(part) for part in value] if isinstance(value, list) else isinstance(value, int | float)


if __name__ == "__main__":
    setattr(_objects, "_detect", not_fetched)  # noqa: B010 - as in the tests
    GOLDEN.write_text(json.dumps({name: measured(name) for name in CHAINS}, indent=None), encoding="utf-8")
