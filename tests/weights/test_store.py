"""Where weight files are looked for, and what is believed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from pathlib import Path

import pytest

from convergebench.errors import Prerequisite, StudyError
from convergebench.weights import checksums, find_weight, identity, locate
from convergebench.weights.store import SCRATCH_SECONDS, add_to_store, match_files, search
from tests.weights.conftest import Declared

DATA = b"some weights"


def test_a_missing_file_is_one_line_with_the_command_to_type(declare: Declared) -> None:
    declare("net", {"net.pth": DATA}, '[[weight.sources]]\nurl = "https://example.org/net.pth"')
    with pytest.raises(Prerequisite, match=r"^the weights 'net' are not here; type: cbench weights fetch net$"):
        locate("net")
    declare("mine", {"mine.pth": DATA})
    with pytest.raises(Prerequisite, match="type: cbench weights add mine PATH"):
        locate("mine")


def test_an_unknown_name_gets_the_nearest_one(declare: Declared) -> None:
    declare("net", {"net.pth": DATA})
    with pytest.raises(StudyError, match=r"unknown weights 'nett'; did you mean 'net'\? \(cbench weights list\)"):
        locate("nett")


@pytest.mark.parametrize("place", ["net.pth", "net/net.pth", "other-name.bin"])
def test_a_named_folder_is_searched_by_name_and_by_checksum(
    declare: Declared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    declare("net", {"net.pth": DATA})
    path = tmp_path / "mine" / place
    path.parent.mkdir(parents=True)
    path.write_bytes(DATA)
    monkeypatch.setenv("CONVERGEBENCH_WEIGHTS", f"~nobody-here/weights:{tmp_path / 'nowhere'}:{tmp_path / 'mine'}")
    assert locate("net") == path


def test_a_file_with_the_right_name_and_other_contents_is_not_believed(
    declare: Declared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare("net", {"net.pth": DATA})
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "net.pth").write_bytes(b"Some weights")
    monkeypatch.setenv("CONVERGEBENCH_WEIGHTS", str(tmp_path))
    with pytest.raises(Prerequisite, match="is a different file: its checksum differs"):
        locate("net")


def test_what_is_added_is_kept_and_found(declare: Declared, tmp_path: Path, empty_store: Path) -> None:
    declare("pair", {"a/config.json": b"{}", "model.bin": DATA})
    (tmp_path / "given" / "a").mkdir(parents=True)
    (tmp_path / "given" / "a" / "config.json").write_bytes(b"{}")
    (tmp_path / "given" / "model.bin").write_bytes(DATA)
    weight = find_weight("pair")
    assert add_to_store(weight, match_files(weight, tmp_path / "given")) == empty_store / "pair"
    assert locate("pair") == empty_store / "pair"
    found = search(weight)
    assert found is not None
    assert found.place == "store"


def test_nothing_is_kept_when_one_file_is_wrong(declare: Declared, tmp_path: Path, empty_store: Path) -> None:
    declare("pair", {"a.bin": DATA, "b.bin": b"right"})
    for name, data in (("a.bin", DATA), ("b.bin", b"wrong")):
        (tmp_path / name).write_bytes(data)
    weight = find_weight("pair")
    with pytest.raises(StudyError, match=r"b\.bin is not the file 'b.bin' of 'pair': sha256 .*; nothing was kept"):
        add_to_store(weight, match_files(weight, tmp_path))
    assert not empty_store.exists()
    with pytest.raises(StudyError, match=r"has no file 'a\.bin', which 'pair' needs"):
        match_files(weight, empty_store.parent.parent / "catalogue")


def test_a_checksum_nobody_knew_is_recorded_at_first_and_must_stay(
    declare: Declared, tmp_path: Path, empty_store: Path
) -> None:
    declare("hub-only", {"model.bin": DATA}, sha256="")
    (tmp_path / "model.bin").write_bytes(DATA)
    weight = find_weight("hub-only")
    assert identity("hub-only") == "unknown"
    kept = add_to_store(weight, match_files(weight, tmp_path / "model.bin"))
    assert identity("hub-only") != "unknown"
    assert locate("hub-only") == kept
    kept.write_bytes(b"Some weights")
    with pytest.raises(Prerequisite, match="its checksum differs"):
        locate("hub-only")


def test_an_installed_package_is_looked_into_and_not_imported(
    declare: Declared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    (site / "netpackage-1.0.dist-info").mkdir(parents=True)
    (site / "netpackage-1.0.dist-info" / "METADATA").write_text("Name: netpackage\nVersion: 1.0\n")
    (site / "netpackage").mkdir()
    (site / "netpackage" / "__init__.py").write_text("raise SystemExit('it was imported')")
    (site / "netpackage" / "net.pth").write_bytes(DATA)
    monkeypatch.syspath_prepend(site)
    source = '[[weight.sources]]\npackage = "netpackage"\nversion = "1.0"\nmembers = ["netpackage/net.pth"]'
    declare("net", {"net.pth": DATA}, source)
    assert locate("net") == site / "netpackage" / "net.pth"


@pytest.mark.parametrize("path", ["../net.pth", "/net.pth", "a/../../b", ""])
def test_a_declared_path_stays_inside_its_folder(declare: Declared, path: str) -> None:
    declare("net", {path: DATA})
    with pytest.raises(StudyError, match="relative and stay inside"):
        find_weight("net")


def test_a_source_names_as_many_files_as_there_are(declare: Declared) -> None:
    declare("net", {"a": DATA, "b": DATA}, '[[weight.sources]]\nurl = "https://example.org/a"')
    with pytest.raises(StudyError, match="names 1 files where there are 2"):
        find_weight("net")


@pytest.mark.parametrize("before", ["link", "file", "other"])
def test_what_stands_in_the_way_is_put_aside_and_nothing_behind_a_link_is_touched(
    declare: Declared, tmp_path: Path, empty_store: Path, before: str
) -> None:
    declare("net", {"net.pth": DATA})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "net.pth").write_bytes(b"mine")
    empty_store.mkdir(parents=True)
    if before == "link":
        (empty_store / "net").symlink_to(tmp_path / "elsewhere")
    elif before == "file":
        (empty_store / "net").write_bytes(b"a file")
    else:
        shutil.copytree(tmp_path / "elsewhere", empty_store / "net")
    (tmp_path / "given").write_bytes(DATA)
    assert add_to_store(find_weight("net"), {"net.pth": tmp_path / "given"}).read_bytes() == DATA
    assert (tmp_path / "elsewhere" / "net.pth").read_bytes() == b"mine"
    assert [path.name for path in empty_store.iterdir()] == ["net"]


def test_what_a_killed_process_left_is_swept_up_in_time(declare: Declared, tmp_path: Path, empty_store: Path) -> None:
    declare("net", {"net.pth": DATA})
    for name, age in ((".arriving-old", SCRATCH_SECONDS + 60), (".arriving-now", 0)):
        (empty_store / name).mkdir(parents=True)
        os.utime(empty_store / name, (time.time() - age,) * 2)
    (tmp_path / "given").write_bytes(DATA)
    add_to_store(find_weight("net"), {"net.pth": tmp_path / "given"})
    assert sorted(path.name for path in empty_store.iterdir()) == [".arriving-now", "net"]


def test_a_large_file_is_read_once_for_all_processes_and_again_when_it_changes(
    declare: Declared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checksums, "LARGE", len(DATA))
    path = tmp_path / "net.pth"
    path.write_bytes(DATA)

    def in_a_new_process() -> str:
        checksums._sha256.cache_clear()
        return checksums.sha256_of(path)

    right = in_a_new_process()
    with monkeypatch.context() as patch:
        patch.setattr(hashlib, "file_digest", None)
        assert in_a_new_process() == right
    was = path.stat()
    path.write_bytes(DATA[::-1])
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert in_a_new_process() == hashlib.sha256(DATA[::-1]).hexdigest(), "same size, same time, other contents"
    checksums.forget_checksums()
    assert not (tmp_path / "cache" / checksums.NOTES).exists()
    facts = path.stat()
    for odd in ("", "[1, 2]", json.dumps({f"{facts.st_dev}:{facts.st_ino}": 3})):
        (tmp_path / "cache" / checksums.NOTES).write_text(odd)
        assert in_a_new_process() == hashlib.sha256(DATA[::-1]).hexdigest()


def test_a_cache_that_cannot_be_written_only_costs_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checksums, "LARGE", 1)
    (tmp_path / "taken").write_bytes(DATA)
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path / "taken" / "cache"))
    assert checksums.sha256_of(tmp_path / "taken") == hashlib.sha256(DATA).hexdigest()
