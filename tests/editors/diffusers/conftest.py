"""Tiny checkpoints, saved once for all tests, and editors that load them the way a user's would be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from convergebench.editors.diffusers.editor import DiffusersEditor
from convergebench.editors.diffusers.factories import diffusers
from tests.editors.diffusers import tiny
from tests.editors.diffusers.calls import Make

torch = pytest.importorskip("torch")
pytest.importorskip("diffusers")


@pytest.fixture(autouse=True)
def _small_and_offline(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    undo = tiny.shrink_qwen()
    yield
    undo()
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`checkpoint("flux-2")`: a folder with a tiny model of that family."""
    made: dict[str, Path] = {}

    def folder(family: str) -> Path:
        if family not in made:
            made[family] = tiny.save(family, tmp_path_factory.mktemp("checkpoint") / f"tiny-{family}")
        return made[family]

    return folder


@pytest.fixture(scope="session")
def make(checkpoint: Callable[[str], Path]) -> Make:
    """`make("flux-2", steps=1)`: an editor of that family on the processor."""

    def editor(family: str, **options: Any) -> DiffusersEditor:
        needed = {"path": str(checkpoint(family)), "device": "cpu", "steps": 1, **tiny.OPTIONS[family]}
        return diffusers("tiny", family=family, **(needed | options))

    return editor
