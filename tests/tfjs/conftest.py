"""One thread, a picture of small numbers, and an empty model."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from tests.tfjs.tiny import Array, TinyModel


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Several tests run at once."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def picture() -> Array:
    """Of 7 × 6 pixels with four channels: sides that no stride divides."""
    return np.random.default_rng(1).normal(size=(1, 7, 6, 4)).astype(np.float32)


@pytest.fixture
def model() -> TinyModel:
    """With nothing but its input."""
    return TinyModel()
