"""The schema of a suite's manifest: one `[[image]]` table an image.

name = "portraits"
version = 1

[[image]]
id = "anna"
kind = "face"
title = "A woman in a red coat on a bridge"
holds = ["woman", "coat", "bridge", "hat"]
licence = "CC-BY-4.0"
author = "Jo Doe"
credit = "Photo: Jo Doe, “Anna”, CC BY 4.0"
source = "https://example.org/anna"
sha256 = "…"                    # of the bytes that are used
path = "images/anna.jpg"        # or: package + file; or only origin, then the file is fetched
focus = [0.5, 0.3]              # where a square cut should have its centre
clean = "anna-clean"            # the image that this one is a degraded copy of
degradation = "motion-blur"     # what it was degraded by
origin = { registry = "npm", package = "x", version = "1.0.0", path = "package/a.jpg", sha256 = "…", size = 12345 }
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, StringConstraints, Tag, model_validator

from convergebench.documents import Strict
from convergebench.errors import Prerequisite
from convergebench.kinds import require_word
from convergebench.registry import suggest
from convergebench.types import Kind

Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=120)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Text = Annotated[str, StringConstraints(min_length=1)]
Noun = Annotated[str, StringConstraints(min_length=2, max_length=60, strip_whitespace=True)]
Package = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]\w*$")]
Share = Annotated[float, Field(ge=0, le=1)]
Length = Annotated[int, Field(ge=0)]
Side = Annotated[int, Field(ge=1)]

LONGEST = 1536
"""Long side, in pixels, that fetched photographs are scaled to if they are larger."""

_DISTRIBUTIONS = {"skimage": "scikit-image", "sklearn": "scikit-learn"}


class PictureOrigin(Strict):
    """The published package that holds the original of a picture."""

    registry: Literal["pypi", "npm", "debian"]
    package: Text
    version: Text
    path: Text
    """Inside the package."""
    sha256: Sha256
    """Of the original's bytes."""
    size: Annotated[int, Field(ge=0)] = 0
    """Its bytes; 0: not known."""
    cut: tuple[Length, Length, Side] | None = None
    """The square that was cut out of the upright original: left, top and side in pixels."""

    @property
    def label(self) -> str:
        """`npm froala-design-blocks 2.0.1`."""
        return f"{self.registry} {self.package} {self.version}"


class _Facts(Strict):
    id: Identifier
    kind: Kind
    title: str = ""
    holds: tuple[Noun, ...] | None = None
    licence: Text
    author: str = ""
    credit: str = ""
    source: str = ""
    sha256: Sha256
    focus: tuple[Share, Share] = (0.5, 0.5)
    width: Annotated[int, Field(ge=0)] = 0
    """In pixels, as used; 0: read it from the file."""
    height: Annotated[int, Field(ge=0)] = 0
    origin: PictureOrigin | None = None
    clean: Annotated[str, StringConstraints(max_length=120)] = ""
    """Id of the image in the same manifest that this one is a degraded copy of."""
    degradation: Annotated[str, AfterValidator(lambda name: require_word(name) if name else name)] = ""

    @model_validator(mode="after")
    def _says_where_it_is_from(self) -> _Facts:
        if not self.source and self.origin is None:
            raise ValueError("an image needs a source (who made it, where it was published) or an origin")
        return self

    @property
    def described_source(self) -> str:
        """Who made it and where it comes from, in one line."""
        if self.source or self.origin is None:
            return self.source
        cut = self.origin.cut
        enlarged = f", a square of {cut[2]} pixels enlarged to {self.width}" if cut and cut[2] < self.width else ""
        return f"{self.author or 'author not stated'}; {self.origin.label}, {self.origin.path}{enlarged}"


class FileRow(_Facts):
    """An image given by a file; `path` is relative to the manifest."""

    path: Text
    group: Text | None = None

    def locate(self, folder: Path) -> Path:
        """Path of its file, for a manifest in `folder`."""
        return folder / self.path


class PackageRow(_Facts):
    """A photograph inside an installed package."""

    package: Package
    file: Text

    def locate(self, folder: Path) -> Path:
        """Path of its file; raises `Prerequisite` if the package is not installed."""
        spec = find_spec(self.package)
        for root in (spec and spec.submodule_search_locations) or ():
            path = Path(root) / self.file
            if path.is_file():
                return path
        name = _DISTRIBUTIONS.get(self.package, self.package)
        raise Prerequisite(f"the photograph '{self.id}' comes with {name}: pip install \"convergebench[photos]\"")


class FetchedRow(_Facts):
    """A photograph that is taken out of a published package: `cbench suite fetch`.

    Its bytes are used as they are if `sha256` is the original's; else the picture is turned upright, converted to sRGB
    and scaled to a long side of at most `LONGEST` pixels.
    """

    origin: PictureOrigin
    width: Annotated[int, Field(ge=1)]
    height: Annotated[int, Field(ge=1)]

    @model_validator(mode="after")
    def _can_be_fetched(self) -> FetchedRow:
        if self.origin.registry == "debian":
            raise ValueError(
                "images of Debian packages cannot be fetched, because mirrors drop old versions; give path"
            )
        return self


def _form(row: object) -> str | None:
    forms = [form for form in ("path", "package") if isinstance(row, dict) and form in row]
    if not forms and isinstance(row, dict) and "origin" in row:
        return "origin"
    return forms[0] if len(forms) == 1 else None


ImageRow = Annotated[
    Annotated[FileRow, Tag("path")] | Annotated[PackageRow, Tag("package")] | Annotated[FetchedRow, Tag("origin")],
    Discriminator(
        _form,
        custom_error_type="form",
        custom_error_message="an image needs exactly one of path and package, or an origin to fetch it from",
    ),
]


def _no_recipes(rows: object) -> object:
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and "recipe" in row:
            raise ValueError(
                f"{row.get('id')!r:.80} has a recipe, but ConvergeBench no longer draws images; give a file with "
                f"path and sha256 (`cbench suite export` of the version that drew it writes both)"
            )
    return rows


class Curation(Strict):
    """How a curated suite was selected; for readers, not used when the suite is loaded."""

    source: str
    layout: str
    n: int
    seed: int
    kinds: tuple[Kind, ...]
    kind_rule: str
    candidates: int
    duplicates: int
    unreadable: int


class ManifestFile(Strict):
    """A whole manifest."""

    name: Identifier
    version: Annotated[int, Field(ge=1)] = 1
    title: str = ""
    square: Length = 0
    """Side in pixels of the squares that all images are scaled and cropped to; 0 = they are used as they are."""
    curation: Curation | None = None
    image: Annotated[tuple[ImageRow, ...], Field(min_length=1), BeforeValidator(_no_recipes)]

    @model_validator(mode="after")
    def _clean_images_are_there(self) -> ManifestFile:
        rows = {row.id: row for row in self.image}
        for row in self.image:
            if row.clean and (row.clean == row.id or row.clean not in rows):
                lack = "that is itself" if row.clean == row.id else f"there is no such image{suggest(row.clean, rows)}"
                raise ValueError(f"image '{row.id}' has clean = '{row.clean}', and {lack}")
            if row.clean and rows[row.clean].clean:
                raise ValueError(f"image '{row.id}' has clean = '{row.clean}', which is itself a degraded copy")
        return self
