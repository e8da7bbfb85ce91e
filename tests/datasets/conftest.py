"""One small run for all tests of the room; making it costs a second."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.datasets.small_run import make_run


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Read only: whoever wants to change it copies it."""
    return make_run(tmp_path_factory.mktemp("run"))
