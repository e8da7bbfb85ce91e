"""A folder of images as a suite.

The kind of an image comes from `kinds.csv` in the folder (columns file, kind) if there is one, else from the
name of a sub-folder (face, portrait, object, scene; plural too), else it is 'scene'. `source` says which. The file may
also say what an image shows (column `title`), what it holds (`holds`, separated by semicolons), its `licence` and its
line of `credit`.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from convergebench.errors import StudyError
from convergebench.images.decode import decode
from convergebench.images.suite import Suite
from convergebench.kinds import is_word
from convergebench.types import KINDS, Kind, SourceImage

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".avif", ".gif"})

_KIND_FOLDERS: Mapping[str, Kind] = {
    "face": "face",
    "faces": "face",
    "portrait": "face",
    "portraits": "face",
    "object": "object",
    "objects": "object",
    "scene": "scene",
    "scenes": "scene",
}
_SHOWN = 5


def read_folder(folder: Path) -> Suite:
    """Every image below `folder`, each decoded once as a check; one error names all unreadable ones."""
    files = image_files(folder)
    if not files:
        raise StudyError(f"no images in {folder} (looked for {', '.join(sorted(SUFFIXES))})")
    kinds, told = kinds_file(folder), _told(folder)
    ids = image_ids([path.relative_to(folder) for path in files])
    with ThreadPoolExecutor() as pool:
        found = list(pool.map(partial(_image_or_fault, folder, kinds=kinds, told=told), files, ids))
    images = [one for one in found if isinstance(one, SourceImage)]
    faults = [one for one in found if isinstance(one, str)]
    if faults:
        more = f"; and {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else ""
        raise StudyError(f"{len(faults)} of {len(files)} images in {folder}: {'; '.join(faults[:_SHOWN])}{more}")
    return Suite(folder.resolve().name, tuple(sorted(images, key=lambda image: image.id)))


def image_files(folder: Path) -> list[Path]:
    """Image files below a folder by suffix, sorted, without hidden ones."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in SUFFIXES
        and path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )


def image_ids(files: Sequence[Path]) -> list[str]:
    """One id per file: its name without suffix where that is unique, else its path, else its path with suffix."""
    stems = Counter(slug(path.stem) for path in files)
    paths = Counter(slug("-".join(path.with_suffix("").parts)) for path in files)
    ids = []
    for path in files:
        stem, longer = slug(path.stem), slug("-".join(path.with_suffix("").parts))
        ids.append(stem if stems[stem] == 1 else longer if paths[longer] == 1 else slug("-".join(path.parts)))
    return ids


def slug(name: str) -> str:
    """A name as an id: letters, digits, dot, dash and underscore."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._") or "image"


def _image_or_fault(
    folder: Path, path: Path, id: str, *, kinds: Mapping[str, Kind], told: Mapping[str, _Told]
) -> SourceImage | str:
    try:
        return _image(folder, path, id=id, kinds=kinds, told=told)
    except StudyError as error:
        return str(error)


def _image(folder: Path, path: Path, *, id: str, kinds: Mapping[str, Kind], told: Mapping[str, _Told]) -> SourceImage:
    relative = path.relative_to(folder)
    says = told.get(relative.as_posix(), _Told())
    data = path.read_bytes()
    sha256 = hashlib.sha256(data).hexdigest()
    frame = decode(data, what=relative.as_posix())
    kind, origin = kind_of(relative, kinds)
    return SourceImage(
        id=id,
        kind=kind,
        sha256=sha256,
        width=frame.width,
        height=frame.height,
        licence=says.licence or "not stated",
        source=f"{folder.resolve().name}/{relative.as_posix()} ({origin})",
        read=partial(_read_unchanged, path, sha256),
        title=says.title,
        holds=says.holds,
        credit=says.credit,
    )


def kind_of(relative: Path, kinds: Mapping[str, Kind]) -> tuple[Kind, str]:
    """An image's kind and where it comes from: `kinds`, else the nearest folder named after a kind, else 'scene'."""
    listed = kinds.get(relative.as_posix())
    if listed is not None:
        return listed, "kind from kinds.csv"
    for part in reversed(relative.parts[:-1]):
        if part.lower() in _KIND_FOLDERS:
            return _KIND_FOLDERS[part.lower()], "kind from the folder's name"
    return "scene", "kind not stated, taken as scene"


def kinds_file(folder: Path) -> Mapping[str, Kind]:
    """The content of `kinds.csv`: relative path → kind; empty without the file."""
    path = folder / "kinds.csv"
    if not path.is_file():
        return {}
    kinds: dict[str, Kind] = {}
    for row in _csv_rows(path):
        name, word = row["file"] or "", (row["kind"] or "").strip()
        if not is_word(word):
            raise StudyError(f"{path}: the kind of '{name}' is '{word}', not {', '.join(KINDS)} or a word of your own")
        if not name or not (folder / name).is_file():
            raise StudyError(f"{path} names '{name}', which is not there")
        kinds[Path(name).as_posix()] = word
    return kinds


class _Told(NamedTuple):
    """What `kinds.csv` says of an image beside its kind."""

    title: str = ""
    holds: tuple[str, ...] | None = None
    licence: str = ""
    credit: str = ""


def _told(folder: Path) -> Mapping[str, _Told]:
    path = folder / "kinds.csv"
    return {} if not path.is_file() else {Path(row["file"] or "").as_posix(): _said(row) for row in _csv_rows(path)}


def _said(row: Mapping[str, str | None]) -> _Told:
    title, holds, licence, credit = ((row.get(name) or "").strip() for name in _Told._fields)
    nouns = tuple(noun for one in holds.split(";") if (noun := one.strip()))
    return _Told(title, nouns or None, licence, credit)


def _csv_rows(path: Path) -> list[dict[str, str | None]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            reader = csv.DictReader(stream)
            names, rows = set(reader.fieldnames or ()), list(reader)
    except (UnicodeDecodeError, csv.Error) as error:
        raise StudyError(f"{path} is not a CSV file in UTF-8: {error}") from error
    if not {"file", "kind"} <= names:
        raise StudyError(f"{path} needs the columns file, kind")
    return rows


def _read_unchanged(path: Path, sha256: str) -> bytes:
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise StudyError(f"{path} has changed since the suite was loaded; start again")
    return data
