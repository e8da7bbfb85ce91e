"""The study of `docs/add-a-study.md`, run as the page says: it brings its own unit, tables, section and export."""

from __future__ import annotations

import csv
import json
import re
import sys
from pathlib import Path

import polars as pl
import pytest

from tests.docs.blocks import ROOT
from tests.docs.shell import Reader, forget_plugins

PAGE = ROOT / "docs" / "add-a-study.md"
RUN = Path("runs") / "copies"


@pytest.fixture
def followed(reader: Reader) -> Reader:
    assert reader.page("docs/add-a-study.md") == 6
    return reader


def page_text() -> str:
    return (RUN / "report" / "index.html").read_text(encoding="utf-8")


def test_a_study_of_a_third_party_has_its_own_tables_section_and_export(followed: Reader) -> None:
    kept = pl.read_parquet(RUN / "tables" / "kept.parquet")
    assert kept.columns == ["editor", "copy", "ssim"]
    assert kept.filter(editor="sim-perfect")["ssim"].to_list() == pytest.approx([1.0] * 7)
    last = pl.read_csv(RUN / "tables" / "last_good.csv")
    assert last.filter(editor="sim-perfect")["copy"].to_list() == [7]

    page = page_text()
    anchors = re.findall(r'<section id="([\w-]+)"', page)
    assert anchors.index("ranking") < anchors.index("last-good-copy") < anchors.index("curves"), "in the study's order"
    assert "settling" not in anchors, "a section that the study does not name is not there"
    assert "<li>sim-perfect: copy 7</li>" in page
    assert ">kept<" in page, "a table that no section draws is shown as it is"
    assert ">last_good<" not in page, "and one that a section draws is not shown twice"

    with (Path("copies-set") / "tables" / "copies.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 4 * 7
    assert rows[0].keys() == {"chain_id", "copy", "ssim"}
    assert "how well every copy kept the original" in (Path("copies-set") / "README.md").read_text(encoding="utf-8")
    assert not (Path("copies-set") / "tables" / "labels.csv").exists(), "the study does not export labels"


def test_its_unit_is_said_wherever_rounds_are_counted(followed: Reader, capsys: pytest.CaptureFixture[str]) -> None:
    followed._cbench(["show", str(RUN)])
    said = capsys.readouterr().out
    assert "7 copies" in said
    assert "round" not in said
    assert "copies" in page_text()


def test_where_the_study_is_not_installed_the_run_is_still_shown_with_a_note(
    followed: Reader, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "path", [place for place in sys.path if "copies-study" not in place])
    for module in ("copies_study", "copies_parts"):
        sys.modules.pop(module, None)
    forget_plugins()
    capsys.readouterr()
    assert followed._cbench(["report", str(RUN)]) == 0
    assert "note: unknown study 'copies'" in capsys.readouterr().err
    assert "last-good-copy" not in page_text()
    assert '<section id="ranking"' in page_text()


@pytest.mark.parametrize(
    ("instead", "said"),
    [
        ("raise ZeroDivisionError('no copies')", "analysis 'copies_parts:copies' failed: ZeroDivisionError: no copies"),
        ("return 3", "AttributeError: 'int' object has no attribute 'tables'"),
        (
            "return type('R', (), {'tables': lambda self: {'kept': 3}})()",
            "gives no polars frames; it is left out",
        ),
        ("return type('R', (), {'tables': lambda self: {'ranking': run.chains}})()", "a second table 'ranking'"),
    ],
)
def test_an_analysis_that_fails_is_told_in_one_line_and_the_rest_is_reported(
    instead: str, said: str, followed: Reader, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = Path("copies-study") / "copies_parts.py"
    text = parts.read_text(encoding="utf-8")
    whole = '    """How many copies stay good."""\n'
    parts.write_text(text.replace(whole, f"{whole}    {instead}\n"), encoding="utf-8")
    sys.modules.pop("copies_parts")
    capsys.readouterr()
    assert followed._cbench(["report", str(RUN)]) == 0
    notes = [line for line in capsys.readouterr().err.splitlines() if said in line]
    assert len(notes) == 1
    assert "last-good-copy" not in page_text()
    assert '<section id="ranking"' in page_text()


def test_an_export_that_fails_is_one_line_and_writes_nothing(
    followed: Reader, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = Path("copies-study") / "copies_parts.py"
    text = parts.read_text(encoding="utf-8")
    parts.write_text(text.replace('"ssim": value.value', '"sims": value.value'), encoding="utf-8")
    sys.modules.pop("copies_parts")
    capsys.readouterr()
    assert followed._cbench(["export", str(RUN), "--as", "parquet", "--out", "again"]) == 2
    assert "the table 'copies' cannot be exported: ValueError: no column for sims" in capsys.readouterr().err
    assert not Path("again").exists()


def test_what_the_page_says_of_defaults_is_true() -> None:
    from convergebench.studies.base import BaseStudy

    rows = dict(re.findall(r"^\| `(\w+)` \|[^|]*\| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.M))
    assert re.findall(r"`(\w+)`", rows["stages"]) == list(BaseStudy.stages)
    assert re.findall(r"`(\w+)`", rows["exports"]) == list(BaseStudy.exports)
    assert rows["unit"] == BaseStudy.unit.one
    assert json.dumps(BaseStudy.metrics) == rows["metrics"].replace("`", '"')
