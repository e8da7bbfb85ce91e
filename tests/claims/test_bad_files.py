"""A claim file that is wrong: one line that names the file, the claim and the slip, before anything is answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from convergebench.claims.read import read_claims
from convergebench.errors import StudyError
from tests.claims.folders import checked, own_file

GOOD = """
paper = "mine"
[names]
mine = "Nano Banana 2"
[[claims]]
id = "one"
where = "table 5"
sentence = "It has the highest SSIM."
[claims.test]
kind = "best"
table = "paper:nb2_overall"
row = { method = "$mine" }
columns = { SSIM = "higher" }
"""

OTHER = """
paper = "mine"
[[claims]]
id = "one"
where = "table 5"
sentence = "It is so."
[claims.test]
kind = "compare"
table = "paper:nb2_overall"
left = { row = { method = "HYPIR" }, column = "SSIM" }
relation = ">"
right = 0
"""


def test_the_good_file_is_good(tmp_path: Path) -> None:
    assert [one.verdict for one in checked(own_file(tmp_path, GOOD)).results] == ["holds"]
    assert [one.verdict for one in checked(own_file(tmp_path, OTHER)).results] == ["holds"]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('kind = "best"', 'kind = "bets"', r"claim one: unknown kind of test 'bets'; did you mean 'best'\?"),
        ('kind = "best"', 'king = "best"', r"claim one: a test has no kind \(there are best, worst, compare"),
        ("row =", "rows =", r"claim one \(best\): row: Field required"),
        ('"higher"', '"up"', r"claim one \(best\): columns.SSIM: Input should be 'higher' or 'lower' \(got 'up'\)"),
        (
            "paper:nb2_overall",
            "paper:nb2_overal",
            r"no table of a paper is called 'nb2_overal'; did you mean 'nb2_overall'",
        ),
        ("paper:nb2_overall", "nb2_overall", r"table: a table is paper:NAME, file:NAME.csv, run:NAME or audit:NAME"),
        ("paper:nb2_overall", "file:none.csv", r"there is no table .*none.csv \(a .csv or .parquet file beside"),
        ("SSIM", "SIMM", r"claim one: paper:nb2_overall has no column 'SIMM'; did you mean 'SSIM'\?"),
        ("{ method =", "{ metod =", r"has no column 'metod'; did you mean 'method'\?"),
        ("Nano Banana 2", "Nano Banana", r"has no row with method = Nano Banana; did you mean 'Nano Banana 2'\?"),
        ("$mine", "$min", r"claim one: '\$min' is not in \[names\]; did you mean 'mine'\?"),
        ('id = "one"', 'id = "one"\ncomment = "x"', r"claim one: unknown key 'comment'"),
        ('paper = "mine"', 'paper = "mine"\npapper = "x"', r"unknown key 'papper'; did you mean 'paper'\?"),
        ('paper = "mine"', "", "paper: Field required"),
        ("[[claims]]", "[[claim]]", r"there is no claim in it; each begins with \[\[claims\]\]"),
        ("[claims.test]", "[claims.tests]", r"claim one: \[claims.test\] is missing"),
        ("columns =", "ties = true\ncolums =", r"unknown key 'colums'; did you mean 'columns'\?"),
        ("paper =", "paper", "is not valid TOML"),
    ],
)
def test_a_slip_is_told_in_one_line(before: str, after: str, message: str, tmp_path: Path) -> None:
    assert before in GOOD
    path = own_file(tmp_path, GOOD.replace(before, after))
    with pytest.raises(StudyError, match=message) as caught:
        checked(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (', column = "SSIM" }', " }", 'a side names no column: column = "score"'),
        ('table = "paper:nb2_overall"', "", "a side names no table, and neither does its test"),
        ('row = { method = "HYPIR" }, ', "", r"gives neither a row nor a way to combine several"),
        ("left = {", 'left = { of = "mean",', "'of' gathers several rows; choose them with 'rows'"),
        ("left = {", "left = { value = 3,", "'value' takes no table, row or column"),
        ("left = {", "left = { sum = [1], ratio = [1, 2],", "is sum and ratio at once; use only one of them"),
        ("left = {", "left = { rows = {},", "'rows' needs a way to combine them"),
        ("right = 0", "right = nan", "should be a finite number"),
        ("right = 0", "right = [0, 1]", "'right' is one value, or two"),
        ('relation = ">"', 'relation = "between"', "'right' is one value, or two"),
        ('relation = ">"', 'relation = "better"', "'better' needs a direction"),
        ('relation = ">"', 'relation = "="\nbeyond_interval = true', "beyond_interval works only with >, < and better"),
        ('relation = ">"', 'relation = "=>"', r"relation: Input should be '>', '>=', .* \(got '=>'\)"),
        ("right = 0", "right = 0\ntolerance = -1", "tolerance: Input should be greater than or equal to 0"),
    ],
)
def test_a_side_is_said_in_full_and_once(before: str, after: str, message: str, tmp_path: Path) -> None:
    assert before in OTHER
    with pytest.raises(StudyError, match=message):
        read_claims(own_file(tmp_path, OTHER.replace(before, after)))


def test_two_claims_of_one_name_are_told(tmp_path: Path) -> None:
    twice = GOOD + GOOD[GOOD.index("[[claims]]") :]
    with pytest.raises(StudyError, match="two claims are called 'one'; rename one"):
        read_claims(own_file(tmp_path, twice))


def test_a_slip_in_the_last_part_is_found_though_the_first_decides(tmp_path: Path) -> None:
    text = """
paper = "mine"
[[claims]]
id = "one"
where = ""
sentence = "s"
[claims.test]
kind = "any"
[[claims.test.tests]]
kind = "compare"
left = 1
relation = "="
right = 1
[[claims.test.tests]]
kind = "every"
table = "paper:nb2_overall"
left = { column = "PSNR" }
relation = ">"
right = { column = "PSRN" }
"""
    with pytest.raises(StudyError, match="no column 'PSRN'"):
        checked(own_file(tmp_path, text))
    with pytest.raises(StudyError, match="claim one: unknown kind of test 'evry'; did you mean 'every'"):
        checked(own_file(tmp_path, text.replace('"every"', '"evry"')))
