"""The page on the leaderboard: what it tells to type works, and its files are what the package reads."""

from __future__ import annotations

from pathlib import Path

from convergebench.leaderboard.settings import read_board_settings
from tests.docs.blocks import ROOT, blocks
from tests.docs.shell import Reader

PAGE = ROOT / "docs/leaderboard.md"


def test_what_the_page_tells_to_type_works(reader: Reader) -> None:
    assert reader.page("docs/leaderboard.md") == 9
    assert (reader.root / "site" / "models" / "sim-blur.html").is_file()
    assert (reader.root / "badge.svg").is_file()


def test_the_example_of_board_toml_can_be_read(tmp_path: Path) -> None:
    (text,) = [block.text for block in blocks(PAGE) if block.file == "example/board.toml"]
    (tmp_path / "board.toml").write_text(text, encoding="utf-8")
    found = read_board_settings(tmp_path)
    assert found.pin("roundtrip", "quick") is not None
    assert list(found.keys.values()) == ["Example Lab"]
