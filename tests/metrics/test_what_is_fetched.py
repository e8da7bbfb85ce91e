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
    if not weight.noncommercial and any(source.package for source in weight.sources)
]


@pytest.mark.skipif("FETCHED" not in os.environ, reason="not run by make test, which fetches weights first")
@pytest.mark.parametrize("weight", [*PACKAGED, IMAGES], ids=lambda weight: weight.name)
def test_what_make_test_fetched_is_here(weight: object) -> None:
    assert search(weight) is not None  # type: ignore[arg-type]


def test_the_tests_rest_on_fourteen_weights_out_of_packages() -> None:
    assert len(PACKAGED) == 14
