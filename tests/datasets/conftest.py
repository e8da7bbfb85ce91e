"""One small run for all tests of the room; making it costs a second."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.datasets.small_run import make_run


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Read only: whoever wants to change it copies it."""
    return make_run(tmp_path_factory.mktemp("run"))


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
