"""An interrupted export of a factory run goes on to the same bytes; a failed one leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from convergebench.datasets.export import ExportOptions, export
from convergebench.datasets.source import RunSource
from convergebench.store.tables import ImageRow
from tests.datasets.test_going_on import Stop, content, until


@pytest.mark.parametrize("form", ["pico", "parquet", "webdataset", "hf"])
def test_the_same_command_finishes_it_with_the_same_bytes(factory: Path, tmp_path: Path, form: str) -> None:
    options = ExportOptions(form, shard_bytes=4_000)
    export(factory, tmp_path / "plain", options)
    for stop in (5, 20):
        with pytest.raises(Stop):
            export(factory, tmp_path / "set", options, until(stop))
        assert not (tmp_path / "set").exists()
    export(factory, tmp_path / "set", options)
    assert content(tmp_path / "set") == content(tmp_path / "plain")
    assert {path.name for path in tmp_path.iterdir()} == {"set", "plain"}


def test_a_picture_that_cannot_be_read_leaves_no_half_set(
    factory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, count = RunSource.read, 0

    def failing(self: RunSource, picture: ImageRow) -> bytes:
        nonlocal count
        count += 1
        if count > 30:
            raise OSError("disk gone")
        return real(self, picture)

    monkeypatch.setattr(RunSource, "read", failing)
    with pytest.raises(OSError, match="disk gone"):
        export(factory, tmp_path / "set", ExportOptions("pico"))
    assert not list(tmp_path.iterdir())
