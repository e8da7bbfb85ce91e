"""Recovering a run: what follows from a lost step is open again, and every call stays counted."""

from __future__ import annotations

import errno
import os
import shutil
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convergebench.cli.recovering import recover as recover_command
from convergebench.errors import RunLocked
from convergebench.images.decode import probe
from convergebench.store.carve import carve
from convergebench.store.connection import connect
from convergebench.store.images import ImageStore
from convergebench.store.manifest import read_manifest, write_manifest
from convergebench.store.recover import command_to_go_on, recover
from convergebench.store.run import Run
from convergebench.store.salvage import copy_readable
from convergebench.store.verify import problems
from convergebench.types import Edited, EditRequest
from tests.engine.parts import CASES, CountingEditor, faults, query, walk

ROUNDS = 3
STEPS = 2 * ROUNDS


class Drifting(CountingEditor):
    """Brightens whatever it is told, so that every picture of a chain is another."""

    async def edit(self, request: EditRequest) -> Edited:
        return await super().edit(replace(request, instruction="add one"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("made") / "run"
    walk(root, Drifting(dollars=0.04), rounds=ROUNDS, cases=CASES[:1])
    assert faults(root, "counting@1") == []
    return root


def copy_without(made: Path, target: Path, position: int, *, deterministic: bool = False) -> Path:
    """A copy that lacks the picture of this step."""
    shutil.copytree(made, target)
    ((file,),) = query(
        made,
        "select i.file from chain_steps p join steps s on s.id = p.step join images i on i.id = s.image "
        f"where p.position = {position}",
    )
    (target / file).unlink()
    manifest = read_manifest(target / "manifest.json")
    editors = {name: {**facts, "deterministic": deterministic} for name, facts in manifest.editors.items()}
    write_manifest(target / "manifest.json", replace(manifest, editors=editors))
    return target


@pytest.mark.parametrize("position", [1, 3, STEPS])
def test_steps_that_were_made_from_a_lost_one_are_open_again(made: Path, tmp_path: Path, position: int) -> None:
    run = copy_without(made, tmp_path / "run", position)
    (tmp_path / "new").mkdir()
    recovered = recover(run, tmp_path / "new", probe=probe)
    assert problems(tmp_path / "new") == []
    assert query(tmp_path / "new", "select position from chain_steps order by 1") == [(n,) for n in range(1, position)]
    assert recovered.lost["steps"] == STEPS - position + 1
    ((status, rounds),) = query(tmp_path / "new", "select status, rounds from chains")
    assert (status, rounds) == ("open", (position - 1) // 2)
    assert recovered.dollars == pytest.approx(0.04 * STEPS), "what was paid stays counted"
    again = Drifting(dollars=0.04)
    walk(tmp_path / "new", again, rounds=ROUNDS, cases=CASES[:1])
    assert again.calls == STEPS - position + 1
    ((dollars,),) = query(tmp_path / "new", "select sum(dollars) from attempts")
    assert dollars == pytest.approx(0.04 * (STEPS + again.calls))
    assert problems(tmp_path / "new") == []


def test_an_editor_that_always_answers_alike_makes_the_lost_step_alone(made: Path, tmp_path: Path) -> None:
    run = copy_without(made, tmp_path / "run", 3, deterministic=True)
    (tmp_path / "new").mkdir()
    recover(run, tmp_path / "new", probe=probe)
    assert problems(tmp_path / "new") == []
    again = Drifting()
    walk(tmp_path / "new", again, rounds=ROUNDS, cases=CASES[:1])
    assert again.calls == 1


def test_an_image_under_a_wrong_name_is_put_under_its_own(made: Path, tmp_path: Path) -> None:
    run = copy_without(made, tmp_path / "run", 1)
    ((file,),) = query(
        made, "select i.file from chain_steps p join steps s on s.id = p.step join images i on i.id = s.image "
        "where p.position = 1"
    )  # fmt: skip
    (run / "images" / "rescued by hand.dat").write_bytes((made / file).read_bytes())
    (tmp_path / "new").mkdir()
    recovered = recover(run, tmp_path / "new", probe=probe)
    assert recovered.lost["steps"] == 0
    assert ImageStore(tmp_path / "new").read(file) == (made / file).read_bytes()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_bare_pages_never_break_their_reader(made: Path, tmp_path: Path, data: st.DataObject) -> None:
    """Whatever stands in a file, reading it ends, and raises nothing."""
    content = bytearray((made / "run.sqlite").read_bytes())
    for _ in range(data.draw(st.integers(1, 20))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "broken.sqlite"
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    for record in carve(path):
        assert isinstance(record, tuple)


def test_pages_that_lead_in_a_circle_end(tmp_path: Path) -> None:
    """A thousand cells that claim to be almost as long as the file, and go on on a page that goes on on itself."""
    size, pages, place, local = 4096, 2000, 3400, 489
    length = local + (pages - 10) * (size - 4)
    cell = bytes(0x80 | length >> shift & 0x7F for shift in (21, 14, 7)) + bytes([length & 0x7F])
    inner = bytearray(size)
    inner[:5] = b"\x0a\0\0" + (1000).to_bytes(2, "big")
    inner[8 : 8 + 2000] = place.to_bytes(2, "big") * 1000
    inner[place : place + 4] = cell
    inner[place + 4 + local : place + 8 + local] = (2).to_bytes(4, "big")
    circle = (2).to_bytes(4, "big") + bytes(size - 4)
    (tmp_path / "broken.sqlite").write_bytes(bytes(inner) + circle + bytes(size * (pages - 2)))
    before = time.process_time()
    assert list(carve(tmp_path / "broken.sqlite")) == []
    assert time.process_time() - before < 1


def pages_of(run: Path, table: str) -> list[int]:
    with closing(connect(run / "run.sqlite", read_only=True)) as connection:
        ((root,),) = connection.execute("select rootpage from sqlite_master where name = ?", (table,))
    data = (run / "run.sqlite").read_bytes()
    return [root, *_children(data, root)]


def _children(data: bytes, root: int) -> list[int]:
    """Pages right below an inner page of a table without row numbers."""
    page = data[(root - 1) * 4096 : root * 4096]
    if page[0] != 0x02:
        return []
    places = [int.from_bytes(page[12 + 2 * n : 14 + 2 * n], "big") for n in range(int.from_bytes(page[3:5], "big"))]
    numbers = [page[place : place + 4] for place in places] + [page[8:12]]
    return [int.from_bytes(number, "big") for number in numbers]


@pytest.mark.parametrize("lost", [("attempts",), ("attempts", "attempts_by_editor"), ("attempts", "steps")])
def test_calls_whose_pages_are_lost_stay_counted(made: Path, tmp_path: Path, lost: tuple[str, ...]) -> None:
    """By the index of calls, and where that is lost too, by the steps that they gave."""
    run = tmp_path / "run"
    shutil.copytree(made, run)
    data = bytearray((run / "run.sqlite").read_bytes())
    for table in lost:
        for page in pages_of(run, table)[-1:]:
            data[(page - 1) * 4096 : page * 4096] = bytes(4096)
    (run / "run.sqlite").write_bytes(data)
    (tmp_path / "new").mkdir()
    recovered = recover(run, tmp_path / "new", probe=probe)
    assert problems(tmp_path / "new") == []
    if lost == ("attempts",) or "steps" in lost:
        assert recovered.dollars == pytest.approx(0.04 * STEPS)
    assert recovered.kept["attempts"] >= STEPS, "each step that was found had a call"


def test_a_disk_that_cannot_read_a_part_of_a_file_gives_the_rest(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, bad = os.pread, 4096 * 3

    def failing(handle: int, length: int, start: int) -> bytes:
        if start <= bad < start + length:
            raise OSError(errno.EIO, "Input/output error")
        return real(handle, length, start)

    monkeypatch.setattr(os, "pread", failing)
    copy_readable(made / "run.sqlite", tmp_path / "copy")
    data, copied = (made / "run.sqlite").read_bytes(), (tmp_path / "copy").read_bytes()
    assert copied == data[:bad] + bytes(4096) + data[bad + 4096 :]


def test_bare_pages_hold_every_row_of_a_sound_run(made: Path) -> None:
    found = set(carve(made / "run.sqlite"))
    with closing(connect(made / "run.sqlite", read_only=True)) as connection:
        for table in ("images", "cases", "chains", "steps", "chain_steps", "attempts", "comparisons"):
            rows = connection.execute(f"select * from {table}").fetchall()
            assert rows, table
            assert set(rows) <= found, table


@pytest.mark.parametrize(
    ("typed", "to_type"),
    [
        ("cbench run study.toml --run old --no-report", "cbench run study.toml --run new --no-report"),
        ("cbench run study.toml --run=old", "cbench run study.toml --run new"),
        ("cbench run 'my study.toml' --run 'my run' -x", "cbench run 'my study.toml' --run new -x"),
        ("cbench import set --run old --limit 3", "cbench import set --run new --limit 3"),
        ("cbench run a'b --run old", ""),
        ("cbench measure old", ""),
        ("", ""),
    ],
)
def test_what_to_type_is_the_command_that_filled_the_run_with_the_new_folder(typed: str, to_type: str) -> None:
    assert command_to_go_on([{"command": typed}, {"command": "cbench measure old"}], Path("new")) == to_type


def test_a_run_that_is_being_written_is_told_so_before_anything_is_looked_at(tmp_path: Path) -> None:
    walk(tmp_path / "run", CountingEditor(), rounds=1, cases=CASES[:1])
    with Run.create(tmp_path / "run"), pytest.raises(RunLocked, match="is being written by process"):
        recover_command(str(tmp_path / "run"), None)
