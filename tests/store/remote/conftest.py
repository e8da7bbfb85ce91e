"""Stores for tests: in memory, in a folder, and at a server that speaks S3; nothing of the user's own is touched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from tests.store.remote.servers import S3Server, s3_server


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path / "user-cache"))
    monkeypatch.delenv("CONVERGEBENCH_STORES", raising=False)
    MemoryFileSystem.store.clear()
    MemoryFileSystem.pseudo_dirs[:] = [""]
    yield
    MemoryFileSystem.store.clear()


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    with s3_server(monkeypatch) as server:
        yield server


@pytest.fixture(params=["memory", "file", "s3"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An unused URL of each kind."""
    if request.param == "s3":
        request.getfixturevalue("s3")
        return "s3://bucket/some/prefix"
    return "memory://stores/one" if request.param == "memory" else f"file://{tmp_path}/stores/one"
