"""The spoilt pictures that results of restoration belong to: of a folder, of a suite's manifest, or of a run.

A result belongs to the picture of the same name, whatever its extension and folder, as long as the name is
unambiguous: `small-face/001`, or `001` if no other folder has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import Any

from convergebench.datasets.chains import Picture, RecordedSource
from convergebench.datasets.pictures import in_file, is_image
from convergebench.errors import StudyError
from convergebench.images.folder import slug
from convergebench.images.inside import is_inside
from convergebench.images.manifest import read_manifest
from convergebench.kinds import LONGEST_WORD, is_word
from convergebench.store.images import read_image
from convergebench.store.manifest import read_manifest as read_run_manifest
from convergebench.store.queries.examining import cases_by_id
from convergebench.store.records import Records
from convergebench.store.tables import ImageRow
from convergebench.studies.restoration_table import DEGRADATIONS, SCENES
from convergebench.types import Kind, SourceImage

MADE = ("_out", "_restored", "_result", "_sr")
"""What methods add to the name of a picture that they restored."""


@dataclass(frozen=True, slots=True)
class SpoiltPicture:
    """A picture to be restored and, where there is one, the clean picture that a result is compared with."""

    name: str
    """Its path below the folder, without extension: `small-face/001`."""
    source: RecordedSource
    clean: RecordedSource | None = None


@dataclass(frozen=True)
class SpoiltPictures:
    """All of a set, in order."""

    pictures: tuple[SpoiltPicture, ...]
    origin: str
    """For messages."""

    @cached_property
    def by_name(self) -> dict[str, SpoiltPicture | None]:
        """Path, id and, where only one has it, name; None: several have it."""
        found: dict[str, SpoiltPicture | None] = {one.name: one for one in self.pictures}
        for one in self.pictures:
            for other in {one.source.id, PurePosixPath(one.name).name}:
                found[other] = one if found.get(other, one) is one else None
        return {**found, **{one.name: one for one in self.pictures}}

    def belonging(self, path: PurePosixPath) -> tuple[SpoiltPicture, tuple[str, ...]] | None:
        """The picture that a result belongs to, and the folders above its name; None if there is none."""
        stem = path.stem if path.suffix else path.name
        plain = next((stem.removesuffix(word) for word in MADE if stem.endswith(word)), stem)
        for name in dict.fromkeys((stem, plain)):
            parts = (*path.parts[:-1], name)
            for first in range(len(parts)):
                picture = self.by_name.get("/".join(parts[first:]))
                if picture is not None:
                    return picture, parts[:first]
        return None


def of_folder(folder: Path, clean: Path | None, *, category: str = "", root: Path | None = None) -> list[SpoiltPicture]:
    """The pictures of a folder; sub-folders are kinds. Clean ones have the same names in the folder `clean`."""
    root = root or folder
    files = [path for path in sorted(folder.rglob("*")) if is_image(path) and path.is_file() and is_inside(root, path)]
    references = _by_stem(clean, root) if clean is not None else {}
    found: dict[str, SpoiltPicture] = {}
    for path in files:
        inside = path.relative_to(folder).with_suffix("")
        name = PurePosixPath(category, *inside.parts)
        kind = kind_of(name.parent.as_posix()) if name.parent.parts else None
        id = slug("-".join(name.parts))  # of the whole path, so that more pictures do not change it
        if id in found:
            raise StudyError(
                f"{found[id].source.picture.where} and {path} are two inputs with the same name; rename one"
            )
        reference = references.get(inside.as_posix())
        found[id] = SpoiltPicture(
            name.as_posix(),
            RecordedSource(id, in_file(path), kind, f"imported: {name}"),
            None if reference is None else RecordedSource(f"{id}.clean", in_file(reference), kind, f"imported: {name}"),
        )
    return list(found.values())


def of_suite(manifest: Path) -> SpoiltPictures:
    """The degraded pictures of a manifest, as `cbench degrade` writes it; without any, all of its pictures."""
    images = {image.id: image for image in read_manifest(manifest).images}
    degraded = [image for image in images.values() if image.clean] or list(images.values())
    pictures = [
        SpoiltPicture(image.id, _known(image), _known(images[image.clean]) if _is_compared(image) else None)
        for image in degraded
    ]
    return SpoiltPictures(tuple(pictures), str(manifest))


def of_run(root: Path) -> SpoiltPictures:
    """What the chains of a run of the study `restoration` start from."""
    sources = read_run_manifest(root / "manifest.json").sources
    records = Records(root / "run.sqlite")
    try:
        images = records.images()
        cases = {row.source: row for row in cases_by_id(records).values()}
    finally:
        records.close()
    by_image = {f"i1:{facts['sha256']}": id for id, facts in sources.items()}
    pictures = []
    for id, case in cases.items():
        clean = None if case.clean is None else by_image[case.clean]
        pictures.append(
            SpoiltPicture(
                id,
                _known(_of_run(root, id, sources[id], images[case.image])),
                None if clean is None else _known(_of_run(root, clean, sources[clean], images[str(case.clean)])),
            )
        )
    return SpoiltPictures(tuple(pictures), f"the run {root}")


def kind_of(folder: str) -> Kind:
    """The kind that a folder's name means: `Small Face`, `small_faces` and `Hands/Feet` are those of the literature."""
    word = _word(folder)
    for kind, title in {**SCENES, **DEGRADATIONS}.items():
        if word.removesuffix("s") in {one.removesuffix("s") for one in (kind, _word(title), *_COLOUR.get(kind, ()))}:
            return kind
    if not is_word(word):
        raise StudyError(f"the folder '{folder}' is not a kind; use at most {LONGEST_WORD} letters, digits and hyphens")
    return word


_COLOUR = {"old-photo-grey": ("old-photo-gray", "old-photo-bw"), "old-photo-colour": ("old-photo-color",)}


def _word(text: str) -> str:
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in text.lower())
    return "-".join(part for part in plain.split("-") if part)


def _by_stem(folder: Path, root: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        if is_image(path) and path.is_file() and is_inside(root, path):
            name = path.relative_to(folder).with_suffix("").as_posix()
            if name in found:
                raise StudyError(f"{found[name]} and {path} are two clean images with the same name; leave one out")
            found[name] = path
    return found


def _known(image: SourceImage) -> RecordedSource:
    return RecordedSource(image.id, Picture(f"image '{image.id}'", image.read), known=image)


def _is_compared(image: SourceImage) -> bool:
    """As in the study: the pictures of a degradation's own set are not compared with the clean one."""
    return bool(image.clean) and image.kind != image.degradation


def _of_run(root: Path, id: str, facts: Mapping[str, Any], row: ImageRow) -> SourceImage:
    return SourceImage(
        *(id, str(facts["kind"]), str(facts["sha256"]), row.width, row.height, str(facts["licence"])),
        source=str(facts["source"]),
        read=partial(read_image, root, row.file, row.id),
        title=str(facts.get("title", "")),
        holds=tuple(facts["holds"]) if facts.get("holds") else None,
        credit=str(facts.get("credit", "")),
        package=str(facts.get("package", "")),
        suite=str(facts.get("suite", "")),
        clean=str(facts.get("clean", "")),
        degradation=str(facts.get("degradation", "")),
    )


def named(pictures: Iterable[str], most: int = 5) -> str:
    """The first few names and how many there are beside them."""
    names: Sequence[str] = list(pictures)
    return f"{', '.join(names[:most])}{f' and {len(names) - most} more' if len(names) > most else ''}"
