"""Labels in a run directory: rows and objects, people's lists, frames."""

from __future__ import annotations

import csv
import shutil
import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from convergebench.analysis.series import named_series
from convergebench.errors import StudyError
from convergebench.failures.label_sheet import COLUMNS, LabelSheet, read_label_sheet, write_template
from convergebench.failures.people_labels import add_people, read_list, template_rows
from convergebench.images.decode import decode
from convergebench.store.frames import LABELS, PROBES, RunFrames
from convergebench.store.labels import Label, evidence_file, label_id, read_labels, row_of, source_crop, stamp
from convergebench.store.run import Run
from convergebench.store.tables import ComparisonRow, MeasurementRow, ProbeRow
from tests.engine.parts import faults
from tests.measuring.brightening import brightened
from tests.store.older import make_older

CHAINS = {("counting", "first/plus/0"): 6, ("counting", "second/plus/1"): 6, ("other, editor", "first/plus/0"): 2}
MODES = ("colour-cast", "lattice")
MADE = "2026-01-01T00:00:00.000000+00:00"
LABEL = Label(
    *("counting", "first/plus/0", "lattice", "noise", True, 2, 4, 3, (0.1, 0.2, 0.3, 0.4), "evidence/x.png", 0.9),
    source="rule",
    by="lattice@1:0",
    detail="seen",
    made=MADE,
)


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = brightened(tmp_path_factory.mktemp("walked") / "run")
    assert faults(root, "counting@1") == []  # writes a manifest too
    return root


@pytest.fixture
def root(walked: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(walked, tmp_path / "run"))


@pytest.fixture
def listed(tmp_path: Path) -> Callable[..., LabelSheet]:
    """What is read from a file with these rows under the usual heading."""

    def read(*rows: str, heading: str = ",".join(COLUMNS)) -> LabelSheet:
        path = tmp_path / "labels.csv"
        path.write_text("\n".join([heading, *rows]) + "\n", encoding="utf-8")
        return read_label_sheet(path, CHAINS, MODES, level_of=lambda mode: f"level of {mode}", made=MADE)

    return read


@pytest.mark.parametrize(
    "label",
    [
        LABEL,
        replace(LABEL, present=None, step=None, last=None, shown=None, region=None, evidence=None, confidence=None),
        replace(LABEL, present=False, region=None),
    ],
)
def test_a_label_comes_back_as_it_went_in(root: Path, label: Label) -> None:
    with Run.existing(root) as run:
        run.journal.commit_now([row_of(label_id(label), label)])
        assert list(read_labels(run.journal)) == [label]
        assert list(read_labels(run.journal, "person")) == []


def test_a_key_is_made_of_who_says_it_of_what_and_what_tells_it_apart() -> None:
    keys = {
        label_id(label, *extra)
        for label in (LABEL, replace(LABEL, case="b"), replace(LABEL, mode="b"), replace(LABEL, by="b"))
        for extra in ((), (1,), (2,))
    }
    assert len(keys) == 12
    assert label_id(LABEL, 1) == label_id(replace(LABEL, made="later", detail="other"), 1)
    assert evidence_file("l1:ab") == "evidence/ab.png"
    assert source_crop("evidence/ab.png") == "evidence/ab-source.png"


def test_a_stamp_is_later_than_every_label_even_if_the_clock_is_late(root: Path) -> None:
    future = (datetime.now(UTC) + timedelta(days=400)).isoformat(timespec="microseconds")
    with Run.existing(root) as run:
        assert stamp(run.journal) < future
        run.journal.commit_now([row_of("l1:1", replace(LABEL, made=future))])
        assert stamp(run.journal) > future


def test_a_row_of_a_list_is_a_label(listed: Callable[..., LabelSheet]) -> None:
    found = listed(
        "counting,first/plus/0,lattice,yes,2,4,0.1,0.2,0.3,0.4,anna,squares all over",
        '"other, editor",first/plus/0,colour-cast,No,,,,,,,ben,',
        "counting,second/plus/1,lattice,,,,,,,,anna,",
    )
    assert found.unanswered == 1
    yes, no = found.labels
    assert yes == Label(
        *("counting", "first/plus/0", "lattice", "level of lattice", True, 2, 4, 2, (0.1, 0.2, 0.3, 0.4), None, None),
        *("person", "anna", "squares all over", MADE),
    )
    assert (no.editor, no.present, no.step, no.region, no.by) == ("other, editor", False, None, None, "ben")


def test_one_failure_may_be_seen_in_two_places(listed: Callable[..., LabelSheet]) -> None:
    rows = ("counting,first/plus/0,lattice,yes,2,,0,0,0.5,0.5,anna,", "counting,first/plus/0,lattice,yes,3,,,,,,anna,")
    assert [label.step for label in listed(*rows).labels] == [2, 3]


def test_columns_may_come_in_any_order_and_with_excels_mark(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    names = [*reversed(COLUMNS)]
    cells = dict.fromkeys(COLUMNS, "") | {"editor": "counting", "case": "first/plus/0", "mode": "lattice"}
    cells |= {"present": "yes", "step": "1", "by": "anna", "note": "two\r\nlines"}
    quoted = ",".join(f'"{cells[name]}"' for name in names)
    path.write_bytes(("\ufeff" + ",".join(names) + "\r\n" + quoted + "\r\n").encode())
    (label,) = read_label_sheet(path, CHAINS, MODES, level_of=str, made=MADE).labels
    assert (label.step, label.detail) == (1, "two\nlines")


START = "counting,first/plus/0,lattice"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("countin,first/plus/0,lattice,yes,1,,,,,,anna,", "row 2, column editor: 'countin': the run has no such chain"),
        ("counting,first/plus/9,lattice,yes,1,,,,,,anna,", "row 2, column case: 'first/plus/9': the run has no such"),
        ("counting,first/plus/0,latice,yes,1,,,,,,anna,", "column mode: 'latice': unknown failure mode; did you mean"),
        (f"{START},maybe,1,,,,,,anna,", "row 2, column present: 'maybe': say yes or no"),
        (f"{START},,1,,,,,,anna,", "row 2, column present: '': say yes or no, since step is filled in"),
        (f"{START},yes,,,,,,,anna,", "row 2, column step: '': give a whole number from 1 to 6"),
        (f"{START},yes,7,,,,,,anna,", "row 2, column step: '7': give a whole number from 1 to 6"),
        (f"{START},yes,1.5,,,,,,anna,", "column step: '1.5': give a whole number"),
        (f"{START},yes,3,2,,,,,anna,", "column last: '2': give a whole number from 3 to 6"),
        (f"{START},yes,3,,0.1,,,,anna,", "column y: '': give a share of the picture from 0 to 1"),
        (f"{START},yes,3,,0.1,nan,0.1,0.1,anna,", "column y: 'nan': give a share"),
        (f"{START},yes,3,,12,30,64,64,anna,", "column x: '12': give a share"),
        (f"{START},yes,3,,0.6,0.1,0.6,0.1,anna,", "column width: '0.6': the region must have a size and lie inside"),
        (f"{START},yes,3,,0.6,0.1,0.1,0,anna,", "column height: '0': the region must have a size"),
        (f"{START},yes,3,,,,,,,", "column by: '': say who looked"),
        (f"{START},no,3,,,,,,anna,", "column step: '3': leave it empty where nothing was seen"),
        (f"{START},yes,3", "row 2: 5 cells under 12 columns"),
        (f"{START},no,,,,,,,anna,,", "row 2: 13 cells under 12 columns"),
        (f'{START},no,,,,,,,anna,"open', "is not a CSV file in UTF-8"),
    ],
)  # fmt: skip
def test_a_fault_is_one_line_that_names_row_and_column(
    listed: Callable[..., LabelSheet], row: str, message: str
) -> None:
    with pytest.raises(StudyError) as caught:
        listed(row)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (f"{START},no,,,,,,,anna,", "row 3, column present: 'no': row 2 by anna says otherwise"),
        (f"{START},yes,2,,,,,,anna,", "row 3, column present: 'yes': row 2 says the same"),
    ],
)
def test_a_person_may_not_contradict_or_repeat_themselves(
    listed: Callable[..., LabelSheet], second: str, message: str
) -> None:
    first = f"{START},yes,2,,,,,,anna,"
    with pytest.raises(StudyError, match="row 3") as caught:
        listed(first, second)
    assert message in str(caught.value)
    assert len(listed(first, second.replace("anna", "ben")).labels) == 2


@pytest.mark.parametrize(
    ("heading", "message"),
    [
        (",".join(COLUMNS).replace("mode", "modes"), "row 1: unknown column 'modes'; did you mean 'mode'?"),
        (",".join(COLUMNS[:-1]), "row 1: no column note"),
        (",".join([*COLUMNS, "by"]), "row 1: a column twice"),
        (";".join(COLUMNS), "uses semicolons between columns"),
        ("", "no column editor, case"),
    ],
)
def test_a_heading_must_be_whole(listed: Callable[..., LabelSheet], heading: str, message: str) -> None:
    with pytest.raises(StudyError) as caught:
        listed(heading=heading)
    assert message in str(caught.value)


def test_a_file_that_is_not_there_or_not_text_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"cannot read .*none.csv: No such file"):
        read_label_sheet(tmp_path / "none.csv", CHAINS, MODES, level_of=str, made=MADE)
    (tmp_path / "picture.csv").write_bytes(b"\x89PNG\xff")
    with pytest.raises(StudyError, match="is not a CSV file in UTF-8"):
        read_label_sheet(tmp_path / "picture.csv", CHAINS, MODES, level_of=str, made=MADE)


def test_a_template_is_read_back_with_nothing_answered_and_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "fill.csv"
    assert write_template(path, [(*chain, mode) for chain in CHAINS for mode in MODES]) == 6
    found = read_label_sheet(path, CHAINS, MODES, level_of=str, made=MADE)
    assert found == LabelSheet([], 6)
    with pytest.raises(StudyError, match="may hold labels"):
        write_template(path, [])


def test_a_template_makes_no_folder(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"there is no folder .*none; make it or name another file"):
        write_template(tmp_path / "none" / "fill.csv", [])
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_looks_like_a_formula_is_a_name_in_a_spreadsheet_and_comes_back(tmp_path: Path) -> None:
    names = ['=HYPERLINK("http://example.org")', "@sum", "'=odd", "+1", "plain", "a=b", "'plain"]
    chains = {(name, "case"): 2 for name in names}
    path = tmp_path / "fill.csv"
    write_template(path, [(name, "case", "lattice") for name in names])
    with path.open(encoding="utf-8", newline="") as file:
        heading, *rows = csv.reader(file)
    assert [row[0] for row in rows] == [f"'{name}" for name in names[:4]] + names[4:]
    with path.open("w", encoding="utf-8", newline="") as file:
        answered = [[*row[:3], "no", *row[4:10], "anna", "'- nothing"] for row in rows]
        csv.writer(file).writerows([heading, *answered])
    labels = read_label_sheet(path, chains, MODES, level_of=str, made=MADE).labels
    assert [label.editor for label in labels] == names
    assert {label.detail for label in labels} == {"- nothing"}


def test_a_long_list_takes_as_long_per_row_as_a_short_one(listed: Callable[..., LabelSheet]) -> None:
    count = 30_000  # each row against every row before it would take minutes
    started = time.process_time()
    assert len(listed(*(f"{START},yes,2,,,,,,anna,{number}" for number in range(count))).labels) == count
    assert time.process_time() - started < 20


def add(root: Path, *rows: str) -> list[Label]:
    path = root.parent / "list.csv"
    path.write_text("\n".join([",".join(COLUMNS), *rows]) + "\n")
    with Run.existing(root) as run:
        return add_people(run, read_list(run, path).labels)


def test_a_list_enters_the_run_with_evidence_and_the_same_list_adds_nothing(root: Path) -> None:
    with Run.existing(root) as run:  # the level of a mode that was examined is known without its detector
        run.journal.commit_now([row_of("l1:0", LABEL)])
    rows = (f"{START},yes,2,4,0.1,0.2,0.3,0.1234567,anna,", f"{START},no,,,,,,,ben,")
    assert len(add(root, *rows)) == 2
    assert add(root, *rows) == []
    with Run.existing(root) as run:
        found = {label.by: label for label in read_labels(run.journal, "person")}
    assert (found["anna"].level, found["ben"].evidence) == ("noise", None)
    assert found["anna"].evidence is not None
    crop = decode((root / found["anna"].evidence).read_bytes()).pixels
    assert int(crop.mean()) == 52, "the picture of step 2"
    assert faults(root, "counting@1") == []


def test_a_change_of_mind_and_back_are_both_written_down(root: Path) -> None:
    with Run.existing(root) as run:
        run.journal.commit_now([row_of("l1:0", LABEL)])
    yes, no = f"{START},yes,2,,,,,,anna,", f"{START},no,,,,,,,anna,"
    assert [len(add(root, row)) for row in (yes, no, no, yes)] == [1, 1, 0, 1]
    with Run.existing(root) as run:
        assert [label.present for label in read_labels(run.journal, "person")] == [True, False, True]


def test_a_template_asks_what_was_looked_for_and_does_not_tell_what_was_found(root: Path) -> None:
    with Run.existing(root) as run:
        run.journal.commit_now([row_of("l1:0", LABEL)])
        rows = list(template_rows(run.journal, run.root))
    assert [row for row in rows if row[1] == "first/plus/0"] == [("counting", "first/plus/0", "lattice")]
    assert len([row for row in rows if row[1] == "first/plus/1"]) >= 15, "nobody has examined it: every mode"


def test_frames_have_every_label_and_the_case_it_belongs_to(root: Path) -> None:
    with Run.existing(root) as run:
        unsure = replace(LABEL, present=None, region=None, mode="z")
        run.journal.commit_now([row_of("l1:1", LABEL), row_of("l1:2", unsure)])
        run.journal.commit_now(
            [ProbeRow("counting", "first/plus/0", 3, "tint", "by", 1.5),
             ProbeRow("counting", "first/plus/0", 6, "examined", "by", 1.0)]
        )  # fmt: skip
    frames = RunFrames(root)
    labels, probes = frames.labels(), frames.probes()
    frames.close()
    assert labels.schema == pl.Schema(LABELS)
    columns = ("id", "source_image", "pair", "category", "replicate", "present", "region")
    assert labels.select(columns).rows() == [
        ("l1:1", "first", "plus", "test", 0, True, "[0.1, 0.2, 0.3, 0.4]"),
        ("l1:2", "first", "plus", "test", 0, None, None),
    ]
    assert probes.schema == pl.Schema(PROBES)
    assert probes.select("source", "step", "probe", "value").rows() == [("first", 3, "tint", 1.5)]


def test_a_run_of_an_older_schema_has_empty_frames_and_stays_as_it_is(root: Path) -> None:
    make_older(root, 2)
    frames = RunFrames(root)
    assert frames.labels().schema == pl.Schema(LABELS)
    assert frames.probes().is_empty()
    frames.close()
    connection = sqlite3.connect(root / "run.sqlite")
    assert connection.execute("pragma user_version").fetchone() == (2,)
    connection.close()


def test_rows_against_the_first_step_say_so(root: Path) -> None:
    with Run.existing(root) as run:
        comparison = ComparisonRow("m1:x", "counting", "first/plus/0", "first", 2, 2, lag=0, subject="i1:a")
        run.journal.commit_now([comparison, MeasurementRow("m1:x", "ssim", "strict", "ssim@1:0", 0.5, "ok")])
    frames = RunFrames(root)
    found = frames.measurements("strict")
    frames.close()
    assert found.select("metric", "step", "role", "lag", "value").rows() == [("ssim", 2, "first", 0, 0.5)]
    assert named_series(found).select("metric", "value").rows() == [("ssim-first", 0.5)]
