"""Without the object detector: rules that may consult it are tested the same whether its weights are fetched or not."""

from __future__ import annotations

import numpy as np
import pytest

from convergebench.errors import Prerequisite
from convergebench.failures import _objects
from convergebench.images.frame import Frame
from tests.failures.told_network import ToldNetwork

_real_detector = _objects._detect


def not_fetched(frame: Frame) -> tuple[_objects.SeenObject, ...]:
    """What the detector does on a machine that has not fetched it."""
    raise Prerequisite("the object detector is not fetched")


@pytest.fixture(autouse=True)
def no_object_detector(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules that may ask the object detector find none."""
    monkeypatch.setattr(_objects, "_detect", not_fetched)


@pytest.fixture
def network(no_object_detector: None, monkeypatch: pytest.MonkeyPatch) -> ToldNetwork:
    """A detector that sees what the test says."""
    made = ToldNetwork()
    monkeypatch.setattr(_objects, "_detect", made)
    return made


@pytest.fixture
def real_network(no_object_detector: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The object detector itself; `make test` fetches it first."""
    try:
        _real_detector(Frame(np.zeros((64, 64, 3), np.uint8)))
    except Prerequisite as missing:
        pytest.skip(str(missing))
    monkeypatch.setattr(_objects, "_detect", _real_detector)
