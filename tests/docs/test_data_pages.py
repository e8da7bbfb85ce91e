"""Copies, data sets and weights: what their pages tell to type works."""

from __future__ import annotations

import pytest

from tests.docs.shell import Reader


def test_from_copies_to_a_data_set(reader: Reader) -> None:
    pytest.importorskip("pyarrow")
    assert reader.page("docs/replicate.md") == 3
    (reader.root / "runs" / "replicate-quick").rename(reader.root / "runs" / "replicate")
    assert reader.page("docs/datasets.md") == 1
    assert (reader.root / "sets" / "decay" / "README.md").is_file()


def test_weights_are_listed_and_verified(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(reader.root / "cache"))
    assert reader.page("docs/weights.md") == 2
