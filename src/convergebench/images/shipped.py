"""The suites that come with the package: three manifests, and sub-suites by kind and size.

A sub-suite is made by a rule and has no files of its own: pictures of one kind or some chosen ones, as squares
(`convergebench.images.squares`). Nothing is enlarged: a picture with a shorter side is not in it. Ids are those of the
whole suite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from convergebench.documents import read_document
from convergebench.images.manifest import read_manifest
from convergebench.images.rows import FetchedRow, FileRow, ManifestFile, PackageRow
from convergebench.images.squares import squares as squares
from convergebench.images.suite import Suite
from convergebench.types import Kind

DATA = Path(__file__).parent / "data" / "suites"


class ShippedSuite:
    """A suite of this package; calling it loads it. Its `rows` say what is in it without reading a picture."""

    def __init__(
        self,
        name: str,
        about: str,
        *,
        of: str = "",
        kind: Kind | None = None,
        side: int = 0,
        chosen: Sequence[str] = (),
    ) -> None:
        self.name, self.kind, self.side, self.chosen = name, kind, side, tuple(chosen)
        self.path = DATA / f"{of or name}.toml"
        self.__doc__ = about

    def __call__(self) -> Suite:
        """Read its pictures; those that were not fetched yet are in `missing`."""
        whole = read_manifest(self.path, None if self.kind is None else [self.kind], self.chosen)
        return replace(whole, name=self.name) if not self.side else squares(whole, self.side, self.name)

    def rows(self) -> list[FileRow | PackageRow | FetchedRow]:
        """The rows of its manifest that belong to it, with the sizes that are used."""
        content = read_document(self.path, ManifestFile)
        used = {"width": content.square, "height": content.square} if content.square else {}
        return [
            row.model_copy(update=used)
            for row in content.image
            if self.kind in (None, row.kind)
            and (not self.chosen or row.id in self.chosen)
            and (not self.side or min(row.width, row.height) >= self.side)
        ]


quick = ShippedSuite("quick", "Twelve small photographs, four of each kind, for first tries.")
builtin = ShippedSuite("builtin", "A hundred photographs, balanced over kinds, for results to publish.")
restoration = ShippedSuite(
    "restoration", "Images of the thirteen scene kinds of the study restoration, as squares of 1024 pixels."
)
restoration_quick = ShippedSuite(
    "restoration-quick",
    "Seven images, each of a different scene kind, as squares of 512 pixels, for first tries with restorers.",
    of="restoration",
    side=512,
    chosen=(
        *("maine-coon-cat", "cartoon-band", "old-man-in-riga", "couple-on-the-steps", "typewritten-recipe"),
        *("leaves-above-a-creek", "checked-shirt"),
    ),
)

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
