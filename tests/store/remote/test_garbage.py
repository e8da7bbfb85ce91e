"""`gc` removes what no row names, here and at the store, and nothing else."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from convergebench.errors import RunLocked, StudyError
from convergebench.ids import image_id
from convergebench.store.garbage import collect, find_garbage
from convergebench.store.images import file_of, open_images, write_synced
from convergebench.store.manifest import Manifest
from convergebench.store.remote import keeper
from convergebench.store.remote.address import parse_address
from convergebench.store.remote.files import RemoteFiles
from convergebench.store.remote.restore import restore
from convergebench.store.run import Run
from convergebench.store.tables import LabelRow
from convergebench.store.unfinished import PART
from convergebench.store.verify import problems
from tests.store.remote.small_run import PNG, add, content

URL = "memory://stores/one"
MANIFEST = Manifest(name="run", study="roundtrip", created="2026-01-01", spec={}, fixed={})
MADE = "2026-01-01T00:00:00.000000+00:00"
CROP, OTHER = f"evidence/{'a' * 32}.png", f"evidence/{'b' * 32}.png"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "INTERVAL", 0.02)


def littered(root: Path, url: str = "") -> list[str]:
    """A run with two images, a label with its crop, and litter of every kind; returns the names of the litter."""
    with Run.create(root) as run:
        if url:
            run.keep_at(url)
        run.write(MANIFEST)
        add(run, b"one", b"two")
        for file in (CROP, CROP.replace(".png", "-source.png"), OTHER):
            run.images.put_crop(file, b"crop")
        label = LabelRow("l1:a", "e", "c", "noise", "image", 1, 1, None, 1, None, CROP, None, "person", "me", "", MADE)
        run.journal.commit_now([label])
        lost = file_of(run.images.put(b"without a row", PNG), PNG)
    (root / "images" / "ab").mkdir(exist_ok=True)
    (root / "images" / "ab" / f"{PART}xyz").write_bytes(b"cut short")
    (root / "images" / "ab" / "holiday.png").write_bytes(b"of the user")
    (root / "notes.txt").write_text("of the user")
    (root / "evidence" / "mine.png").write_bytes(b"of the user")
    return [lost, OTHER, f"images/ab/{PART}xyz"]


def files_of(root: Path) -> set[str]:
    found = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    return {name for name in found if not name.endswith(("-wal", "-shm"))}


def names(kinds: dict[str, dict[str, int]]) -> set[str]:
    return {name for files in kinds.values() for name in files}


def test_only_litter_goes_and_only_when_asked_for(tmp_path: Path) -> None:
    root = tmp_path / "run"
    litter = set(littered(root))
    before = files_of(root)
    found = find_garbage(root)
    assert names(found.here) == litter
    assert sum(found.here["images that no row names"].values()) == len(b"without a row")
    assert files_of(root) == before
    collect(root)
    assert files_of(root) == before - litter
    assert problems(root) == []
    assert not find_garbage(root).here


def test_the_store_is_swept_too_and_what_remains_comes_back(tmp_path: Path, url: str) -> None:
    root = tmp_path / "run"
    lost, *_ = littered(root, url)
    files = RemoteFiles(parse_address(url))
    files.write("journal/0123456789abcdef/head-0000000001.json", b"of a writer of long ago")
    files.write("images/holiday.png", b"of the user")
    assert files.size(lost) == 13
    found = find_garbage(root)
    assert names(found.there) == {lost, "journal/0123456789abcdef/head-0000000001.json"}
    collect(root)
    assert files.read(lost) is None
    assert files.read("images/holiday.png") == b"of the user"
    (tmp_path / "back").mkdir()
    assert restore(parse_address(url), tmp_path / "back").missing == ()
    assert content(tmp_path / "back") == content(root)
    with Run(root) as run:  # the same bytes again: they are uploaded again
        run.images.put(b"without a row", PNG)
    assert files.read(lost) == b"without a row"


def test_nothing_is_removed_while_another_process_writes(tmp_path: Path) -> None:
    littered(tmp_path / "run")
    before = files_of(tmp_path / "run")
    with Run(tmp_path / "run"):
        before = files_of(tmp_path / "run")
        for work in (find_garbage, collect):
            with pytest.raises(RunLocked):
                work(tmp_path / "run")
    assert files_of(tmp_path / "run") == before


@pytest.mark.parametrize("damage", ["pages", "no table"])
def test_nothing_is_removed_from_a_run_whose_journal_is_damaged(tmp_path: Path, damage: str) -> None:
    root = tmp_path / "run"
    littered(root)
    if damage == "pages":
        data = bytearray((root / "run.sqlite").read_bytes())
        data[4096 * 2 : 4096 * 2 + 200] = b"\xff" * 200
        (root / "run.sqlite").write_bytes(data)
    else:
        with closing(sqlite3.connect(root / "run.sqlite")) as connection:
            connection.execute("drop table images")
    before = files_of(root)
    for work in (find_garbage, collect):
        with pytest.raises(StudyError, match=r"damaged|cannot be opened|not a"):
            work(root)
    assert before == files_of(root) - {"run.lock"} | (before & {"run.lock"})


def test_an_image_that_other_rows_name_stays_even_if_its_own_row_is_lost(tmp_path: Path) -> None:
    root = tmp_path / "run"
    with Run.create(root) as run:
        run.write(MANIFEST)
        (one,) = add(run, b"one")
    with closing(sqlite3.connect(root / "run.sqlite")) as connection, connection:
        connection.execute("insert into cases values ('c', 's', ?, 'k', 'p', 'c', 0, null)", (image_id(b"one"),))
        connection.execute("delete from images")
    collect(root)
    assert (root / one).exists()


def test_half_way_through_nothing_else_is_missing_and_the_next_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "run"
    litter = set(littered(root, URL))
    before = files_of(root)
    real, count = Path.unlink, [0]

    def killed(self: Path, missing_ok: bool = False) -> None:
        count[0] += 1
        if count[0] == 2:
            raise KeyboardInterrupt
        real(self, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", killed)
    with pytest.raises(KeyboardInterrupt):
        collect(root)
    monkeypatch.setattr(Path, "unlink", real)
    assert before - files_of(root) <= litter
    collect(root)
    assert not find_garbage(root).here
    assert problems(root) == []


def test_a_store_that_another_folder_wrote_last_is_left_alone(tmp_path: Path) -> None:
    root = tmp_path / "run"
    littered(root, URL)
    (tmp_path / "back").mkdir()
    restore(parse_address(URL), tmp_path / "back")
    with Run(tmp_path / "back") as run:
        (three,) = add(run, b"three")
    found = collect(root)
    assert "was last written from another folder" in found.note
    assert not found.there
    assert RemoteFiles(parse_address(URL)).read(three) == b"three"


def test_the_cache_can_be_emptied_of_what_the_store_has(tmp_path: Path) -> None:
    root = tmp_path / "run"
    littered(root, URL)
    write_synced(root / file_of(image_id(b"never uploaded"), PNG), b"never uploaded")
    with closing(sqlite3.connect(root / "run.sqlite")) as connection, connection:
        identity = image_id(b"never uploaded")
        connection.execute(
            "insert into images values (?, ?, 'image/png', 1, 1, 14)", (identity, file_of(identity, PNG))
        )
    found = collect(root, cache_mb=0)
    assert found.evicted == 6
    assert (root / file_of(identity, PNG)).exists()
    assert open_images(root).read(file_of(image_id(b"one"), PNG)) == b"one"
    littered(tmp_path / "local")
    with pytest.raises(StudyError, match="has no store"):
        collect(tmp_path / "local", cache_mb=0)
