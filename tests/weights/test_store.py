"""Where weight files are looked for, and what is believed."""

from __future__ import annotations

from pathlib import Path

import pytest

from convergebench.errors import Prerequisite, StudyError
from convergebench.weights import find_weight, identity, locate
from convergebench.weights.store import gather, keep, search
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
    monkeypatch.setenv("CONVERGEBENCH_WEIGHTS", f"{tmp_path / 'nowhere'}:{tmp_path / 'mine'}")
    assert locate("net") == path


def test_a_file_with_the_right_name_and_other_contents_is_not_believed(
    declare: Declared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare("net", {"net.pth": DATA})
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "net.pth").write_bytes(b"Some weights")
    monkeypatch.setenv("CONVERGEBENCH_WEIGHTS", str(tmp_path))
    with pytest.raises(Prerequisite, match="is another file: its checksum differs"):
        locate("net")


def test_what_is_added_is_kept_and_found(declare: Declared, tmp_path: Path, empty_store: Path) -> None:
    declare("pair", {"a/config.json": b"{}", "model.bin": DATA})
    (tmp_path / "given" / "a").mkdir(parents=True)
    (tmp_path / "given" / "a" / "config.json").write_bytes(b"{}")
    (tmp_path / "given" / "model.bin").write_bytes(DATA)
    weight = find_weight("pair")
    assert keep(weight, gather(weight, tmp_path / "given")) == empty_store / "pair"
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
        keep(weight, gather(weight, tmp_path))
    assert not empty_store.exists()
    with pytest.raises(StudyError, match=r"has no file 'a\.bin', which 'pair' needs"):
        gather(weight, empty_store.parent.parent / "catalogue")


def test_a_checksum_nobody_knew_is_recorded_at_first_and_must_stay(
    declare: Declared, tmp_path: Path, empty_store: Path
) -> None:
    declare("hub-only", {"model.bin": DATA}, sha256="")
    (tmp_path / "model.bin").write_bytes(DATA)
    weight = find_weight("hub-only")
    assert identity("hub-only") == "unknown"
    kept = keep(weight, gather(weight, tmp_path / "model.bin"))
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
    with pytest.raises(StudyError, match="relative and stays inside"):
        find_weight("net")


def test_a_source_names_as_many_files_as_there_are(declare: Declared) -> None:
    declare("net", {"a": DATA, "b": DATA}, '[[weight.sources]]\nurl = "https://example.org/a"')
    with pytest.raises(StudyError, match="names 1 files where there are 2"):
        find_weight("net")
