"""The tables, pages and outputs of the shipped studies stay what they were.

Each shipped study is run small, as a user would run it, and all that it says and writes is compared with what was
recorded: words, columns, order of rows and of sections exactly, numbers to one part in a million. A change of the code
that is not meant to be seen must not be seen here. After a deliberate change: `python -m tests.same.record`, and look
at the differences that this test listed before.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.same.compare import differences, first_difference, told
from tests.same.record import goldens
from tests.same.runs import SMALL, made


@pytest.mark.parametrize("name", SMALL)
def test_tables_and_pages_are_what_they_were(name: str, tmp_path: Path) -> None:
    found = differences(goldens()[name], made(name, tmp_path))
    assert not found, f"{len(found)} texts of {name} differ:\n{told(found)}"


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("a 0.123456", "a 0.123656"),
        ("0.98", "0.96"),
        ("12 chains", "13 chains"),
        ("0.5", "0.51"),
        ("rank,editor\n1,x\n", "rank,editor,score\n1,x\n"),
        ("<h2>a</h2><h2>b</h2>", "<h2>b</h2><h2>a</h2>"),
        ("a 1", "a −1"),
        ("1\n2\n", "1\n"),
        ("chain 748060e3b4b1", "chain 748060e3b4b2"),
    ],
)
def test_a_number_a_column_or_an_order_makes_a_difference(before: str, now: str) -> None:
    assert first_difference(before, now)


def test_rounding_makes_none() -> None:
    assert first_difference("<td>0.12345678</td>", "<td>0.12345679</td>") is None
    assert first_difference("shift -0.0000012", "shift 0.0000009") is None
    assert first_difference('<circle cx="23.7"/>', '<circle cx="23.8"/>') is None
    assert first_difference("┌──────────┐\n│ 5.996162 ┆ ok │", "┌─────────┐\n│ 5.99624  ┆ ok │") is None


def test_a_missing_and_a_new_text_are_told() -> None:
    assert differences({"a": "1"}, {"b": "1"}) == ["a: is missing", "b: is new"]
