"""One factory run for all tests of the room, and its export in every form that takes rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


@pytest.fixture(scope="session")
def hugging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Hugging Face `datasets`, cut off from the world, with a cache of its own."""
    home = tmp_path_factory.mktemp("hugging")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HF_DATASETS_OFFLINE", "HF_HUB_OFFLINE", "HF_DATASETS_DISABLE_PROGRESS_BARS"):
            patch.setenv(name, "1")
        patch.setenv("HF_HOME", str(home))
        datasets = pytest.importorskip("datasets")
        datasets.disable_progress_bars()

        def load(*words: str, **options: Any) -> Any:
            return datasets.load_dataset(*words, cache_dir=str(home / "cache"), **options)

        yield load
