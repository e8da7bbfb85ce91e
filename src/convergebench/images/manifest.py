"""Suites as TOML: `convergebench.images.rows` has the schema. Every file is checked against its sha256."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from pathlib import Path

from convergebench.documents import read_document
from convergebench.errors import Prerequisite, StudyError
from convergebench.images.packaged import find_originals
from convergebench.images.rows import LONGEST, FetchedRow, FileRow, ManifestFile, PackageRow
from convergebench.images.suite import MissingImage, Suite
from convergebench.types import SourceImage

Row = FileRow | PackageRow | FetchedRow


def read_manifest(path: Path, kinds: Iterable[str] | None = None, ids: Collection[str] = ()) -> Suite:
    """The suite a manifest describes (or its images of these kinds and ids); `StudyError` if a file's sha256 differs.

    Photographs that were not fetched yet are in `missing`.
    """
    content = read_document(path, ManifestFile)
    rows = [row for row in content.image if (kinds is None or row.kind in kinds) and (not ids or row.id in ids)]
    originals = find_originals([row for row in rows if isinstance(row, FetchedRow)])
    title = f"{content.name} {content.version}" if content.version > 1 else ""
    images: list[SourceImage] = []
    missing: list[MissingImage] = []
    for place, row in enumerate(rows):
        found = _image(row, path.parent, originals, title)
        if isinstance(found, SourceImage):
            images.append(found)
        else:
            lost = _described(row, (row.width, row.height), partial(_not_here, row.id, found), title)
            missing.append(MissingImage(lost, place, found))
    suite = Suite(content.name, tuple(images), content.version, tuple(missing))
    return suite if not content.square else _squares(suite, content.square, path)


def _squares(suite: Suite, side: int, path: Path) -> Suite:
    from convergebench.images.squares import squares

    for image in suite.listed:
        if min(image.width, image.height) < side:
            raise StudyError(
                f"{path}: image '{image.id}' has {image.width} × {image.height} pixels, too few for square = {side}; "
                "give a smaller square, or leave it out"
            )
    return squares(suite, side, suite.name, keep=True)


def _image(row: Row, folder: Path, originals: Mapping[str, Path], suite: str) -> SourceImage | str:
    """The image, or why it is not here."""
    from convergebench.images.decode import probe

    if not isinstance(row, FetchedRow):
        read: Callable[[], bytes] = partial(_read_file, row.locate(folder), row.sha256, id=row.id)
    elif row.id in originals:
        read = partial(_read_original, originals[row.id], row)
    else:
        return f"not fetched from {row.origin.label}"
    try:
        facts = probe(read(), what=f"image '{row.id}'")
    except Prerequisite as error:
        return str(error)
    return _described(row, (facts.width, facts.height), read, suite)


def _described(row: Row, size: tuple[int, int], read: Callable[[], bytes], suite: str) -> SourceImage:
    return SourceImage(
        id=row.id,
        kind=row.kind,
        sha256=row.sha256,
        width=size[0],
        height=size[1],
        licence=row.licence,
        source=row.described_source,
        read=read,
        title=row.title,
        holds=row.holds,
        credit=row.credit,
        package=row.origin.label if row.origin else "",
        suite=suite,
        clean=row.clean,
        degradation=row.degradation,
        focus=row.focus,
    )


def _not_here(id: str, reason: str) -> bytes:
    raise Prerequisite(f"image '{id}' is not here: {reason}")


def _read_file(path: Path, sha256: str, *, id: str) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StudyError(f"image '{id}': cannot read {path}: {error.strerror or error}") from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise StudyError(f"image '{id}': {path} is not the file of the manifest (its sha256 differs)")
    return data


def _read_original(path: Path, row: FetchedRow) -> bytes:
    """The picture as it is used; `Prerequisite` if this machine decodes its original to other pixels."""
    data = _read_file(path, row.origin.sha256, id=row.id)
    if row.sha256 == row.origin.sha256:
        return data
    from convergebench.images.sized import at_most

    scaled = at_most(data, LONGEST, what=f"image '{row.id}'")
    if hashlib.sha256(scaled).hexdigest() != row.sha256:
        import PIL

        raise Prerequisite(f"Pillow {PIL.__version__} decodes or scales it to different pixels than the suite records")
    return scaled
