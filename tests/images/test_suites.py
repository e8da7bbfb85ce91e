import hashlib
import io
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from convergebench import registry
from convergebench.documents import read_document
from convergebench.errors import StudyError
from convergebench.images import Suite, load_suite
from convergebench.images.decode import decode
from convergebench.images.drawn import Drawing, keep_drawings
from convergebench.images.manifest import ManifestFile, PackageRow, RecipeRow
from convergebench.images.photographs import photograph
from convergebench.images.shipped import DATA
from convergebench.types import KINDS, SourceImage
from tests.images.samples import file_bytes, picture


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONVERGEBENCH_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="module")
def quick(cache: Path) -> Suite:
    return load_suite("quick")


def test_quick_has_four_small_images_of_each_kind(quick: Suite) -> None:
    assert quick.counts() == {"face": 4, "object": 4, "scene": 4}
    assert all(max(image.width, image.height) == 320 for image in quick.images)


def test_every_image_says_where_it_is_from_and_what_it_is(quick: Suite) -> None:
    for image in quick.images:
        data = image.read()
        assert hashlib.sha256(data).hexdigest() == image.sha256
        assert decode(data).size == (image.width, image.height)
        assert image.licence
        assert image.source


def test_photographs_of_quick_say_that_they_were_scaled_down(quick: Suite) -> None:
    photographs = [image for image in quick.images if not image.source.startswith("drawn: ")]
    assert len(photographs) >= 3
    assert all("at most 320 pixels long (Lanczos)" in image.source for image in photographs)


def test_quick_is_the_same_suite_every_time_and_fast_once_drawn(quick: Suite) -> None:
    started = time.process_time()
    again = load_suite("quick")
    assert time.process_time() - started < 0.3
    assert again.sha256 == quick.sha256
    assert again == quick


def test_a_damaged_picture_in_the_cache_is_drawn_again(quick: Suite, cache: Path) -> None:
    path = next(cache.glob("pictures/v*/wooden-table-*.png"))
    path.write_bytes(path.read_bytes()[:-100])
    assert load_suite("quick").sha256 == quick.sha256


def test_helpers_draw_the_same_bytes_as_the_caller(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawings = [Drawing("moss", seed, 256, 256) for seed in range(4)]
    with monkeypatch.context() as patch:
        patch.delattr("convergebench.images.drawn.drawing_bytes")  # so that only helpers can draw
        by_helpers = keep_drawings(drawings)
    for kept in by_helpers:
        kept.path.unlink()
    assert [keep_drawings([drawing])[0] for drawing in drawings] == by_helpers


def test_a_script_without_a_main_guard_can_load_a_suite(quick: Suite, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("from convergebench.images import load_suite\nassert len(load_suite('quick').images) == 12\n")
    assert subprocess.run([sys.executable, str(script)], check=False).returncode == 0


def test_builtin_has_a_hundred_images_in_balance() -> None:
    rows = read_document(DATA / "builtin.toml", ManifestFile).image
    assert Counter(row.kind for row in rows) == {"face": 33, "object": 33, "scene": 34}
    assert len({row.id for row in rows}) == 100


def test_builtin_mixes_photographs_with_drawings_in_five_shapes() -> None:
    rows = read_document(DATA / "builtin.toml", ManifestFile).image
    drawn = [row for row in rows if isinstance(row, RecipeRow)]
    photographs = [row for row in rows if isinstance(row, PackageRow)]
    assert {row.kind for row in photographs} == set(KINDS)
    assert all(row.width * row.height >= 1024 * 1024 for row in drawn)
    assert {round(row.width / row.height, 2) for row in drawn} == {1.0, 1.33, 0.75, 1.5, 1.78}
    assert len({(row.recipe, row.seed) for row in drawn}) == len(drawn)


@pytest.mark.parametrize("name", ["quick", "builtin"])
def test_shipped_rows_name_recipes_of_their_kind(name: str) -> None:
    from convergebench.images.pictures import RECIPES

    for row in read_document(DATA / f"{name}.toml", ManifestFile).image:
        if isinstance(row, RecipeRow):
            assert RECIPES[row.recipe].kind == row.kind, row.id


def test_photographs_of_builtin_have_their_native_size(cache: Path) -> None:
    for row in read_document(DATA / "builtin.toml", ManifestFile).image:
        if isinstance(row, PackageRow):
            image, shipped = (photograph(**{**row.model_dump(), "long_side": side}) for side in (row.long_side, None))
            assert shipped.sha256 == row.sha256
            assert (image.width, image.height) == (shipped.width, shipped.height)
            np.testing.assert_array_equal(decode(image.read()).pixels, decode(shipped.read()).pixels)


def test_editors_of_builtin_need_not_heed_colour_profiles(cache: Path) -> None:
    for row in read_document(DATA / "builtin.toml", ManifestFile).image:
        if isinstance(row, PackageRow):
            data = photograph(**row.model_dump()).read()
            np.testing.assert_array_equal(np.array(Image.open(io.BytesIO(data)).convert("RGB")), decode(data).pixels)


@pytest.mark.slow
def test_builtin_loads_whole(cache: Path) -> None:
    suite = load_suite("builtin")
    assert suite.counts() == {"face": 33, "object": 33, "scene": 34}
    assert len({image.sha256 for image in suite.images}) == 100


def test_suites_are_on_the_shelf() -> None:
    assert registry.names("suites")[:2] == ["quick", "builtin"]


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
