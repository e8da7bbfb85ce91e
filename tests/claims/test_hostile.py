"""Claim files and tables that are out to deceive: paths that lead away, infinite numbers, tables of one name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from convergebench.claims.check import check
from convergebench.claims.output import check_output_path, write
from convergebench.claims.read import read_claims
from convergebench.claims.tables import ClaimTables
from convergebench.errors import StudyError
from tests.claims.folders import SCORES, checked, outcome, own_file, table

YES, NO, UNKNOWN = "holds", "does not hold", "cannot be told"
COUNT = """
paper = "mine"
[[claims]]
id = "one"
where = ""
sentence = "There are rows."
[claims.test]
kind = "compare"
left = {{ table = {address!r}, of = "count" }}
relation = ">"
right = 0
"""
ENDLESS = "step,psnr,name\n1,inf,a\n2,inf,b\n3,30.5,inf\n"


@pytest.mark.parametrize("address", ["file:../there.csv", "file:{here}/there.csv", "run:../there", r"audit:..\there"])
def test_a_claim_reads_no_table_outside_its_folder_or_the_run_s(tmp_path: Path, address: str) -> None:
    table(tmp_path, "there", SCORES)
    table(tmp_path / "run", "scores", SCORES)
    text = COUNT.format(address=address.format(here=tmp_path))
    with pytest.raises(StudyError, match="is outside the folder that tables are read from"):
        checked(own_file(tmp_path / "mine", text), tmp_path / "run")


def test_a_table_below_the_claim_file_is_read(tmp_path: Path) -> None:
    table(tmp_path / "mine" / "tables", "scores", SCORES)
    path = own_file(tmp_path / "mine", COUNT.format(address="file:tables/scores.csv"))
    assert [one.verdict for one in checked(path).results] == [YES]


def cells(of: str, **rows: Any) -> dict[str, Any]:
    return {"table": "run:scores", "of": of, "column": "psnr", "rows": rows}


@pytest.mark.parametrize(
    ("left", "relation", "verdict"),
    [
        (cells("largest"), ">", YES),
        (cells("sum"), ">", YES),
        ({"difference": [cells("largest"), cells("largest")]}, "=", UNKNOWN),
        ({"ratio": [cells("largest"), cells("largest")]}, "<", UNKNOWN),
        ({"sum": [1e308, 1e308]}, ">", UNKNOWN),
    ],
)
def test_infinite_numbers_are_numbers_and_what_has_no_value_cannot_be_told(
    tmp_path: Path, left: dict[str, Any], relation: str, verdict: str
) -> None:
    test = {"kind": "compare", "left": left, "relation": relation, "right": 0}
    assert outcome(tmp_path, test, ENDLESS).verdict == verdict


def test_two_infinite_numbers_do_not_fall(tmp_path: Path) -> None:
    trend = {"kind": "trend", "table": "run:scores", "column": "psnr", "along": "step"}
    assert outcome(tmp_path, {**trend, "relation": "falls"}, ENDLESS).verdict == NO
    assert outcome(tmp_path, {**trend, "relation": "never rises"}, ENDLESS).verdict == YES


def test_a_word_that_reads_like_a_number_leaves_its_column_words(tmp_path: Path) -> None:
    table(tmp_path, "scores", ENDLESS)
    assert [row["name"] for row in ClaimTables(run=tmp_path).table("run:scores").rows] == ["a", "b", "inf"]


def test_the_audit_s_table_never_stands_for_the_run_s(tmp_path: Path) -> None:
    table(tmp_path / "run" / "audit" / "tables", "failures", SCORES)
    (tmp_path / "run" / "audit" / "audit.json").write_text("{}")
    file = read_claims(own_file(tmp_path, COUNT.format(address="run:failures")))
    other = read_claims(own_file(tmp_path, COUNT.format(address="audit:failures"), "other.toml"))
    for folder, of_audit in ((tmp_path / "run", YES), (tmp_path / "run" / "audit", YES)):
        assert [one.verdict for one in check([file, other], [folder]).results] == [UNKNOWN, of_audit]


def test_limits_the_wrong_way_round_are_a_slip(tmp_path: Path) -> None:
    text = COUNT.format(address="file:x.csv").replace('">"', '"between"').replace("right = 0", "right = [9, 1]")
    with pytest.raises(StudyError, match="nothing is between 9 and 1; give the lowest first"):
        read_claims(own_file(tmp_path, text))


def test_a_sentence_stays_in_its_cell(tmp_path: Path) -> None:
    table(tmp_path, "scores", SCORES)
    text = COUNT.format(address="file:scores.csv").replace("There are rows.", r"a | b\n\u001b[31mc")
    write(checked(own_file(tmp_path, text)), tmp_path / "out.md")
    assert "| a \\| b [31mc |" in (tmp_path / "out.md").read_text(encoding="utf-8")


def test_answers_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "out.md").mkdir()
    with pytest.raises(StudyError, match="is a folder; name a file"):
        check_output_path(tmp_path / "out.md")
    table(tmp_path, "scores", SCORES)
    found = checked(own_file(tmp_path, COUNT.format(address="file:scores.csv")))
    with pytest.raises(OSError, match="directory"):
        write(found, tmp_path / "out.md")
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("rows", [30_000_000, 2_000_000])
def test_a_small_file_of_a_received_run_fills_no_memory(tmp_path: Path, rows: int) -> None:
    (tmp_path / "run").mkdir()
    zeros = pl.select(pl.repeat(0, rows, dtype=pl.Int8).alias("psnr"))
    zeros.write_parquet(tmp_path / "run" / "scores.parquet")
    assert (tmp_path / "run" / "scores.parquet").stat().st_size < 1_000_000
    with pytest.raises(StudyError, match=r"more than 20,000,000 values|has 2,000,000 rows"):
        ClaimTables(run=tmp_path / "run").table("run:scores")


def test_a_claim_file_may_say_infinity(tmp_path: Path) -> None:
    table(tmp_path / "run", "scores", ENDLESS)
    text = COUNT.format(address="run:scores").replace('of = "count"', 'of = "largest", column = "psnr"')
    text = text.replace('relation = ">"', 'relation = "="').replace("right = 0", "right = inf")
    assert [one.verdict for one in checked(own_file(tmp_path, text), tmp_path / "run").results] == [YES]
