"""Suites as TOML: one `[[image]]` table an image, each a file, a photograph out of a package, or a drawing.

name = "portraits"

[[image]]
id = "anna"
kind = "face"
licence = "CC-BY-4.0"
source = "https://example.org/anna"
sha256 = "…"
path = "images/anna.jpg"        # or: package + file (+ long_side), or: recipe + seed + width + height
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated

from pydantic import Discriminator, Field, StringConstraints, Tag

from convergebench.documents import Strict, read_document
from convergebench.errors import StudyError
from convergebench.images.cache import Kept
from convergebench.images.drawn import Drawing, drawn_image, keep_drawings
from convergebench.images.photographs import photograph
from convergebench.images.suite import Suite
from convergebench.types import Kind, SourceImage

Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=120)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Text = Annotated[str, StringConstraints(min_length=1)]
Recipe = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Package = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]\w*$")]
Side = Annotated[int, Field(ge=16, le=8192)]


class FileRow(Strict):
    """An image given by a file beside the manifest."""

    id: Identifier
    kind: Kind
    licence: Text
    source: Text
    sha256: Sha256
    path: Text
    group: Text | None = None


class PackageRow(Strict):
    """A photograph inside an installed package; `sha256` is that of the file as shipped, before any scaling."""

    id: Identifier
    kind: Kind
    licence: Text
    source: Text
    sha256: Sha256
    package: Package
    file: Text
    long_side: Side | None = None


class RecipeRow(Strict):
    """A picture that the package draws."""

    id: Identifier
    kind: Kind
    recipe: Recipe
    seed: Annotated[int, Field(ge=0)]
    width: int
    height: int

    def drawing(self) -> Drawing:
        """What to draw."""
        return Drawing(self.recipe, self.seed, self.width, self.height)


def _form(row: object) -> str | None:
    forms = [form for form in ("path", "package", "recipe") if isinstance(row, dict) and form in row]
    return forms[0] if len(forms) == 1 else None


ImageRow = Annotated[
    Annotated[FileRow, Tag("path")] | Annotated[PackageRow, Tag("package")] | Annotated[RecipeRow, Tag("recipe")],
    Discriminator(
        _form,
        custom_error_type="form",
        custom_error_message="an image needs exactly one of: path, package, recipe",
    ),
]


class Curation(Strict):
    """How a curated suite was chosen; for people, not read back."""

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
    title: str = ""
    curation: Curation | None = None
    image: Annotated[tuple[ImageRow, ...], Field(min_length=1)]


def read_manifest(path: Path) -> Suite:
    """The suite a manifest describes; a file whose sha256 differs is an error, never a different image."""
    content = read_document(path, ManifestFile)
    drawings = [row.drawing() for row in content.image if isinstance(row, RecipeRow)]
    kept = dict(zip(drawings, keep_drawings(drawings), strict=True))
    return Suite(content.name, tuple(_image(row, path.parent, kept) for row in content.image))


def _image(row: FileRow | PackageRow | RecipeRow, folder: Path, kept: Mapping[Drawing, Kept]) -> SourceImage:
    if isinstance(row, RecipeRow):
        return drawn_image(row.drawing(), kept[row.drawing()], id=row.id, kind=row.kind)
    if isinstance(row, PackageRow):
        return photograph(**row.model_dump())
    from convergebench.images.decode import probe

    read = partial(_read_file, folder / row.path, row.sha256, id=row.id)
    facts = probe(read(), what=f"image '{row.id}'")
    return SourceImage(
        id=row.id,
        kind=row.kind,
        sha256=row.sha256,
        width=facts.width,
        height=facts.height,
        licence=row.licence,
        source=row.source,
        read=read,
    )


def _read_file(path: Path, sha256: str, *, id: str) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StudyError(f"image '{id}': cannot read {path}: {error.strerror or error}") from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise StudyError(f"image '{id}': {path} is not the file of the manifest (its sha256 differs)")
    return data
