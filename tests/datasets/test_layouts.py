"""A place is read as the layout it has, or one line says what was looked for and what to type."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from convergebench.datasets import pictures
from convergebench.datasets.layouts import LAYOUTS, SetLocation, load_layout, read_chains
from convergebench.datasets.pictures import in_file, in_folder, in_part, in_zip
from convergebench.datasets.rows import read_rows, text_list
from convergebench.errors import StudyError
from tests.datasets import sets

BUILDERS: dict[str, Callable[[Path], Path]] = {
    "magicbrush": sets.magicbrush,
    "mse-bench": sets.mse_bench,
    "edival": sets.edival,
    "pico": sets.pico,
    "banana100": sets.copies,
}


def round_trip(folder: Path) -> Path:
    for name in ("I0_source", "I1_forward", "I1_backward"):
        sets.save(folder / "scene_01_ball" / f"{name}.png", sets.png(sets.scene()))
    return folder


@pytest.mark.parametrize("name", [*BUILDERS, "roundtrip"])
def test_every_set_is_known_by_its_own_layout_and_by_no_stricter_one(name: str, tmp_path: Path) -> None:
    place = BUILDERS.get(name, round_trip)(tmp_path)
    read, why, found = read_chains(place)
    assert read == name
    assert why
    assert "\n" not in why
    assert found.chains
    assert not found.faults


def test_wrong_layout_is_one_line_with_what_was_looked_for_and_what_to_type(tmp_path: Path) -> None:
    sets.pico(tmp_path)
    with pytest.raises(StudyError, match=r"not laid out as edival: looked for a CSV .* looks like --as pico") as error:
        read_chains(tmp_path, "edival")
    assert "\n" not in str(error.value)


def test_folder_without_chains_says_what_every_layout_looks_for(tmp_path: Path) -> None:
    sets.save(tmp_path / "portrait.png", sets.png(sets.scene()))
    with pytest.raises(StudyError, match="no recorded chain") as error:
        read_chains(tmp_path)
    assert "\n" not in str(error.value)
    for name in LAYOUTS:
        assert load_layout(name).LOOKS_FOR in str(error.value)


def test_unknown_layout_and_absent_place_are_one_line_each(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="did you mean 'magicbrush'"):
        read_chains(tmp_path, "magic-brush")
    with pytest.raises(StudyError, match="no folder or file"):
        read_chains(tmp_path / "nowhere")


def test_hidden_files_are_not_looked_at(tmp_path: Path) -> None:
    sets.magicbrush(tmp_path / "set" / ".cache")
    assert SetLocation(tmp_path / "set").files == []


def test_a_set_cannot_name_files_outside_its_folder(tmp_path: Path) -> None:
    sets.save(tmp_path / "secret.png", sets.png(sets.scene()))
    (tmp_path / "set").mkdir()
    for name in ("../secret.png", str(tmp_path / "secret.png")):
        with pytest.raises(StudyError, match="is outside"):
            in_folder(tmp_path / "set", name)


def test_what_the_cache_of_the_hub_links_to_belongs_to_the_set(tmp_path: Path) -> None:
    blob = sets.save(tmp_path / "datasets--x" / "blobs" / "0a1b", sets.png(sets.scene()))
    folder = tmp_path / "datasets--x" / "snapshots" / "c0ffee"
    folder.mkdir(parents=True)
    (folder / "a.png").symlink_to(Path("..") / ".." / "blobs" / "0a1b")
    assert SetLocation(folder).files == [folder / "a.png"]
    picture = in_folder(folder, "a.png")
    assert picture is not None
    assert picture.read() == blob.read_bytes()


def archive_of(path: Path, data: bytes, way: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", way) as archive:
        archive.writestr("a.png", data)
    return path


def test_what_is_larger_than_any_picture_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zeros = bytes(3 << 20)
    packed = archive_of(tmp_path / "a.zip", zeros)
    unusual = archive_of(tmp_path / "b.zip", zeros, zipfile.ZIP_LZMA)
    loose = sets.save(tmp_path / "a.png", zeros)
    assert in_zip(packed, "a.png").read() == zeros
    with pytest.raises(StudyError, match="unsupported compression method"):
        in_zip(unusual, "a.png").read()
    monkeypatch.setattr(pictures, "LARGEST", 2 << 20)
    for picture in (in_zip(packed, "a.png"), in_file(loose), in_part(loose, "a", 0, len(zeros))):
        with pytest.raises(StudyError, match="has 3 MiB, more than the 2 allowed for an image"):
            picture.read()


def test_archive_that_says_less_than_it_holds_is_not_unpacked_further(tmp_path: Path) -> None:
    path = archive_of(tmp_path / "a.zip", bytes(1 << 20))
    true, stated = (size.to_bytes(4, "little") for size in (1 << 20, 64))
    path.write_bytes(path.read_bytes().replace(true, stated))
    with pytest.raises(StudyError, match=r"cannot read a\.png from"):
        in_zip(path, "a.png").read()


def test_damaged_archive_is_one_line(tmp_path: Path) -> None:
    path = archive_of(tmp_path / "a.zip", sets.png(sets.scene()))
    data = bytearray(path.read_bytes())
    data[35:45] = b"\xff" * 10  # the first bytes of what is packed, behind the header and the name
    path.write_bytes(bytes(data))
    with pytest.raises(StudyError, match=r"cannot read a\.png from .*decompressing"):
        in_zip(path, "a.png").read()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "x,y\n1\n", "line 2: different columns"),
        ("a.csv", 'x,y\n"1,2', "not valid CSV"),
        ("a.jsonl", '{"x": 1}\n{"x": \n', "line 2: not valid JSON"),
        ("a.jsonl", "[1]\n", "line 1: should be an object"),
        ("a.json", '{"x": 1}', "should be a list of objects"),
        ("a.json", "{", "not valid JSON"),
        ("a.json", "[" * 100_000, "not valid JSON"),
        ("a.jsonl", '{"x": ' + "[" * 100_000, "line 1: not valid JSON"),
        ("a.parquet", "no parquet", "not a readable Parquet file"),
    ],
)
def test_broken_table_is_one_line(name: str, text: str, message: str, tmp_path: Path) -> None:
    path = sets.save(tmp_path / name, text.encode())
    with pytest.raises(StudyError, match=message) as error:
        read_rows(path)
    assert "\n" not in str(error.value)


def test_line_breaks_inside_texts_do_not_end_a_row(tmp_path: Path) -> None:
    lines = sets.save(tmp_path / "a.jsonl", '{"x": "one\u2028two"}\n'.encode())
    sheet = sets.save(tmp_path / "a.csv", b'x,y\n"one\ntwo",3\n')
    assert read_rows(lines) == [{"x": "one\u2028two"}]
    assert read_rows(sheet) == [{"x": "one\ntwo", "y": "3"}]


def test_lists_are_read_in_both_forms_and_nothing_else_is_run() -> None:
    assert text_list("['a', \"b's\"]", what="x") == ["a", "b's"]
    assert text_list(["a  b"], what="x") == ["a b"]
    for text in ("__import__('os').getcwd()", "['a', 1]", "a, b"):
        with pytest.raises(StudyError, match="not a list"):
            text_list(text, what="instructions")
