"""The captions that come with edit pairs, for the metrics that read words."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import convergebench.edits

FOLDER = Path(convergebench.edits.__file__).parent / "data"
ROWS = [
    row for name in ("pairs", "later") for row in tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))["pair"]
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["id"]))
def test_every_edit_that_words_can_tell_has_two_different_captions(row: dict[str, Any]) -> None:
    if row["category"] == "geometric":
        assert "before" not in row
        assert "after" not in row
        return
    assert row["before"] != row["after"]
    for caption in (row["before"], row["after"]):
        assert caption == caption.strip()
        assert caption.startswith("a ")
        assert len(caption.split()) <= 12


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["id"]))
def test_captions_suit_every_kind_of_picture_the_pair_is_for(row: dict[str, Any]) -> None:
    if "after" not in row:
        return
    faces = row["kinds"] == ["face"]
    assert ("person" in row["before"]) == faces
    assert ("person" in row["after"]) == faces
