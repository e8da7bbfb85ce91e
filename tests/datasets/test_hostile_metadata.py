"""Whatever a set says of its pictures: it is imported as it stands, or one line says what is wrong with it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convergebench.conductor import run_chains
from convergebench.conductor.begin import begin
from convergebench.datasets.layouts import read_chains
from convergebench.datasets.recordings import prepare_recordings
from convergebench.errors import StudyError
from convergebench.images.suite import load_suite
from convergebench.store.run import Run
from convergebench.texts import one_line
from tests.datasets import sets

VALUES: tuple[Any, ...] = (
    -1, 0, 1, 2**53, 2**63, 10**400, -0.5, 1e308, float("nan"), float("inf"), "", " ", "x", "1", "0x10", "1e3", "\0",
    "\ud800", "a\nb", "../x", "/etc/passwd", "y" * 5000, [], {}, [1], {"a": [{"b": None}]}, True, None,
)  # fmt: skip
ROWS = [
    {
        **{"file_name": f"{step}.png", "chain_id": "sim/rice/replicate/0", "image_name": "rice", "step_index": step},
        **{"variant": "replicate", "run_index": 0, "editor": "sim", "prompt": "Copy it.", "seed": 7, "cost": 0.1},
        **{"temperature": 0.5, "used": '{"quality": 1}', "family": "copy", "kind": "scene", "round": step},
        **{"licence": "CC0-1.0", "seconds": 1.5, "started": "2026-01-01", "operation": "replicate"},
    }
    for step in range(3)
]


def outcome(place: Path, run: Path) -> str:
    """Import a place: how many chains were written, or the line that tells why not."""
    try:
        _, _, found = read_chains(place)
        prepared = prepare_recordings(found.chains, faults=found.faults)
    except StudyError as error:
        lines = [str(error)]
    else:
        lines = list(prepared.left_out)
        with Run.create(run) as opened:
            begin(opened, prepared)
            assert run_chains(opened, prepared.editors, prepared.chains).stopped is None
            assert not list(opened.journal.query("select detail from chains where status = 'failed'"))
    for line in lines:
        assert "\n" not in one_line(line)
        assert one_line(line).encode("utf-8")
        assert len(line) < 12_000
    return "; ".join(lines)


def write_lines(folder: Path, rows: list[dict[str, Any]]) -> Path:
    for step in range(3):
        sets.save(folder / f"{step}.png", sets.png(sets.worn(sets.scene(), step)))
    (folder / "metadata.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return folder


def write_sheet(folder: Path, rows: list[dict[str, Any]]) -> Path:
    write_lines(folder, rows)
    (folder / "metadata.jsonl").unlink()
    with (folder / "metadata.csv").open("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        sheet = csv.DictWriter(file, list(rows[0]))
        sheet.writeheader()
        sheet.writerows(rows)
    return folder


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    write=st.sampled_from([write_lines, write_sheet]),
    column=st.sampled_from(sorted(ROWS[0])),
    step=st.sampled_from([0, 1, 2, None]),
    value=st.sampled_from(VALUES),
)
def test_any_value_in_any_column_is_imported_or_told(
    tmp_path_factory: pytest.TempPathFactory,
    write: Callable[[Path, list[dict[str, Any]]], Path],
    column: str,
    step: int | None,
    value: Any,
) -> None:
    folder = tmp_path_factory.mktemp("set")
    rows = [{**row, column: value} if step in (None, number) else dict(row) for number, row in enumerate(ROWS)]
    outcome(write(folder / "set", rows), folder / "run")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"run_index": 2**63}, "run is out of range"),
        ({"run_index": 10**400}, "run is not a number"),
        ({"run_index": -1}, "run is below zero"),
        ({"run_index": "-3"}, "run is below zero"),
        ({"step_index": -1}, "step is below zero"),
        ({"step_index": 2**80}, "step is out of range"),
        ({"seed": 2**64}, "seed is out of range"),
        ({"cost": 1e15}, "cost of a step is out of range"),
        ({"editor": "\ud800"}, "half a character"),
        ({"editor": "e" * 2000}, "longer than 1,000 characters"),
        ({"image_name": "a\0b"}, "NUL"),
        ({"used": '{"a": NaN}'}, "finite number"),
        ({"used": json.dumps({"a": 2**70})}, "too large"),
        ({"used": "[" * 900 + "]" * 900}, ""),
        ({"used": '{"a":' * 200 + "1" + "}" * 200}, "nested"),
        ({"seed": "7", "cost": "0.25", "run_index": "0"}, ""),
        ({"seed": 2**62}, ""),
    ],
)
def test_what_a_journal_cannot_hold_is_told_and_what_it_can_is_kept(
    tmp_path: Path, change: dict[str, Any], fault: str
) -> None:
    lines = outcome(write_lines(tmp_path / "set", [{**row, **change} for row in ROWS]), tmp_path / "run")
    assert fault in lines
    assert bool(lines) == bool(fault)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"chain_id": "a", "chain_id": "b", "variant": "x", "step_index": 0}', "appears twice"),
        ("[" * 100_000, "not valid JSON"),
        ('{"a":' * 100_000, "not valid JSON"),
        ("9" * 5000, "not valid JSON"),
    ],
)
def test_a_line_that_cannot_be_meant_is_told(tmp_path: Path, text: str, fault: str) -> None:
    write_lines(tmp_path / "set", ROWS)
    with (tmp_path / "set" / "metadata.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n" + text)
    assert fault in outcome(tmp_path / "set", tmp_path / "run")


def test_two_columns_of_one_name_are_told(tmp_path: Path) -> None:
    write_sheet(tmp_path / "set", ROWS)
    path = tmp_path / "set" / "metadata.csv"
    path.write_text(path.read_text().replace("image_name", "variant", 1))
    assert "two columns with the same name" in outcome(tmp_path / "set", tmp_path / "run")


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(layout=st.sampled_from(["magicbrush", "mse-bench", "edival", "pico", "roundtrip"]), data=st.data())
def test_other_layouts_tell_too(tmp_path_factory: pytest.TempPathFactory, layout: str, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("set")
    SPOILT[layout](folder / "set", data.draw(st.sampled_from(VALUES)), data)
    outcome(folder / "set", folder / "run")


def _magicbrush(folder: Path, value: Any, data: st.DataObject) -> None:
    column = data.draw(st.sampled_from(["img_id", "turn_index", "instruction"]))
    rows = [{**row, column: value} for row in sets.magicbrush_rows()]
    try:
        sets.magicbrush(folder, rows)
    except (TypeError, OverflowError, UnicodeEncodeError, ValueError, pl.exceptions.PolarsError):
        sets.magicbrush(folder)  # no table can hold it


def _mse_bench(folder: Path, value: Any, data: st.DataObject) -> None:
    sets.mse_bench(folder)
    path = folder / "MSE-Bench" / "data" / "train-00000-of-00001.parquet"
    frame = pl.read_parquet(path)
    try:
        spoilt = frame.with_columns(pl.lit(value).alias(data.draw(st.sampled_from(["index", "context"]))))
        spoilt.write_parquet(path)
    except (TypeError, OverflowError, UnicodeEncodeError, ValueError, pl.exceptions.PolarsError):
        frame.write_parquet(path)  # no table can hold it


def _edival(folder: Path, value: Any, data: st.DataObject) -> None:
    old = data.draw(st.sampled_from(["subject_add", "['", "0,1", "image_index", "Add bench"]))
    table = sets.edival_table().replace(old, str(value))
    sets.edival(folder, table=table.encode("utf-8", "backslashreplace").decode())


def _pico(folder: Path, value: Any, data: st.DataObject) -> None:
    sets.pico(folder)
    row: dict[str, Any] = sets.pico_row("101_attemptB", 5)
    place = data.draw(st.sampled_from(["files", "metadata_edit_turn_prompts", "url", "prompt"]))
    if place == "url":
        row["files"][0]["url"] = value
    elif place == "prompt":
        row["metadata_edit_turn_prompts"][0] = value
    else:
        row[place] = value
    (folder / "jsonl" / "multi-turn.jsonl").write_text(json.dumps(row))


def round_trip(folder: Path) -> Path:
    for name in ("I0_source", "I1_forward", "I1_backward"):
        sets.save(folder / "scene_01_ball" / f"{name}.png", sets.png(sets.scene()))
    return folder / "scene_01_ball"


def _roundtrip(folder: Path, value: Any, data: st.DataObject) -> None:
    round_trip(folder)
    entry = {"chain": "scene_01_ball", "image_kind": "scene", "pair": "ball", "forward": "Add.", "backward": "Remove."}
    (folder / "list.json").write_text(json.dumps([{**entry, data.draw(st.sampled_from(sorted(entry))): value}]))


SPOILT: dict[str, Callable[[Path, Any, st.DataObject], None]] = {
    "magicbrush": _magicbrush,
    "mse-bench": _mse_bench,
    "edival": _edival,
    "pico": _pico,
    "roundtrip": _roundtrip,
}


@pytest.mark.parametrize("layout", ["copies", "roundtrip"])
def test_a_file_name_that_is_not_utf_8_is_told(tmp_path: Path, layout: str) -> None:
    if layout == "copies":
        sets.copies(tmp_path / "set", images=("rice",))
        folder = tmp_path / "set" / "rice"
    else:
        folder = round_trip(tmp_path / "set")
    folder.rename(folder.with_name("scene_02_\udcff"))
    lines = outcome(tmp_path / "set", tmp_path / "run")
    assert "not valid Unicode" in lines or "half a character" in lines


def test_a_suite_with_a_file_name_that_is_not_utf_8_is_told(tmp_path: Path) -> None:
    sets.save(tmp_path / "a.png", sets.png(sets.scene()))
    (tmp_path / "a.png").rename(tmp_path / "a\udcff.png")
    with pytest.raises(StudyError, match="not valid Unicode"):
        load_suite(str(tmp_path))


@pytest.mark.parametrize(
    "sheet", [b"file,kind\nx\n", b"file,kind\n\xff,face\n", b"file\n", b"file,kind\n\0,face\n", b""]
)
def test_a_spoilt_list_of_kinds_is_told(tmp_path: Path, sheet: bytes) -> None:
    sets.save(tmp_path / "a.png", sets.png(sets.scene()))
    (tmp_path / "kinds.csv").write_bytes(sheet)
    with pytest.raises(StudyError, match=r"kinds\.csv"):
        load_suite(str(tmp_path))
