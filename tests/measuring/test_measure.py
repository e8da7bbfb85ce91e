"""Measuring: a value is written down only when it is the image's own."""

from __future__ import annotations

import math
import sqlite3
import tomllib
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from convergebench.analysis.series import named_series
from convergebench.conductor.begin import begin
from convergebench.conductor.prepare import prepare
from convergebench.errors import StudyError
from convergebench.ids import image_id
from convergebench.measuring import measure as parent
from convergebench.measuring import worker as room
from convergebench.measuring.measure import measure
from convergebench.metrics.base import Item, metric
from convergebench.store.frames import RunFrames
from convergebench.store.images import ImageStore
from convergebench.store.run import Run
from convergebench.store.tables import ComparisonRow, ImageRow
from convergebench.studies.spec import parse_spec
from convergebench.types import Edited, EditRequest
from tests.cli.damage import make_run
from tests.engine.parts import CASES, CountingEditor, faults, picture, query, walk


@metric("slipping", kind="full-reference", better="lower", range=(0.0, 1.0))
def slipping(item: Item) -> float:
    """Divides by zero."""
    return 1 / 0


@metric("lost", kind="full-reference", better="lower", range=(0.0, 1.0))
def lost(item: Item) -> float:
    """Has no idea."""
    return math.nan


@pytest.fixture(autouse=True)
def nothing_decoded() -> None:
    """Every test begins like a new process."""
    room.forget()


def fill_in(root: Path, *metrics: str) -> int:
    with Run.create(root) as run:
        return measure(run, metrics, align_mode="strict", workers=1)


def test_what_has_a_value_is_not_measured_again(tmp_path: Path) -> None:
    walk(tmp_path / "run", CountingEditor(), rounds=2)
    assert fill_in(tmp_path / "run", "psnr") == 8
    assert fill_in(tmp_path / "run", "psnr") == 0


def test_a_file_that_cannot_be_read_today_leaves_no_row_and_is_measured_tomorrow(tmp_path: Path) -> None:
    walk(tmp_path / "run", CountingEditor(), rounds=2)
    ((file,),) = query(
        tmp_path / "run",
        "select file from images where id = (select min(subject) from comparisons where role = 'return')",
    )
    path = tmp_path / "run" / file
    path.rename(path.with_suffix(".away"))
    with pytest.raises(StudyError, match="cbench verify") as caught:
        fill_in(tmp_path / "run", "psnr")
    assert file in str(caught.value)
    path.with_suffix(".away").rename(path)
    fill_in(tmp_path / "run", "psnr")
    assert query(tmp_path / "run", "select distinct status, count(*) from measurements") == [("ok", 8)]


def test_a_metrics_slip_is_one_line_and_leaves_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    walk(tmp_path / "run", CountingEditor(), rounds=2)
    for side in (room, parent):
        monkeypatch.setattr(side, "load_metric", lambda name: slipping)
    room._loaded.cache_clear()
    with pytest.raises(StudyError, match=r"metric 'slipping' failed on .*ZeroDivisionError: division by zero"):
        fill_in(tmp_path / "run", "slipping")
    room._loaded.cache_clear()
    assert query(tmp_path / "run", "select * from measurements") == []


def test_no_number_is_no_value_and_not_an_empty_one_that_is_ok(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    walk(tmp_path / "run", CountingEditor(), rounds=2)
    for side in (room, parent):
        monkeypatch.setattr(side, "load_metric", lambda name: lost)
    room._loaded.cache_clear()
    fill_in(tmp_path / "run", "lost")
    room._loaded.cache_clear()
    assert query(tmp_path / "run", "select distinct value, status from measurements") == [(None, "not-finite")]


def put_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:40]),
    "empty": lambda path: path.write_bytes(b""),
    "another picture": lambda path: path.write_bytes(picture(200)),
    "no longer there": lambda path: path.unlink(),
    "a folder": put_folder,
}


def mend(path: Path, data: bytes) -> None:
    if path.is_dir():
        path.rmdir()
    path.write_bytes(data)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("which", ["subject", "reference"])
def test_nothing_is_written_down_for_a_damaged_image_and_the_rest_is_measured(
    tmp_path: Path, damage: str, which: str
) -> None:
    root = tmp_path / "run"
    walk(root, CountingEditor(), rounds=2)
    ((file,),) = query(
        root, f"select file from images where id = (select min({which}) from comparisons where role = 'return')"
    )
    data = (root / file).read_bytes()
    DAMAGES[damage](root / file)
    with pytest.raises(StudyError, match=r"1 damaged image .*measure again") as caught:
        fill_in(root, "psnr")
    assert file in str(caught.value)
    statuses = query(root, "select status, count(*) from measurements group by status")
    assert [status for status, _ in statuses] == ["ok"]
    assert 0 < statuses[0][1] < 8
    mend(root / file, data)
    fill_in(root, "psnr")
    assert query(root, "select status, count(*) from measurements group by status") == [("ok", 8)]


def test_values_that_blamed_an_image_for_its_damaged_file_are_measured_again(tmp_path: Path) -> None:
    root = tmp_path / "run"
    walk(root, CountingEditor(), rounds=2)
    fill_in(root, "psnr")
    with closing(sqlite3.connect(root / "run.sqlite", isolation_level=None)) as connection:
        detail = "images/ab/cd.png cannot be decoded: its pixel data is damaged; download or copy it again"
        for status, number in (("unreadable", 2), ("source-unfit", 1)):
            connection.execute(
                "update measurements set value = null, status = ?, detail = ? where comparison in "
                "(select comparison from measurements where status = 'ok' order by comparison limit ?)",
                (status, detail, number),
            )
    assert fill_in(root, "psnr") == 3
    assert query(root, "select status, count(*) from measurements group by status") == [("ok", 8)]


def test_an_image_whose_bytes_are_right_and_no_picture_keeps_its_status(tmp_path: Path) -> None:
    root = tmp_path / "run"
    walk(root, CountingEditor(), rounds=2)
    with Run.create(root) as run:
        identity = run.images.put(b"no picture", "image/png")
        file = run.images.file_of(identity, "image/png")
        run.journal.commit_now([ImageRow(identity, file, "image/png", 1, 1, 10)])
    with closing(sqlite3.connect(root / "run.sqlite", isolation_level=None)) as connection:
        connection.execute(
            "update comparisons set subject = ? where id = (select min(id) from comparisons where role = 'return')",
            (identity,),
        )
    assert fill_in(root, "psnr") == 8
    assert fill_in(root, "psnr") == 0, "known once and for all"
    assert query(root, "select count(*) from measurements where status = 'unreadable'") == [(1,)]


class Drifting(CountingEditor):
    """Brightens whatever it is told, so that every picture of a chain is another."""

    async def edit(self, request: EditRequest) -> Edited:
        return await super().edit(replace(request, instruction="add one"))


def test_a_damaged_image_is_not_sent_to_an_editor(tmp_path: Path) -> None:
    root = tmp_path / "run"
    walk(root, Drifting(), rounds=1)
    last = "select i.file from chain_steps p join steps s on s.id = p.step join images i on i.id = s.image "
    files = {file for (file,) in query(root, f"{last} where p.position = 2")}
    for file in files:
        (root / file).write_bytes((root / file).read_bytes()[:30])
    editor = Drifting()
    with pytest.raises(StudyError, match="has changed since it was stored; restore this file"):
        walk(root, editor, rounds=2)
    assert editor.calls == 0


def test_a_damaged_source_is_stored_again_by_the_same_study(tmp_path: Path) -> None:
    root = make_run(tmp_path)
    source = image_id((tmp_path / "pictures" / "scene" / "scene-0.png").read_bytes())
    path = root / ImageStore(root).file_of(source, "image/png")
    data = path.read_bytes()
    path.write_bytes(data[:30])
    study = prepare(parse_spec(tomllib.loads((tmp_path / "study.toml").read_text())))
    with Run.existing(root) as run:
        begin(run, study)
    assert path.read_bytes() == data


def test_a_role_of_a_study_s_own_is_measured_like_a_return_and_has_a_name_of_its_own(tmp_path: Path) -> None:
    """A restored picture against the clean reference: measured as against the source, told apart in every table."""
    root = tmp_path / "run"
    walk(root, CountingEditor(), rounds=1, cases=CASES[:1])
    assert faults(root, "counting@1") == []
    with Run.create(root) as run:
        data = picture(99)
        clean = run.images.put(data, "image/png")
        image = ImageRow(clean, run.images.file_of(clean, "image/png"), "image/png", 8, 8, len(data))
        ((editor, case, step, subject),) = run.journal.query(
            """select editor, "case", step, subject from comparisons where role = 'return'"""
        )
        row = ComparisonRow("m1:clean", editor, case, "clean", 1, step, lag=0, subject=subject, reference=clean)
        alone = ComparisonRow("m1:alone", editor, case, "framed", 1, step, lag=0, subject=subject)
        run.journal.commit_now([image, row, alone])
    fill_in(root, "rmse", "piqe")
    frames = RunFrames(root)
    found = named_series(frames.measurements("strict")).filter(step=step)
    frames.close()
    values = dict(found.filter(pl.col("metric").str.starts_with("rmse")).select("metric", "value").rows())
    assert values["rmse"] == 0, "the counting editor comes back to its source"
    assert values["rmse-clean"] > 0.1
    assert {"piqe", "piqe-clean", "piqe-framed"} <= set(found["metric"])
    assert "rmse-framed" not in values, "nothing to compare with"
