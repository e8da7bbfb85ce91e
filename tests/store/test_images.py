"""Bytes are what their name says: a file that is not is never adopted, sent, measured or kept."""

from __future__ import annotations

import os
import pickle
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convergebench.errors import StudyError
from convergebench.ids import image_id
from convergebench.store.images import DamagedImage, ImageStore, file_of, identity_of, open_images
from convergebench.store.run import Run
from convergebench.store.unfinished import OLD

DATA = b"bytes that were paid for"


def place(root: Path, data: bytes = DATA) -> Path:
    path = root / file_of(image_id(data), "image/png")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def link_to(target: bytes | None) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        elsewhere = path.parents[2] / "elsewhere"
        if target is not None:
            elsewhere.write_bytes(target)
        path.symlink_to(elsewhere)

    return make


def unreadable(path: Path) -> None:
    path.write_bytes(DATA[:5])
    path.chmod(0)


def full_folder(path: Path) -> None:
    path.mkdir()
    (path / "something").write_text("of somebody")


IN_THE_WAY: dict[str, Callable[[Path], object]] = {
    "cut short": lambda path: path.write_bytes(DATA[:10]),
    "empty": lambda path: path.write_bytes(b""),
    "same length, other bytes": lambda path: path.write_bytes(DATA[::-1]),
    "longer": lambda path: path.write_bytes(DATA + b"!"),
    "may not be read": unreadable,
    "a link to other bytes": link_to(b"other"),
    "a link to nothing": link_to(None),
    "a link to the same bytes": link_to(DATA),
    "an empty folder": lambda path: path.mkdir(),
    "a folder with a file": full_folder,
}


@pytest.mark.parametrize("what", IN_THE_WAY)
def test_whatever_lies_in_the_way_the_good_bytes_are_stored(tmp_path: Path, what: str) -> None:
    path = place(tmp_path)
    IN_THE_WAY[what](path)
    store = ImageStore(tmp_path)
    identity = store.put(DATA, "image/png")
    assert path.read_bytes() == DATA
    assert not path.is_symlink()
    assert store.read(store.file_of(identity, "image/png")) == DATA
    if what == "a folder with a file":
        assert len(list(tmp_path.rglob("something"))) == 1, "what was there is put aside"
    if what == "a link to other bytes":
        assert (tmp_path / "elsewhere").read_bytes() == b"other"


@settings(max_examples=60, deadline=None)
@given(good=st.binary(min_size=1, max_size=300), other=st.binary(max_size=300))
def test_what_is_put_is_what_is_read_whatever_was_there_before(good: bytes, other: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = place(Path(folder), good)
        path.write_bytes(other)
        store = ImageStore(Path(folder))
        file = path.relative_to(folder).as_posix()
        if other != good:
            with pytest.raises(DamagedImage, match="has changed since it was stored"):
                store.read(file)
        store.put(good, "image/png")
        assert store.read(file) == good
        assert identity_of(file) == image_id(good)


@pytest.mark.parametrize(
    "file",
    ["../secret.txt", "/etc/passwd", "images/../../secret.txt", "images/ab/cd.png", "", "images/ab", "f", "images/\0"],
)
def test_a_name_that_no_stored_image_has_is_not_opened(tmp_path: Path, file: str) -> None:
    (tmp_path.parent / "secret.txt").write_text("mine")
    with pytest.raises(DamagedImage, match="cbench recover"):
        ImageStore(tmp_path).read(file)


def test_a_file_that_is_named_as_another_image_is_not_the_one_that_is_meant(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    identity = store.put(DATA, "image/png")
    other = store.put(b"other", "image/png")
    assert store.read(store.file_of(identity, "image/png"), identity) == DATA
    with pytest.raises(DamagedImage, match="a different image"):
        store.read(store.file_of(identity, "image/png"), other)


def test_a_damaged_image_is_one_line_that_names_the_file_and_what_to_type(tmp_path: Path) -> None:
    path = place(tmp_path)
    for damage in (lambda: path.write_bytes(b"x"), path.unlink, path.mkdir):
        damage()
        with pytest.raises(StudyError) as caught:
            ImageStore(tmp_path).read(path.relative_to(tmp_path).as_posix())
        assert path.name in str(caught.value)
        assert f"cbench recover {tmp_path}" in str(caught.value)
        assert "\n" not in str(caught.value)


def test_it_is_told_by_a_worker_process_too(tmp_path: Path) -> None:
    error = DamagedImage(tmp_path, "images/ab/cd.png", "is missing")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.file) == (str(error), error.file)


def test_leftovers_anywhere_in_a_run_are_swept_and_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / ".part-theirs").write_bytes(b"x")
    root = tmp_path / "run"
    for folder in (".", "images/ab", "evidence", "report/thumbs", "tables"):
        (root / folder).mkdir(parents=True, exist_ok=True)
        (root / folder / ".part-killed").write_bytes(b"half")
    (root / "linked").symlink_to(outside)
    old, young = root / "tables" / ".steps.csv.123.part", root / "tables" / ".steps.csv.124.part"
    for part in (old, young):
        part.write_bytes(b"half")
    os.utime(old, (time.time() - OLD - 10,) * 2)
    assert ImageStore(root).sweep() == 6
    assert list(root.rglob(".part-*")) == []
    assert (outside / ".part-theirs").exists()
    assert not old.exists()
    assert young.exists(), "somebody may be writing a report at this moment"


def test_a_worker_process_reads_the_same_images(tmp_path: Path) -> None:
    with Run.create(tmp_path / "run") as run:
        identity = run.images.put(DATA, "image/png")
        there: ImageStore = pickle.loads(pickle.dumps(run.images))
        assert there.root == run.root
        assert there.read(there.file_of(identity, "image/png"), identity) == DATA


def test_what_is_shown_is_what_is_there_and_nothing_where_it_cannot_be_read(tmp_path: Path) -> None:
    store = open_images(tmp_path)
    store.put_crop("evidence/a.png", DATA)
    (tmp_path / "evidence" / "folder.png").mkdir()
    assert [store.view(f"evidence/{name}.png") for name in ("a", "b", "folder")] == [DATA, None, None]


@pytest.mark.parametrize("again", [False, True])
def test_the_names_of_new_folders_are_synced_even_where_a_killed_session_made_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    """A power cut may take a folder whose own name was never synced, with all that is in it."""
    if again:  # whoever stored it may have been killed before the first sync
        open_images(tmp_path).put(DATA, "image/png")
    synced: list[Path] = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(Path(f"/proc/self/fd/{handle}").readlink()))
    store = open_images(tmp_path)
    store.put(DATA, "image/png")
    assert {place(tmp_path).parent, tmp_path / "images", tmp_path} <= set(synced)
    synced.clear()
    store.put(DATA, "image/png")
    assert synced == [place(tmp_path).parent], "the folders above only once a session"
