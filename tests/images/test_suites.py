import hashlib
import io
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from convergebench import registry
from convergebench.documents import read_document
from convergebench.errors import StudyError
from convergebench.images import Suite, load_suite
from convergebench.images.decode import decode
from convergebench.images.manifest import FileRow, ManifestFile, PackageRow
from convergebench.images.shipped import DATA
from convergebench.types import KINDS, SourceImage
from tests.images.samples import file_bytes, picture

SUITES = ("quick", "builtin")
LARGEST_TOTAL = 9_000_000
"""Bytes of pictures that a repository can carry."""


def rows(name: str) -> tuple[FileRow | PackageRow, ...]:
    return read_document(DATA / f"{name}.toml", ManifestFile).image


@pytest.fixture(scope="module", params=SUITES)
def suite(request: pytest.FixtureRequest) -> Suite:
    return load_suite(request.param)


def test_quick_has_four_small_images_of_each_kind() -> None:
    quick = load_suite("quick")
    assert quick.counts() == {"face": 4, "object": 4, "scene": 4}
    assert all(max(image.width, image.height) == 320 for image in quick.images)


def test_quick_has_the_same_content_on_every_machine_and_in_every_version() -> None:
    assert load_suite("quick").sha256 == "491c4013118ea1fe8608a4eb89a6993abd8853d9a269ec56170c5fd8f11d8386"


def test_quick_needs_no_other_package() -> None:
    assert all(isinstance(row, FileRow) for row in rows("quick"))


def test_every_image_says_where_it_is_from_and_what_it_is(suite: Suite) -> None:
    for image in suite.images:
        data = image.read()
        assert hashlib.sha256(data).hexdigest() == image.sha256
        assert decode(data).size == (image.width, image.height)
        assert image.licence
        assert image.source


def test_drawn_images_are_free_and_say_what_was_done_to_them(suite: Suite) -> None:
    drawn = [image for image in suite.images if image.source.startswith("drawn: ")]
    stored = "; stored as WebP of quality 83" if suite.name == "builtin" else ""
    assert len(drawn) == {"quick": 8, "builtin": 92}[suite.name]
    assert all(image.licence == "CC0-1.0" and image.source.endswith(f"renderer 2{stored}") for image in drawn)


def test_photographs_of_quick_say_that_they_were_scaled_down() -> None:
    photographs = [row for row in rows("quick") if not row.source.startswith("drawn: ")]
    assert len(photographs) == 4
    assert all("at most 320 pixels long (Lanczos)" in row.source for row in photographs)


def test_quick_loads_fast() -> None:
    load_suite("quick")
    started = time.process_time()
    load_suite("quick")
    assert time.process_time() - started < 0.3


def test_every_shipped_file_belongs_to_a_suite_and_all_are_small_enough() -> None:
    named = {row.locate(DATA) for name in SUITES for row in rows(name) if isinstance(row, FileRow)}
    files = {path for path in DATA.rglob("*") if path.is_file() and path.suffix != ".toml"}
    assert files == named
    assert sum(path.stat().st_size for path in files) < LARGEST_TOTAL


def test_builtin_has_a_hundred_images_in_balance() -> None:
    assert Counter(row.kind for row in rows("builtin")) == {"face": 33, "object": 33, "scene": 34}
    assert len({row.id for row in rows("builtin")}) == len({row.sha256 for row in rows("builtin")}) == 100


def test_builtin_mixes_photographs_with_drawings_in_five_shapes() -> None:
    images = load_suite("builtin").images
    drawn = [image for image in images if image.source.startswith("drawn: ")]
    assert {image.kind for image in images if image not in drawn} == set(KINDS)
    assert all(image.width * image.height >= 1024 * 1024 for image in drawn)
    assert {round(image.width / image.height, 2) for image in drawn} == {1.0, 1.33, 0.75, 1.5, 1.78}


def test_editors_need_not_heed_colour_profiles(suite: Suite) -> None:
    for image in suite.images:
        if not image.source.startswith("drawn: "):
            data = image.read()
            np.testing.assert_array_equal(np.array(Image.open(io.BytesIO(data)).convert("RGB")), decode(data).pixels)


def test_suites_are_on_the_shelf() -> None:
    assert registry.names("suites")[:2] == [*SUITES]


def test_an_unknown_suite_is_answered_with_a_suggestion() -> None:
    with pytest.raises(StudyError, match=r"unknown suite 'quik'; did you mean 'quick'\? \(cbench list suites"):
        load_suite("quik")


def source(id: str, *, seed: int = 0) -> SourceImage:
    data = file_bytes(picture(seed=seed))
    sha256 = hashlib.sha256(data).hexdigest()
    return SourceImage(id, "face", sha256, 24, 16, "CC0-1.0", "test", lambda: data)


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
