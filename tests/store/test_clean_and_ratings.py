"""Cases with a clean reference, and ratings: journalled, verified, and brought along when a run is recovered."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from convergebench.errors import Unstorable
from convergebench.images.decode import probe
from convergebench.store.journal import Journal
from convergebench.store.records import Records
from convergebench.store.recover import recover
from convergebench.store.run import Run
from convergebench.store.schema import MIGRATIONS
from convergebench.store.tables import AnswerRow, CaseRow, ImageRow, RatingRow
from convergebench.store.verify import problems
from tests.engine.parts import CASES, CountingEditor, faults, picture, query, walk
from tests.store.older import make_older


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A run of one chain, a case with a clean reference, and a rating of the first and of the last image."""
    root = tmp_path / "made"
    walk(root, CountingEditor(), rounds=2, cases=CASES[:1])
    assert faults(root, "counting@1") == []
    steps = query(root, """select p."case", p.position, s.image from chain_steps p join steps s on s.id = p.step""")
    with Run.existing(root) as run:
        data = picture(99, 9)
        clean = run.images.put(data, "image/png")
        file = run.images.file_of(clean, "image/png")
        ((source,),) = run.journal.query("select image from cases")
        run.journal.commit_now(
            [
                ImageRow(clean, file, "image/png", 9, 9, len(data)),
                CaseRow("degraded/x/0", "degraded", source, "scene", "x", "test", 0, clean=clean),
                *(rating(*steps[index]) for index in (0, -1)),
            ]
        )
    return root


def rating(case: str, step: int, image: str) -> RatingRow:
    return RatingRow(
        *(f"r1:{step}", "counting", case, step, image),
        question="how sharp is it?",
        value=4.0,
        rater="anna",
        source="person",
        detail="",
        made="2026-01-01T00:00:00+00:00",
    )


def recovered(made: Path, target: Path) -> Records:
    target.mkdir()
    recover(made, target, probe=probe)
    assert problems(target) == []
    return Records(target / "run.sqlite")


def file_of(root: Path, image: str) -> Path:
    ((file,),) = query(root, f"select file from images where id = '{image}'")
    return root / str(file)


def test_a_sound_run_has_no_fault_and_keeps_them_when_it_is_recovered(made: Path, tmp_path: Path) -> None:
    assert problems(made) == []
    with closing(recovered(made, tmp_path / "new")) as records, closing(Records(made / "run.sqlite")) as before:
        assert list(records.table(RatingRow)) == list(before.table(RatingRow))
        assert list(records.table(CaseRow)) == list(before.table(CaseRow))


def test_what_names_an_image_without_a_row_is_found(made: Path) -> None:
    with closing(sqlite3.connect(made / "run.sqlite")) as connection:
        connection.executescript("update cases set clean = 'i1:lost' where clean is not null;")
        connection.executescript("update ratings set image = 'i1:lost' where step = 1;")
    assert {"1 cases without their clean reference", "1 ratings without their image"} <= set(problems(made))


def test_a_case_whose_clean_reference_is_lost_is_not_recovered(made: Path, tmp_path: Path) -> None:
    ((clean,),) = query(made, "select clean from cases where clean is not null")
    file_of(made, str(clean)).unlink()
    with closing(recovered(made, tmp_path / "new")) as records:
        assert [row.clean for row in records.table(CaseRow)] == [None]


def test_a_rating_goes_with_the_step_that_it_is_about(made: Path, tmp_path: Path) -> None:
    ((image,),) = query(made, "select image from ratings order by step desc limit 1")
    file_of(made, str(image)).unlink()
    with closing(recovered(made, tmp_path / "new")) as records:
        assert [row.step for row in records.table(RatingRow)] == [1]


def test_a_rating_goes_too_where_a_step_before_it_is_lost(made: Path, tmp_path: Path) -> None:
    """Its image is still there, but made anew the step may give another."""
    ((image,),) = query(made, "select image from ratings order by step limit 1")
    file_of(made, str(image)).unlink()
    with closing(recovered(made, tmp_path / "new")) as records:
        assert list(records.table(RatingRow)) == []


def without_first_page(made: Path, run: Path, schema: int) -> Path:
    """A copy in this schema that SQLite cannot open."""
    shutil.copytree(made, run)
    make_older(run, schema)
    with closing(sqlite3.connect(run / "run.sqlite")) as connection:
        connection.execute("pragma journal_mode = delete")
        connection.execute("vacuum")
    data = bytearray((run / "run.sqlite").read_bytes())
    data[:100] = bytes(100)
    (run / "run.sqlite").write_bytes(data)
    return run


def test_they_are_found_on_bare_pages_too(made: Path, tmp_path: Path) -> None:
    run = without_first_page(made, tmp_path / "run", len(MIGRATIONS))
    with closing(recovered(run, tmp_path / "new")) as records, closing(Records(made / "run.sqlite")) as before:
        assert list(records.table(RatingRow)) == list(before.table(RatingRow))
        assert list(records.table(CaseRow)) == list(before.table(CaseRow))


def test_bare_rows_from_before_there_were_such_columns_are_completed(made: Path, tmp_path: Path) -> None:
    with closing(Journal(made / "run.sqlite")) as journal:
        journal.commit_now([AnswerRow("a1:x", "judge", "{}", None, "?", "model", seconds=1.0, dollars=0.0)])
    run = without_first_page(made, tmp_path / "run", 5)
    with closing(recovered(run, tmp_path / "new")) as records, closing(Records(made / "run.sqlite")) as before:
        assert list(records.table(CaseRow)) == [replace(row, clean=None) for row in before.table(CaseRow)]
        assert list(records.table(AnswerRow)) == list(before.table(AnswerRow))


def test_a_rating_must_say_who_and_of_what(tmp_path: Path) -> None:
    with closing(Journal(tmp_path / "run.sqlite")) as journal, pytest.raises(Unstorable, match=r"ratings\.image"):
        journal.commit_now([rating("c", 1, None)])  # type: ignore[arg-type]
