"""The suite of the thirteen kinds of scenes: what is in it, how large, whose, and that it is shipped."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from convergebench import registry
from convergebench.documents import read_document
from convergebench.errors import StudyError
from convergebench.images import Suite, load_suite
from convergebench.images.decode import decode
from convergebench.images.manifest import read_manifest
from convergebench.images.rows import FileRow, ManifestFile
from convergebench.images.shipped import DATA, ShippedSuite
from convergebench.images.sized import square
from convergebench.studies.restoration_table import SCENES
from tests.images.samples import file_bytes, picture

LARGEST_NEW = 6_000_000
"""Bytes of pictures that only this suite needs."""
ENLARGED = {"painted-gathering": 940, "lady-in-pencil": 1002}
"""Pictures of kinds for which no larger original was found, with the side of the cut in pixels."""


def rows(name: str = "restoration") -> list[FileRow]:
    suite = registry.load("suites", name)
    assert isinstance(suite, ShippedSuite)
    found = suite.rows()
    assert all(isinstance(row, FileRow) for row in found), "nothing is fetched"
    return [row for row in found if isinstance(row, FileRow)]


@pytest.fixture(scope="module")
def scenes() -> Suite:
    return load_suite("restoration")


def test_every_scene_is_there_and_most_have_several_pictures(scenes: Suite) -> None:
    counts = {kind: len(scenes.of_kind(kind)) for kind in SCENES}
    assert {image.kind for image in scenes.images} == set(SCENES)
    assert {kind for kind, count in counts.items() if count < 2} == {"small-face", "crowd"}
    assert max(counts.values()) <= 4
    assert len(scenes.images) == 33


def test_every_picture_is_a_square_of_1024_pixels_with_the_hash_of_its_bytes(scenes: Suite) -> None:
    for image in scenes.images:
        data = image.read()
        assert (image.width, image.height) == (1024, 1024)
        assert hashlib.sha256(data).hexdigest() == image.sha256
        pixels = decode(data).pixels
        assert pixels.shape == (1024, 1024, 3)
        assert pixels.std() > 5, image.id
    assert len({image.sha256 for image in scenes.images}) == len(scenes.images)


def test_every_picture_has_a_licence_an_author_a_credit_and_an_origin() -> None:
    for row in rows():
        assert row.origin is not None
        assert row.author, row.id
        assert row.licence in row.credit, row.id
        assert row.author in row.credit or row.path.startswith("builtin-"), row.id
        assert f"via {row.origin.package} {row.origin.version}" in row.credit, row.id
        assert row.origin.size, row.id
        assert row.title.endswith("."), row.id
        assert row.holds, row.id


def test_licences_allow_changed_copies_for_every_purpose() -> None:
    licences = {row.licence for row in rows()}
    assert not [one for one in licences if "NC" in one or "ND" in one or "GPL" in one]


def test_pictures_of_builtin_are_those_files_and_the_others_lie_beside_their_licences() -> None:
    builtin = {row.id: row for row in rows_of_builtin()}
    own = [row for row in rows() if not row.path.startswith("builtin-")]
    told = (DATA / "restoration-1" / "LICENCES.txt").read_text(encoding="utf-8")
    for row in rows():
        if row not in own:
            same = builtin[row.id]
            assert (row.path, row.sha256, row.origin, row.credit) == (same.path, same.sha256, same.origin, same.credit)
    for row in own:
        assert row.origin is not None
        assert f"  {row.id}: {row.author}" in told
        assert row.origin.path in told
    assert sum((DATA / row.path).stat().st_size for row in own) < LARGEST_NEW


def rows_of_builtin() -> list[FileRow]:
    suite = registry.load("suites", "builtin")
    return [row for row in suite.rows() if isinstance(row, FileRow)]


def test_nothing_is_enlarged_but_what_says_so(scenes: Suite) -> None:
    cuts = {row.id: row.origin.cut for row in rows() if row.origin and row.origin.cut}
    assert {id: cut[2] for id, cut in cuts.items() if cut[2] < 1024} == ENLARGED
    sources = {image.id: image.source for image in scenes.images}
    assert {id for id, source in sources.items() if "enlarged to 1024" in source} == set(ENLARGED)
    files = read_document(DATA / "restoration.toml", ManifestFile).image
    assert all(min(row.width, row.height) >= 1024 for row in files)


def test_different_cuts_of_one_original_overlap_little() -> None:
    """Two pictures of one kind must not be the same thing twice."""
    cut = [(row.origin.sha256, row.kind, row.origin.cut) for row in rows() if row.origin and row.origin.cut]
    for index, (original, kind, (left, top, side)) in enumerate(cut):
        for other, its_kind, (its_left, its_top, its_side) in cut[index + 1 :]:
            if (other, its_kind) == (original, kind):
                wide = min(left + side, its_left + its_side) - max(left, its_left)
                high = min(top + side, its_top + its_side) - max(top, its_top)
                assert max(wide, 0) * max(high, 0) < 0.2 * min(side, its_side) ** 2


def test_the_quick_one_is_seven_kinds_at_half_the_size(scenes: Suite) -> None:
    quick = load_suite("restoration-quick")
    assert len(quick.images) == len({image.kind for image in quick.images}) == 7
    assert {(image.width, image.height) for image in quick.images} == {(512, 512)}
    whole = {image.id: image for image in scenes.images}
    for image in quick.images:
        assert image.kind == whole[image.id].kind
        np.testing.assert_array_equal(decode(image.read()).pixels, decode(square(whole[image.id].read(), 512)).pixels)
    assert [image.id for image in quick.images] == [row.id for row in rows("restoration-quick")]


MANIFEST = """name = "own"
square = {side}

[[image]]
id = "wide"
kind = "scene"
licence = "CC0-1.0"
source = "made here"
sha256 = "{sha256}"
path = "wide.png"
focus = [1.0, 0.5]
"""


def own_manifest(folder: Path, side: int) -> Path:
    data = file_bytes(picture(60, 40))
    (folder / "wide.png").write_bytes(data)
    path = folder / "own.toml"
    path.write_text(MANIFEST.format(side=side, sha256=hashlib.sha256(data).hexdigest()), encoding="utf-8")
    return path


def test_only_the_chosen_pictures_of_a_manifest_are_read(tmp_path: Path) -> None:
    path = own_manifest(tmp_path, 40)
    absent = MANIFEST.partition("\n\n")[2].format(sha256="0" * 64).replace("wide", "absent")
    path.write_text(f"{path.read_text(encoding='utf-8')}\n{absent}", encoding="utf-8")
    assert [image.id for image in read_manifest(path, ids=["wide"]).images] == ["wide"]
    with pytest.raises(StudyError, match="image 'absent': cannot read"):
        read_manifest(path)


def test_a_manifest_of_ones_own_may_ask_for_squares(tmp_path: Path) -> None:
    (image,) = read_manifest(own_manifest(tmp_path, 40)).images
    whole = decode((tmp_path / "wide.png").read_bytes()).pixels
    np.testing.assert_array_equal(decode(image.read()).pixels, whole[:, 20:])


def test_a_picture_too_small_for_the_squares_is_named_and_not_dropped(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"image 'wide' has 60 × 40 pixels, too few for square = 41") as error:
        read_manifest(own_manifest(tmp_path, 41))
    assert "\n" not in str(error.value)
