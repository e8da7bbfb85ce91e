"""What `make test` fetches beforehand is here, so that no test is skipped for want of it without anybody noticing."""

from __future__ import annotations

import os

import pytest

from convergebench.weights.catalogue import catalogue
from convergebench.weights.store import search
from tests.metrics.calibration import IMAGES

PACKAGED = [
    weight
    for weight in catalogue().values()
    if not (weight.noncommercial or weight.on_request)
    and any(source.package or source.npm for source in weight.sources)
]


@pytest.mark.skipif("FETCHED" not in os.environ, reason="not run by make test, which fetches weights first")
@pytest.mark.parametrize("weight", [*PACKAGED, IMAGES], ids=lambda weight: weight.name)
def test_what_make_test_fetched_is_here(weight: object) -> None:
    assert search(weight) is not None  # type: ignore[arg-type]


def test_what_the_tests_rest_on_is_among_it() -> None:
    """Metrics, restorers, and the networks that look into pictures; MAXIM is fetched on request only."""
    names = {weight.name for weight in PACKAGED}
    assert {"lpips-alex", "augnet", "realesrgan-x4", "human-models", "isnet", "mi-gan"} <= names
    assert not [name for name in names if name.startswith("maxim")]
    assert len(names) >= 17
