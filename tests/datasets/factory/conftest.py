"""One factory run for all tests of the room, and its export in every form that takes rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from convergebench.datasets.export import ExportOptions, export
from tests.datasets.factory.made import make


@pytest.fixture(scope="session")
def factory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Read only."""
    return make(tmp_path_factory.mktemp("factory") / "run", pairwise=True)


@pytest.fixture(scope="session")
def factory_sets(factory: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder per form."""
    root = tmp_path_factory.mktemp("factory-sets")
    for form in ("pico", "parquet", "webdataset", "hf"):
        export(factory, root / form, ExportOptions(form))
    return root
