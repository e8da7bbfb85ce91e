"""The page on failures: what it tells to type works."""

from __future__ import annotations

from convergebench.failures.label_sheet import COLUMNS
from tests.docs.blocks import ROOT, blocks
from tests.docs.shell import Reader

PAGE = ROOT / "docs" / "failures.md"


def test_what_the_page_tells_to_type_works(reader: Reader) -> None:
    assert reader.page("docs/failures.md") == 6


def test_every_column_of_the_list_is_explained() -> None:
    heading = next(block for block in blocks(PAGE) if block.file == "labels.csv").text.splitlines()[0]
    assert heading == ",".join(COLUMNS)
    table = [line.split("|")[1] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert [name.strip(" `") for cell in table for name in cell.split(",")] == list(COLUMNS)
