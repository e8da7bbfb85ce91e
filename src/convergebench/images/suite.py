"""A suite: the untouched images that a study starts from, by name, folder or manifest."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from convergebench import registry
from convergebench.documents import fault_in
from convergebench.errors import Prerequisite, StudyError
from convergebench.ids import canonical
from convergebench.types import KINDS, Kind, SourceImage

_MOST_NAMED = 6


class MissingImage(NamedTuple):
    """An image of a suite that is not on this machine."""

    image: SourceImage
    """What its suite says of it; its `read` raises `Prerequisite`."""
    place: int
    """Its place in the suite's own order."""
    reason: str

    @property
    def id(self) -> str:
        """The image's id."""
        return self.image.id


@dataclass(frozen=True, slots=True)
class Suite:
    """Images under one name. Ids are unique; the order is the suite's own."""

    name: str
    images: tuple[SourceImage, ...]
    version: int = 1
    missing: tuple[MissingImage, ...] = ()
    """What belongs to the suite and is not here; `listed` has it at its place."""

    def __post_init__(self) -> None:
        if not self.images and not self.missing:
            raise StudyError(f"suite '{self.name}' has no images")
        seen: set[str] = set()
        for image in self.images:
            fault = fault_in([image.id, image.licence, image.source])
            if fault:
                raise StudyError(f"suite '{self.name}': image {image.id!a}: {fault}; rename its file")
            if image.id in seen:
                raise StudyError(f"suite '{self.name}' has two images called '{image.id}'; rename one")
            seen.add(image.id)

    @property
    def title(self) -> str:
        """`builtin 2`: its name, and its version if it is not the first."""
        return self.name if self.version == 1 else f"{self.name} {self.version}"

    @property
    def listed(self) -> list[SourceImage]:
        """All images in the suite's order, those that are not here included."""
        found = [*self.images]
        for one in sorted(self.missing, key=lambda missing: missing.place):
            found.insert(one.place, one.image)
        return found

    @property
    def sha256(self) -> str:
        """Hash over every image's id, kind and content: the same hash is the same suite."""
        rows = [[image.id, image.kind, image.sha256] for image in self.images]
        return hashlib.sha256(canonical(rows).encode()).hexdigest()

    def of_kind(self, kind: Kind) -> tuple[SourceImage, ...]:
        """The images of one kind, in order."""
        return tuple(image for image in self.images if image.kind == kind)

    def counts(self) -> dict[Kind, int]:
        """How many images there are of each kind."""
        every = dict.fromkeys([*KINDS, *(image.kind for image in self.images)])
        return {kind: len(self.of_kind(kind)) for kind in every}


def load_suite(name_or_path: str, *, partial: bool = False) -> Suite:
    """The suite behind a registered name (`quick`, `builtin`, a plug-in's), a manifest `.toml`, or a folder of images.

    A name wins over a folder of the same name; write `./quick` for the folder. Pictures that are not on this machine
    raise `Prerequisite` with the command that fetches them; with `partial` they are listed in `missing`.
    """
    suite = _loaded(name_or_path)
    if suite.missing and not partial:
        raise Prerequisite(not_here(suite, suite.missing, name_or_path))
    return suite


def not_here(suite: Suite, missing: Sequence[MissingImage], name_or_path: str) -> str:
    """Which pictures of a suite are missing, why, and the command that fetches them, in one line."""
    names = [one.id for one in missing]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    reasons = list(dict.fromkeys(one.reason for one in missing))
    why = reasons[0] if len(reasons) == 1 else f"{reasons[0]}, and others"
    total = len(suite.images) + len(suite.missing)
    return (
        f"{len(names)} of the {total} images of the suite '{suite.name}' are not here: "
        f"{', '.join(names[:_MOST_NAMED])}{more} ({why}); type: cbench suite fetch {name_or_path}"
    )


def _loaded(name_or_path: str) -> Suite:
    if name_or_path in registry.names("suites"):
        suite = registry.load("suites", name_or_path)()
        if not isinstance(suite, Suite):
            raise StudyError(
                f"suite '{name_or_path}' is a plug-in that returned {type(suite).__name__} instead of a Suite"
            )
        return suite
    path = Path(name_or_path).expanduser()
    if path.suffix == ".toml":
        from convergebench.images.manifest import read_manifest

        return read_manifest(path)
    if _is_folder(path):
        from convergebench.images.folder import read_folder

        return read_folder(path)
    hint = registry.suggest(name_or_path, registry.names("suites"))
    raise StudyError(
        f"unknown suite '{name_or_path[:200]}'{hint} "
        "(cbench list suites; a folder of images or a manifest .toml works too)"
    )


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # a name that is too long or not valid in this file system
        return False
