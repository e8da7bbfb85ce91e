"""Photographs that come out of published packages: fetched once, checked, used as they are or scaled, or named."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from convergebench.conductor.suites import fetch_suite
from convergebench.errors import Prerequisite, StudyError
from convergebench.images.decode import decode
from convergebench.images.sized import at_most
from convergebench.images.suite import load_suite
from tests.images.samples import picture
from tests.weights.conftest import Server, empty_store, server, sha256, tarred

__all__ = ["empty_store", "server"]

IMAGE = """
[[image]]
id = "{id}"
kind = "{kind}"
title = "A test picture"
holds = ["hat"]
licence = "CC-BY-2.0"
author = "Jo Doe"
credit = "Photo: Jo Doe, CC BY 2.0"
sha256 = "{used}"
width = {width}
height = {height}
origin = {{ registry = "{registry}", package = "{package}", version = "1.0", path = "{path}", sha256 = "{sha256}" }}
"""


def photograph(width: int, height: int, seed: int) -> bytes:
    out = io.BytesIO()
    Image.fromarray(picture(width, height, seed=seed)).save(out, "JPEG", quality=90)
    return out.getvalue()


SMALL, OTHER, LARGE, WEB = (photograph(*size) for size in ((60, 40, 1), (40, 60, 2), (1600, 8, 3), (50, 50, 4)))


def row(id: str, data: bytes, path: str, *, package: str = "photos", registry: str = "pypi", kind: str = "face") -> str:
    used = at_most(data, 1536) if decode(data).width > 1536 else data
    frame = decode(used)
    size = {"width": frame.width, "height": frame.height}
    names = {"id": id, "kind": kind, "registry": registry, "package": package, "path": path}
    return IMAGE.format(used=sha256(used), sha256=sha256(data), **names, **size)


@pytest.fixture
def suite(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """A manifest with three pictures of one Python package and one of an npm package, which are all published."""
    members = {"photos/a.jpg": SMALL, "photos/b.jpg": OTHER, "photos/large.jpg": LARGE, "photos/__init__.py": b"1/0"}
    server.serve_package("photos", "1.0", members, wheel=True)
    server.files["/@web/pictures/-/pictures-1.0.tgz"] = tarred("package", {"w.jpg": WEB})
    listing = {"versions": {"1.0": {"dist": {"tarball": f"{server.address}/@web/pictures/-/pictures-1.0.tgz"}}}}
    server.files["/@web%2fpictures"] = json.dumps(listing).encode()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", f"{server.address}/")
    path = tmp_path / "suite.toml"
    rows = [
        row("a", SMALL, "photos/a.jpg"),
        row("w", WEB, "package/w.jpg", package="@web/pictures", registry="npm", kind="scene"),
        row("b", OTHER, "photos/b.jpg", kind="object"),
        row("large", LARGE, "photos/large.jpg"),
    ]
    path.write_text('name = "mine"\nversion = 2\n' + "".join(rows), encoding="utf-8")
    return str(path)


def fetched(suite: str) -> list[str]:
    lines: list[str] = []
    fetch_suite(suite, say=lines.append)
    return lines


def test_before_fetching_the_suite_says_what_to_type(suite: str) -> None:
    with pytest.raises(Prerequisite) as caught:
        load_suite(suite)
    assert str(caught.value) == (
        "4 of the 4 images of the suite 'mine' are not here: a, w, b, large (not fetched from pypi photos 1.0, "
        f"and others); type: cbench suite fetch {suite}"
    )


def test_each_package_is_downloaded_once_and_its_pictures_are_used(suite: str, server: Server) -> None:
    assert fetched(suite) == [
        "pypi photos 1.0: 3 pictures fetched",
        "npm @web/pictures 1.0: 1 picture fetched",
        f"{suite}: all 4 images are here",
    ]
    assert [path for path in server.asked if path.endswith((".whl", ".tgz"))] == [
        "/files/photos-1.0-py3-none-any.whl",
        "/@web/pictures/-/pictures-1.0.tgz",
    ]
    images = {image.id: image for image in load_suite(suite).images}
    assert [*images] == ["a", "w", "b", "large"]
    assert (images["a"].read(), images["w"].read()) == (SMALL, WEB), "bytes are used as they are"
    assert (images["a"].holds, images["a"].package, images["a"].suite) == (("hat",), "pypi photos 1.0", "mine 2")
    assert images["a"].source == "Jo Doe; pypi photos 1.0, photos/a.jpg"
    asked = len(server.asked)
    assert "3 pictures already here" in fetched(suite)[0]
    assert len(server.asked) == asked


def test_a_picture_that_is_too_long_is_scaled_and_has_the_hash_of_the_manifest(suite: str) -> None:
    fetched(suite)
    (large,) = (image for image in load_suite(suite).images if image.id == "large")
    assert (large.width, large.height) == (1536, 8)
    assert sha256(large.read()) == large.sha256
    whole = Image.fromarray(decode(LARGE).pixels)
    scaled = np.asarray(whole.resize((1536, 8), Image.Resampling.LANCZOS))
    np.testing.assert_array_equal(decode(large.read()).pixels, scaled)


def test_what_cannot_be_fetched_is_named_and_the_rest_stays(suite: str, server: Server) -> None:
    del server.files["/@web%2fpictures"]
    with pytest.raises(Prerequisite, match=r"1 of the 4 images of .* could not be fetched: w; try again, or run"):
        fetched(suite)
    loaded = load_suite(suite, partial=True)
    assert [image.id for image in loaded.images] == ["a", "b", "large"]
    assert [(one.id, one.place, one.reason) for one in loaded.missing] == [
        ("w", 1, "not fetched from npm @web/pictures 1.0")
    ]
    assert [image.id for image in loaded.listed] == ["a", "w", "b", "large"]


def test_a_picture_that_is_not_the_published_one_is_never_kept(suite: str, server: Server) -> None:
    server.files["/simple/photos/"] = b""
    server.serve_package("photos", "1.0", {"photos/a.jpg": OTHER, "photos/b.jpg": SMALL}, wheel=True)
    with pytest.raises(Prerequisite, match="3 of the 4 images"):
        fetched(suite)
    assert [image.id for image in load_suite(suite, partial=True).images] == ["w"]


def test_a_picture_that_this_machine_decodes_otherwise_is_named_and_not_used(suite: str) -> None:
    path = Path(suite)
    large = sha256(at_most(LARGE, 1536))
    path.write_text(path.read_text(encoding="utf-8").replace(large, "0" * 64), encoding="utf-8")
    with pytest.raises(Prerequisite, match=r"1 of the 4 images .* cannot be used \(large: Pillow .* different pixels"):
        fetched(suite)
    assert [one.id for one in load_suite(suite, partial=True).missing] == ["large"]


def test_a_picture_of_a_debian_package_has_to_come_as_a_file(tmp_path: Path) -> None:
    path = tmp_path / "suite.toml"
    path.write_text('name = "mine"\n' + row("a", SMALL, "usr/share/a.jpg", registry="debian"), encoding="utf-8")
    with pytest.raises(StudyError, match="cannot be fetched, because mirrors drop old versions; give path"):
        load_suite(str(path))


def test_a_suite_without_such_pictures_has_nothing_to_fetch() -> None:
    assert fetched("quick") == ["quick: all 12 images are here"]
