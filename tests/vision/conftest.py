"""Photographs that scikit-image ships, the weights that must be here, and one thread."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import torch

from convergebench.vision.networks import Picture
from convergebench.weights.catalogue import find_weight
from convergebench.weights.store import search

PHOTOGRAPHS: Any = import_module("skimage.data")


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Several tests run at once."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session", autouse=True)
def fetched() -> None:
    """`make test` fetches them first."""
    absent = [name for name in ("human-models", "isnet", "mi-gan") if search(find_weight(name)) is None]
    if absent:
        pytest.skip(f"the weights are not here; type: cbench weights fetch {' '.join(absent)}")


@pytest.fixture(scope="session")
def astronaut() -> Picture:
    """A person in a space suit, 512 × 512; her face is around (225, 115)."""
    return np.asarray(PHOTOGRAPHS.astronaut())


@pytest.fixture(scope="session")
def coffee() -> Picture:
    """A cup on a saucer, 600 × 400; its middle is around (290, 130)."""
    return np.asarray(PHOTOGRAPHS.coffee())


@pytest.fixture(scope="session")
def cat() -> Picture:
    """A cat that fills the picture, 451 × 300."""
    return np.asarray(PHOTOGRAPHS.chelsea())
