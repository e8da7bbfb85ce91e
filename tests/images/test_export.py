"""A suite written out is the same suite when it is read back."""

from __future__ import annotations

from pathlib import Path

import pytest

from convergebench.errors import StudyError
from convergebench.images.export import export_suite
from convergebench.images.suite import load_suite


def test_an_exported_suite_reads_back_the_same(tmp_path: Path) -> None:
    suite = load_suite("quick")
    again = load_suite(str(export_suite(suite, tmp_path / "out")))
    assert again.sha256 == suite.sha256
    assert again.title == suite.title
    facts = ("id", "kind", "licence", "source", "title", "holds", "credit", "focus", "sha256")
    for one, other in zip(again.images, suite.images, strict=True):
        assert [getattr(one, name) for name in facts] == [getattr(other, name) for name in facts]


def test_an_export_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text("mine")
    with pytest.raises(StudyError, match="choose another --out"):
        export_suite(load_suite("quick"), tmp_path)
    assert (tmp_path / "suite.toml").read_text() == "mine"


def test_a_picture_of_the_same_name_is_never_written_over(tmp_path: Path) -> None:
    suite = load_suite("quick")
    mine = tmp_path / "images" / f"{suite.images[-1].id}.png"
    mine.parent.mkdir()
    mine.write_bytes(b"mine")
    with pytest.raises(StudyError, match="already exists and differs; choose another --out"):
        export_suite(suite, tmp_path)
    assert mine.read_bytes() == b"mine"
    assert not (tmp_path / "suite.toml").exists()
    mine.unlink()
    assert load_suite(str(export_suite(suite, tmp_path))).sha256 == suite.sha256, "what was written stays and is used"
