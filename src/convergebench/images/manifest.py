"""Suites as TOML: one `[[image]]` table an image, each a file beside the manifest or one inside an installed package.

name = "portraits"

[[image]]
id = "anna"
kind = "face"
licence = "CC-BY-4.0"
source = "https://example.org/anna"
sha256 = "…"
path = "images/anna.jpg"        # or: package + file
"""

from __future__ import annotations

import hashlib
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Discriminator, Field, StringConstraints, Tag

from convergebench.documents import Strict, read_document
from convergebench.errors import Prerequisite, StudyError
from convergebench.images.suite import Suite
from convergebench.types import Kind, SourceImage

Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=120)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Text = Annotated[str, StringConstraints(min_length=1)]
Package = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]\w*$")]

_DISTRIBUTIONS = {"skimage": "scikit-image", "sklearn": "scikit-learn"}


class _Facts(Strict):
    id: Identifier
    kind: Kind
    licence: Text
    source: Text
    sha256: Sha256


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


def _form(row: object) -> str | None:
    forms = [form for form in ("path", "package") if isinstance(row, dict) and form in row]
    return forms[0] if len(forms) == 1 else None


ImageRow = Annotated[
    Annotated[FileRow, Tag("path")] | Annotated[PackageRow, Tag("package")],
    Discriminator(_form, custom_error_type="form", custom_error_message="an image needs exactly one of: path, package"),
]


def _no_recipes(rows: object) -> object:
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and "recipe" in row:
            raise ValueError(
                f"{row.get('id')!r:.80} has a recipe, and ConvergeBench no longer draws pictures; give a file with "
                "path and sha256 (`cbench suite export` of the version that drew it writes both)"
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
    title: str = ""
    curation: Curation | None = None
    image: Annotated[tuple[ImageRow, ...], Field(min_length=1), BeforeValidator(_no_recipes)]


def read_manifest(path: Path) -> Suite:
    """The suite a manifest describes; raises `StudyError` if a file's sha256 differs."""
    content = read_document(path, ManifestFile)
    return Suite(content.name, tuple(_image(row, path.parent) for row in content.image))


def _image(row: FileRow | PackageRow, folder: Path) -> SourceImage:
    from convergebench.images.decode import probe

    read = partial(_read_file, row.locate(folder), row.sha256, id=row.id)
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
