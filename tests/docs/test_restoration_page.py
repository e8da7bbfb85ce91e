"""The page on restoration: what it tells to type works, and its table of studies is what the study files say."""

from __future__ import annotations

import re
import tomllib

import polars as pl
import pytest

from convergebench.edits.restoration_prompts import load_prompts
from convergebench.studies.restoration import Restoration
from convergebench.studies.spec import parse_spec
from tests.docs.blocks import ROOT
from tests.docs.shell import Reader

PAGE = ROOT / "docs" / "restoration.md"
TEXT = PAGE.read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(studies/[\w-]+\.toml)` \| (.+?) \| (.+?) \| (\d+) \|$", TEXT, re.M)


def test_what_the_page_tells_to_type_works(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(reader.root / "cache"))
    assert reader.page("docs/restoration.md") == 5
    methods = pl.read_csv(reader.root / "runs" / "mine" / "tables" / "method_results.csv")
    assert {"input", "sim-restorer", "non-local-means", "unsharp"} <= set(methods["editor"])
    chains = pl.read_parquet(reader.root / "runs" / "mine" / "tables" / "chains.parquet")
    asked = dict(chains.group_by("editor").len().iter_rows())
    pictures = 4 + 2  # each with `mixed`, and two more with `old-film`
    assert asked["sim-restorer"] == pictures * 2 * 2, "two prompts, two repeats"
    assert asked["unsharp"] == asked["non-local-means"] == pictures, "reads no words and always answers alike: once"
    assert not (reader.root / "runs" / "wordings").exists(), "a dry run writes nothing"


@pytest.mark.parametrize(("file", "prompts", "pictures", "repeats"), ROWS)
def test_the_table_says_what_the_study_files_say(file: str, prompts: str, pictures: str, repeats: str) -> None:
    content = tomllib.loads((ROOT / file).read_text(encoding="utf-8"))
    assert parse_spec(content).study == "restoration"
    table = Restoration.Parameters(**content["restoration"])
    ids = [one.id for one in load_prompts(table.prompts)]
    assert (len(ids) == 12) if prompts == "all twelve" else (set(ids) == set(prompts.split(", ")))
    assert table.repeats == int(repeats)
    assert table.degradations == ("all",)
    if limit := content["images"].get("limit"):
        assert (limit, 7 * table.per_degradation) == (21, 14)
        assert pictures in ("21 with a clean picture, 14 without", "the same")
    else:
        assert pictures == "thirteen scenes and seven degradations"


def test_every_study_of_the_table_is_there() -> None:
    assert len(ROWS) == 3
    assert (ROOT / "studies" / "restoration-quick.toml").is_file()
