"""What a source's licence forbids is left out of the rows, named by reference, and told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from convergebench.datasets.export import ExportOptions, export
from tests.datasets.factory.made import lines, make, under

LICENCES = ("CC-BY-2.0", "CC-BY-NC-ND-4.0", "CC0-1.0", "all rights reserved", "CC-BY-2.0", "CC-BY-NC-ND-4.0")


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("mixed") / "run", images=under(LICENCES))


@pytest.mark.parametrize("form", ["pico", "parquet"])
def test_restricted_sources_are_exported_by_reference(mixed: Path, tmp_path: Path, form: str) -> None:
    made = export(mixed, tmp_path / "set", ExportOptions(form))
    references = pl.read_csv(tmp_path / "set" / "tables" / "by_reference.csv", infer_schema=False)
    assert set(references["source_licence"]) == {"CC-BY-NC-ND-4.0", "all rights reserved"}
    assert references["source_address"].str.starts_with("https://example.org/photos/").all()
    (told,) = [notice for notice in made.notices if "by reference only" in notice]
    for subset, count in references["subset"].value_counts().iter_rows():
        named = references.filter(pl.col("subset") == subset)["source_licence"].value_counts()
        assert sum(f"{number:,} {subset} ({licence})" in told for licence, number in named.iter_rows()) == len(named)
        assert count > 0
    hashes = {sha for cell in references["chosen_sha256"] for sha in json.loads(cell)}
    hashes |= set(references["source_sha256"])
    assert len(hashes) > 6
    sums = (tmp_path / "set" / "checksums.sha256").read_text()
    assert not [sha for sha in hashes if sha in sums], "no picture of theirs is in the set"
    assert "by reference only: the source is under CC-BY-NC-ND-4.0" in (tmp_path / "set" / "README.md").read_text()


@pytest.mark.parametrize("form", ["parquet", "webdataset"])
def test_such_a_source_is_in_no_other_table_either(mixed: Path, tmp_path: Path, form: str, hugging: Any) -> None:
    export(mixed, tmp_path / "set", ExportOptions(form, include_restricted=True))
    column, record = ("edited_image", None) if form == "parquet" else ("edited_image.png", "json")
    for row in hugging(str(tmp_path / "set"), "sft", split="train"):
        told = row if record is None else row[record]
        closed = told["source_licence"] == "all rights reserved"
        assert (row[column.replace("edited_image", "image")] is None) == closed
        assert row[column] is not None
    steps = hugging(str(tmp_path / "set"), "steps", split="train")
    first = [row if record is None else row[record] for row in steps]
    untouched = {row["source_licence"] for row in first if row["step_index"] == 0}
    assert untouched == set(LICENCES) - {"all rights reserved"}


def test_a_source_that_may_not_be_handed_on_is_named_even_if_its_edits_are_asked_for(
    mixed: Path, tmp_path: Path
) -> None:
    made = export(mixed, tmp_path / "set", ExportOptions("pico", include_restricted=True))
    rows = lines(tmp_path / "set" / "records" / "sft.jsonl")
    closed = [row for row in rows if row["source_licence"] == "all rights reserved"]
    assert closed
    assert all(row["local_input_image"] is None and row["source_address"] for row in closed)
    assert all(row["local_input_image"] for row in rows if row not in closed)
    plain = lines(tmp_path / "set" / "jsonl" / "sft.jsonl")
    assert sum("local_input_image" not in row for row in plain) == len(closed)
    sums = (tmp_path / "set" / "checksums.sha256").read_text()
    assert closed[0]["source_sha256"] not in sums
    assert closed[0]["sha256"] in sums
    assert any(notice.startswith("1 source images are left out") for notice in made.notices)


def test_every_row_says_its_licence_and_keeps_the_sources(mixed: Path, tmp_path: Path) -> None:
    export(mixed, tmp_path / "set", ExportOptions("pico", include_restricted=True, licence="CC-BY-4.0"))
    rows = lines(tmp_path / "set" / "records" / "sft.jsonl")
    found = {(row["source_licence"], row["licence"]) for row in rows}
    assert found == {
        ("CC-BY-2.0", "CC-BY-4.0"),
        ("CC0-1.0", "CC-BY-4.0"),
        ("CC-BY-NC-ND-4.0", "CC-BY-NC-ND-4.0"),
        ("all rights reserved", "all rights reserved"),
    }


def test_all_rows_of_a_source_are_in_one_split(factory: Path, tmp_path: Path) -> None:
    from convergebench.datasets.splits import read_splits

    export(factory, tmp_path / "set", ExportOptions("pico", splits=read_splits("0.5,0.5")))
    by_split = {
        split: {
            row["source_sha256"] for path in (tmp_path / "set" / "records" / split).iterdir() for row in lines(path)
        }
        for split in ("train", "test")
    }
    assert len(by_split["train"]) == len(by_split["test"]) == 3
    assert not by_split["train"] & by_split["test"]
    counted = [len(lines(tmp_path / "set" / "jsonl" / split / "sft.jsonl")) for split in by_split]
    assert min(counted) > 0
