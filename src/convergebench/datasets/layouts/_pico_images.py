"""Finding the images that Pico-Banana's rows name, on this disk and nowhere else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from convergebench.datasets.chains import Picture
from convergebench.datasets.layouts import SetLocation
from convergebench.datasets.pictures import in_file, in_folder, is_image
from convergebench.datasets.rows import columns_of
from convergebench.errors import StudyError
from convergebench.images.inside import is_inside

LOCAL = ("local_input_image", "original_input_image_file")
"""Keys under which mapping tools write the name of the downloaded photograph."""
OPEN_IMAGES = ("ImageID", "OriginalURL")
"""Columns of Open Images' lists, such as `train-images-boxable-with-rotation.csv`."""


@dataclass(frozen=True)
class PicoImages:
    """Image files by their path inside a root and by their name alone; photographs also by their Open Images id."""

    roots: list[Path]
    lists: list[Path] = field(default_factory=list)
    """Open Images' lists."""
    addresses: frozenset[str] = frozenset()
    """The photographs that will be looked for: a list has millions of others."""

    @cached_property
    def by_name(self) -> dict[str, list[Path]]:
        """Every image file below the roots."""
        found: dict[str, list[Path]] = defaultdict(list)
        for root in self.roots:
            for path in sorted(root.rglob("*")):
                if is_image(path) and is_inside(root, path) and path not in found[path.name]:
                    found[path.name].append(path)
        return found

    @cached_property
    def open_images_ids(self) -> dict[str, str]:
        """Address without its scheme → Open Images id."""
        import polars as pl

        from convergebench.images.table_errors import table_errors

        wanted = sorted({_without_scheme(address) for address in self.addresses})
        found: dict[str, str] = {}
        for path in self.lists:
            address = pl.col("OriginalURL").str.replace(r"^\w+://", "")
            with table_errors(path):
                rows = (
                    pl.scan_csv(path, infer_schema=False)
                    .select(address, "ImageID")
                    .filter(pl.col("OriginalURL").is_in(wanted))
                    .collect()
                )
            found |= dict(rows.iter_rows())
        return found

    def find(self, name: str, what: str) -> Picture:
        """The file of a name with or without folders, or what is wrong."""
        for root in self.roots:
            picture = in_folder(root, name)
            if picture is not None:
                return picture
        alike = self.by_name.get(PurePosixPath(name).name, [])
        if not alike:
            raise StudyError(f"{what}: no file {name}; put it below the folder of --images")
        if len(alike) > 1:
            raise StudyError(f"{what}: {name} could be {alike[0]} or {alike[1]}; leave one of them out")
        return in_file(alike[0])

    def photograph(self, address: str, named: Iterable[Mapping[str, Any]], what: str) -> Picture:
        """The source at an address: where a mapping tool says it is, else by its Open Images id, else by its name."""
        local = next((str(one[key]) for one in named for key in LOCAL if one.get(key)), None)
        if local is not None:
            return self._local(local, what)
        identity = self.open_images_ids.get(_without_scheme(address)) if self.lists else None
        if identity is not None and f"{identity}.jpg" in self.by_name:
            return self.find(f"{identity}.jpg", what)
        return self.find(inside(address), what)

    def _local(self, name: str, what: str) -> Picture:
        """At an absolute path, which must be inside the set, or by its name."""
        path = Path(name)
        if not path.is_absolute():
            return self.find(inside(name), what)
        if not any(is_inside(root, path) for root in self.roots):
            raise StudyError(f"{what}: {path} is outside the set; name its folder with --images")
        if not path.is_file():
            raise StudyError(f"{what}: no file {path}")
        return in_file(path)


def pico_images(place: SetLocation, images: Path | None, addresses: Iterable[str]) -> PicoImages:
    """For a set and the folder of photographs, either of which may hold Open Images' list."""
    roots = [root for root in (images, place.root) if root is not None]
    lists = place.with_columns(*OPEN_IMAGES, suffix=".csv")
    beside = sorted(images.glob("*.csv")) if images is not None else []
    lists += [path for path in beside if path not in lists and columns_of(path).issuperset(OPEN_IMAGES)]
    return PicoImages(roots, lists, frozenset(addresses))


def inside(url: str) -> str:
    """The name behind an address, or a relative path as it is."""
    parts = urlsplit(url)
    return PurePosixPath(unquote(parts.path)).name if parts.scheme else url


def _without_scheme(address: str) -> str:
    return address.partition("://")[2] or address
