"""What the page on degraded pictures tells to type works, and the ranges that it gives are those of the code."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator

import pytest

from convergebench.degradations._table import TABLE
from tests.docs.blocks import ROOT
from tests.docs.shell import Reader

PAGE = ROOT / "docs" / "degradations.md"


def test_what_the_page_tells_to_type_works(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(reader.root / "cache"))
    assert reader.page("docs/degradations.md") == 5
    assert (reader.root / "sets" / "degraded" / "images" / "anna.motion-blur.png").is_file()


@pytest.mark.parametrize("name", TABLE)
def test_the_ranges_on_the_page_are_those_of_the_code(name: str) -> None:
    section = PAGE.read_text(encoding="utf-8").split(f"### {name}\n", 1)[1].split("\n#", 1)[0]
    told = re.findall(r"(?<![\d.−])([\d.]+) … ([\d.]+?)(?=[^\d.]|\.\s|\.?$)", " ".join(section.split()))
    ranges = {(float(low), float(high)) for low, high in told}
    module = importlib.import_module(TABLE[name].partition(":")[0])
    missing = {
        constant: limits
        for constant, value in vars(module).items()
        if constant.isupper() and not constant.startswith("_") and constant not in LEFT_OUT
        for limits in pairs_of(value)
        if limits not in ranges
    }
    assert not missing
    assert ranges


LEFT_OUT = {"FLICKER", "YELLOWED", "SHOT", "READ"}
"""Told in other words."""


def pairs_of(value: object) -> Iterator[tuple[float, float]]:
    """Ranges in a constant: one, or several in a tuple."""
    if isinstance(value, tuple) and all(isinstance(one, float) for one in value) and len(value) == 2:
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from pairs_of(one)
