"""What the page about ratings tells to type works, and what it says of the plan is what the code does."""

from __future__ import annotations

import re
import shutil
import stat
from pathlib import Path

from convergebench.cli.rating import rate
from convergebench.conductor.rating_plan import KNOWN, MODES, RatingSettings
from convergebench.serve.rating.answers import LARGEST
from tests.docs.blocks import ROOT
from tests.docs.shell import Reader
from tests.serve.rating.conftest import made

PAGE = ROOT / "docs" / "rating.md"

__all__ = ["made"]


def test_from_a_plan_to_answers(reader: Reader, made: Path) -> None:
    shutil.copytree(made, reader.root / "runs" / "mine")
    assert reader.page("docs/rating.md") == 4
    assert stat.S_IMODE((reader.root / "links.txt").stat().st_mode) == 0o600
    assert (reader.root / "answers.csv").read_text().startswith("plan,rater,position")


def test_its_numbers_are_those_of_the_code() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert re.findall(r"\| `(\w+)` \|", text) == list(MODES)
    assert KNOWN["score"] == (3.0, 2.0)
    assert "at least 3 of 5, the untouched input at most 2" in text
    fields = RatingSettings.model_fields
    assert (fields["repeats"].default, fields["attention"].default) == (0.1, 0.05)
    assert "A tenth of the items" in text
    assert "One in twenty" in text
    assert LARGEST == 4096
    assert rate.__doc__
