"""A study of a third party, installed for the length of a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from convergebench import registry
from convergebench.studies.spec import file_model


@contextmanager
def installed_studies(folder: Path, points: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`points`: lines `name = module:class` of the entry-point group of studies."""
    info = folder / "plugin" / "third_party_studies-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: third-party-studies\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[convergebench.studies]\n{points}")
    monkeypatch.syspath_prepend(str(info.parent))
    registry._plugins.cache_clear()
    yield
    registry._plugins.cache_clear()
    file_model.cache_clear()
