"""The suites that come with the package: two manifests, and sub-suites of `builtin` by kind and size.

A sub-suite is made by a rule and has no files of its own: the pictures of one kind, the short side scaled to the size
(Lanczos), and the square cut out around the middle or the picture's `focus`. Nothing is enlarged: a picture with a
shorter side is not in it. Ids are those of `builtin`.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

from convergebench.documents import read_document
from convergebench.images.manifest import read_manifest
from convergebench.images.rows import FetchedRow, FileRow, ManifestFile, PackageRow
from convergebench.images.suite import MissingImage, Suite
from convergebench.types import Kind, SourceImage

DATA = Path(__file__).parent / "data" / "suites"


class ShippedSuite:
    """A suite of this package; calling it loads it. Its `rows` say what is in it without reading a picture."""

    def __init__(self, name: str, about: str, *, of: str = "", kind: Kind | None = None, side: int = 0) -> None:
        self.name, self.kind, self.side = name, kind, side
        self.path = DATA / f"{of or name}.toml"
        self.__doc__ = about

    def __call__(self) -> Suite:
        """Read its pictures; those that were not fetched yet are in `missing`."""
        whole = read_manifest(self.path, None if self.kind is None else [self.kind])
        return replace(whole, name=self.name) if not self.side else squares(whole, self.side, self.name)

    def rows(self) -> list[FileRow | PackageRow | FetchedRow]:
        """The rows of its manifest that belong to it."""
        content = read_document(self.path, ManifestFile)
        return [
            row
            for row in content.image
            if self.kind in (None, row.kind) and (not self.side or min(row.width, row.height) >= self.side)
        ]


def squares(suite: Suite, side: int, name: str) -> Suite:
    """The suite's pictures as squares of `side` pixels; those with a shorter side are left out."""
    lost = {one.id: one.reason for one in suite.missing}
    fitting = [image for image in suite.listed if min(image.width, image.height) >= side]
    with ThreadPoolExecutor() as pool:
        here = [image for image in fitting if image.id not in lost]
        images = tuple(pool.map(lambda image: _square(image, side, f"{name} {suite.version}"), here))
    missing = (
        MissingImage(replace(image, width=side, height=side), place, lost[image.id])
        for place, image in enumerate(fitting)
        if image.id in lost
    )
    return Suite(name, images, suite.version, tuple(missing))


def _square(image: SourceImage, side: int, name: str) -> SourceImage:
    read = partial(_read_square, image, side)
    return replace(
        image,
        sha256=hashlib.sha256(read()).hexdigest(),
        width=side,
        height=side,
        suite=name,
        source=f"{image.source}; scaled and cut to a square of {side} pixels",
        read=read,
        focus=(0.5, 0.5),
    )


def _read_square(image: SourceImage, side: int) -> bytes:
    from convergebench.images.sized import square

    return square(image.read(), side, image.focus, what=f"image '{image.id}'")


quick = ShippedSuite("quick", "Twelve small photographs, four of each kind: for trying things out.")
builtin = ShippedSuite("builtin", "A hundred photographs in balance: for results that are shown to others.")

_PARTS: dict[str, tuple[Kind | None, str]] = {
    "builtin": (None, "All photographs"),
    "portraits": ("face", "The faces"),
    "objects": ("object", "The objects and animals"),
    "scenes": ("scene", "The scenes"),
}


def _sub_suite(word: str, side: int) -> ShippedSuite:
    kind, what = _PARTS[word]
    about = f"{what} of builtin that are large enough, as squares of {side} pixels."
    return ShippedSuite(f"{word}-{side}", about, of="builtin", kind=kind, side=side)


builtin_512, builtin_1024 = _sub_suite("builtin", 512), _sub_suite("builtin", 1024)
portraits_512, portraits_1024 = _sub_suite("portraits", 512), _sub_suite("portraits", 1024)
objects_512, objects_1024 = _sub_suite("objects", 512), _sub_suite("objects", 1024)
scenes_512, scenes_1024 = _sub_suite("scenes", 512), _sub_suite("scenes", 1024)
