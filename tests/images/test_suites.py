import hashlib
import io
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from convergebench import registry
from convergebench.edits.pairs import load_pairs, misfit
from convergebench.errors import Prerequisite, StudyError
from convergebench.images import Suite, load_suite
from convergebench.images._table import TABLE
from convergebench.images.decode import decode
from convergebench.images.rows import LONGEST, FetchedRow, FileRow, PackageRow
from convergebench.images.shipped import DATA, ShippedSuite, squares
from convergebench.images.suite import MissingImage
from convergebench.types import EditPair, SourceImage
from tests.images.samples import file_bytes, picture

SUITES = ("quick", "builtin")
LARGEST_TOTAL = 29_000_000
"""Bytes of pictures that a repository can carry."""


def rows(name: str) -> list[FileRow | PackageRow | FetchedRow]:
    suite = registry.load("suites", name)
    assert isinstance(suite, ShippedSuite)
    return suite.rows()


@pytest.fixture(scope="module", params=SUITES)
def suite(request: pytest.FixtureRequest) -> Suite:
    return load_suite(request.param, partial=True)


def test_quick_has_four_small_photographs_of_each_kind() -> None:
    quick = load_suite("quick")
    assert quick.counts() == {"face": 4, "object": 4, "scene": 4}
    assert all(max(image.width, image.height) == 320 for image in quick.images)
    assert quick.title == "quick 2"


def test_quick_is_shipped_whole_and_its_photographs_are_those_of_builtin() -> None:
    assert all(isinstance(row, FileRow) for row in rows("quick"))
    originals = {row.id: row.origin for row in rows("builtin")}
    assert all(row.origin == originals[row.id] for row in rows("quick"))


def test_every_photograph_says_what_it_is_where_it_is_from_and_whom_to_credit(suite: Suite) -> None:
    for image in suite.images:
        data = image.read()
        assert hashlib.sha256(data).hexdigest() == image.sha256
        assert decode(data).size == (image.width, image.height)
        assert image.credit.startswith("Photo: "), image.id
        assert image.licence in image.credit, image.id
        assert image.title.endswith("."), image.id
        assert image.holds, image.id
        assert image.package, image.id
        assert image.package.split()[1] in image.credit, image.id


def test_what_the_manifest_says_of_sizes_is_true(suite: Suite) -> None:
    sizes = {row.id: (row.width, row.height) for row in rows(suite.name)}
    assert all(sizes[image.id] == (image.width, image.height) for image in suite.images)
    assert all(max(size) <= LONGEST for size in sizes.values())


def test_quick_loads_fast() -> None:
    load_suite("quick")
    started = time.process_time()
    load_suite("quick")
    assert time.process_time() - started < 0.3


def test_every_shipped_file_belongs_to_a_suite_and_all_are_small_enough() -> None:
    named = {row.locate(DATA) for name in (*SUITES, "restoration") for row in rows(name) if isinstance(row, FileRow)}
    files = {path for path in DATA.rglob("*") if path.is_file() and path.suffix not in (".toml", ".txt")}
    assert files == named
    assert sum(path.stat().st_size for path in files) < LARGEST_TOTAL


def test_builtin_has_a_hundred_different_photographs_in_balance() -> None:
    assert Counter(row.kind for row in rows("builtin")) == {"face": 33, "object": 33, "scene": 34}
    for facts in ("id", "sha256"):
        assert len({getattr(row, facts) for row in rows("builtin")}) == 100
    assert len({row.origin.sha256 for row in rows("builtin") if row.origin}) == 100


def test_nothing_that_is_fetched_hangs_on_a_debian_mirror() -> None:
    fetched = [row for row in rows("builtin") if isinstance(row, FetchedRow)]
    assert fetched
    assert {row.origin.registry for row in fetched} <= {"npm", "pypi"}
    assert all(row.origin.size for row in fetched), "a download knows how long a picture may be"


def test_editors_need_not_heed_colour_profiles_or_orientation(suite: Suite) -> None:
    for image in suite.images:
        data = image.read()
        np.testing.assert_array_equal(np.array(Image.open(io.BytesIO(data)).convert("RGB")), decode(data).pixels)


@pytest.mark.parametrize("pair", load_pairs(["v1"]), ids=lambda pair: pair.id)
def test_every_pair_of_version_1_has_enough_pictures_that_do_not_hold_it(pair: EditPair) -> None:
    fitting = [row for row in rows("builtin") if row.kind in pair.kinds and not misfit(row.holds, pair)]
    assert len(fitting) >= 20


@pytest.mark.skipif("FETCHED" not in os.environ, reason="not run by make test, which fetches the photographs first")
def test_all_of_builtin_can_be_fetched_and_read_here() -> None:
    suite = load_suite("builtin")
    assert len(suite.images) == 100
    for image in suite.images:
        if image.package.startswith(("npm", "pypi")):
            assert hashlib.sha256(image.read()).hexdigest() == image.sha256


def test_without_its_fetched_photographs_builtin_says_what_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path))
    monkeypatch.setenv("CONVERGEBENCH_WEIGHTS", "")
    with pytest.raises(Prerequisite, match=r"of the 100 images .* type: cbench suite fetch builtin$"):
        load_suite("builtin")
    with pytest.raises(Prerequisite, match=r"type: cbench suite fetch portraits-512$"):
        load_suite("portraits-512")
    assert len(load_suite("builtin", partial=True).of_kind("scene")) == 34


@pytest.mark.parametrize("name", ["scenes-1024", "objects-1024"])
def test_a_sub_suite_has_squares_of_the_pictures_of_one_kind_that_are_large_enough(name: str) -> None:
    kind = name.split("s-")[0]
    suite = load_suite(name)
    large = [row for row in rows("builtin") if row.kind == kind and min(row.width, row.height) >= 1024]
    assert [image.id for image in suite.images] == [row.id for row in large] == [row.id for row in rows(name)]
    assert {(image.width, image.height, image.kind) for image in suite.images} == {(1024, 1024, kind)}
    first = suite.images[0]
    assert hashlib.sha256(first.read()).hexdigest() == first.sha256
    assert decode(first.read()).size == (1024, 1024)
    assert first.suite == f"{name} 2"
    assert first.credit == large[0].credit
    assert first.source.endswith("; scaled and cut to a square of 1024 pixels")


def test_a_missing_picture_keeps_its_place_among_the_squares() -> None:
    small, large, other = (source(id, size=size) for id, size in (("s", (20, 30)), ("l", (40, 30)), ("o", (32, 64))))
    gaps = tuple(
        MissingImage(source(id, size=size), place, "why")
        for id, size, place in (("far", (99, 98), 1), ("f", (9, 98), 3))
    )
    found = squares(Suite("whole", (small, large, other), 2, gaps), 30, "part")
    assert [one.id for one in found.listed] == ["far", "l", "o"]
    assert [(image.width, image.height) for image in found.images] == [(30, 30)] * 2


def test_suites_are_on_the_shelf() -> None:
    assert registry.names("suites")[:2] == [*SUITES]
    assert {f"{word}-{side}" for word in ("builtin", "portraits", "objects", "scenes") for side in (512, 1024)} == {
        *TABLE
    } - {*SUITES, "restoration", "restoration-quick"}


def test_an_unknown_suite_is_answered_with_a_suggestion() -> None:
    with pytest.raises(StudyError, match=r"unknown suite 'quik'; did you mean 'quick'\? \(cbench list suites"):
        load_suite("quik")


def source(id: str, *, seed: int = 0, size: tuple[int, int] = (24, 16)) -> SourceImage:
    data = file_bytes(picture(*size, seed=seed))
    sha256 = hashlib.sha256(data).hexdigest()
    return SourceImage(id, "face", sha256, *size, "CC0-1.0", "test", lambda: data)


def test_the_hash_of_a_suite_changes_with_names_and_pixels() -> None:
    hashes = {
        Suite("s", (source("a"),)).sha256,
        Suite("s", (source("b"),)).sha256,
        Suite("s", (source("a", seed=1),)).sha256,
        Suite("s", (source("a"), source("b", seed=1))).sha256,
    }
    assert len(hashes) == 4
    assert Suite("other name", (source("a"),)).sha256 in hashes


def test_a_suite_has_images_with_different_names() -> None:
    with pytest.raises(StudyError, match="no images"):
        Suite("s", ())
    with pytest.raises(StudyError, match="two images called 'a'"):
        Suite("s", (source("a"), source("a", seed=1)))


def test_the_names_of_the_room_load_nothing_until_used() -> None:
    code = (
        "import sys, convergebench.images as room, convergebench.images._table; "
        "assert not {'numpy', 'cv2', 'PIL', 'pydantic'} & set(sys.modules); "
        "assert sorted(room.__all__) == room.__all__ and all(getattr(room, name) for name in room.__all__)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
