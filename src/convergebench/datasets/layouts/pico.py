"""Pico-Banana's sessions of several turns: JSON lines that name their images; the images are looked for on this disk.

A row has `files` (`edit_turn1`, `edit_turn2`, …, then `final_image` for the last turn, and `original_input_image`) and
`metadata_edit_turn_prompts`. The originals are addresses of photographs: nothing is fetched, a file of the same name is
looked for below the folder of images.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from convergebench.datasets.chains import (
    FoundChains,
    Picture,
    RecordedChain,
    RecordedSource,
    RecordedStep,
    chain_id,
    session_chain,
)  # fmt: skip
from convergebench.datasets.layouts import SetLocation
from convergebench.datasets.pictures import in_file, in_folder, is_image, is_inside
from convergebench.datasets.rows import Row, read_rows, require_columns, require_unicode, text_list
from convergebench.errors import StudyError

LOOKS_FOR = (
    "a JSON-lines file with files (edit_turn1, …, final_image, original_input_image) and metadata_edit_turn_prompts"
)
LICENCE = "CC-BY-NC-ND-4.0"
EDITOR = "nano-banana"
VARIANT = "pico"

_COLUMNS = ("files", "metadata_edit_turn_prompts")
_TURN = re.compile(r"^edit_turn(\d+)$")
_SUFFIX = re.compile(r"_turn\d+$")
_LOCAL = ("local_input_image", "original_input_image_file")
"""Keys under which mapping tools write the name of the downloaded photograph."""


def recognise(place: SetLocation) -> str | None:
    """Rows with files and prompts."""
    tables = _tables(place)
    return f"{tables[0].name} with files and metadata_edit_turn_prompts" if tables else None


def read(place: SetLocation, images: Path | None) -> FoundChains:
    """One chain per row."""
    found = _Images([root for root in (images, place.root) if root is not None])
    chains: list[RecordedChain] = []
    faults: list[str] = []
    for path in _tables(place):
        for line, row in enumerate(read_rows(path), start=1):
            try:
                chains.append(_chain(f"{path.name}, line {line}", row, found))
            except StudyError as error:
                faults.append(str(error))
    return FoundChains(tuple(chains), tuple(faults))


def _tables(place: SetLocation) -> list[Path]:
    return [path for path in place.with_columns(*_COLUMNS) if path.suffix in (".jsonl", ".ndjson")]


@dataclass(frozen=True)
class _Images:
    """Image files on this disk, by their path inside a root and by their name alone."""

    roots: list[Path]

    @cached_property
    def by_name(self) -> dict[str, list[Path]]:
        found: dict[str, list[Path]] = defaultdict(list)
        for root in self.roots:
            for path in sorted(root.rglob("*")):
                if is_image(path) and is_inside(root, path) and path not in found[path.name]:
                    found[path.name].append(path)
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


def _chain(what: str, row: Row, images: _Images) -> RecordedChain:
    require_columns(row, _COLUMNS, what=what)
    require_unicode(row, what=what)
    words = text_list(row["metadata_edit_turn_prompts"], what=f"{what}: metadata_edit_turn_prompts")
    files = _files(what, row["files"])
    turns = {int(found[1]): files[name] for name in files if (found := _TURN.match(name))}
    for name in ("original_input_image", "final_image"):
        if name not in files:
            raise StudyError(f"{what}: no file with the id {name}")
    if sorted(turns) != list(range(1, len(words))):
        have = ", ".join(f"edit_turn{number}" for number in sorted(turns)) or "no edit_turn"
        raise StudyError(f"{what}: {len(words)} prompts, but {have} and final_image; some turns are missing")
    urls = [str(turns[number]["url"]) for number in sorted(turns)] + [str(files["final_image"]["url"])]
    steps = [
        RecordedStep(images.find(_inside(url), f"{what}, turn {number}"), prompt)
        for number, (url, prompt) in enumerate(zip(urls, words, strict=True), start=1)
    ]
    original = files["original_input_image"]
    address = str(original["url"])
    local = next((str(one[key]) for one in (original, row) for key in _LOCAL if one.get(key)), None)
    photograph = _photograph(local or address, images, f"{what}, original_input_image {address}")
    session = _SUFFIX.sub("", PurePosixPath(urls[0]).stem)
    name = f"pico-{PurePosixPath(_inside(address)).stem}"
    source = RecordedSource(name, photograph, origin=f"Pico-Banana: {address} (photograph CC-BY-2.0)")
    chain = session_chain(source, steps, origin="Pico-Banana", editor=EDITOR, variant=VARIANT, licence=LICENCE)
    return replace(chain, id=chain_id(name, f"{VARIANT}-{session}", 0))


def _files(what: str, files: Any) -> dict[str, Mapping[str, Any]]:
    if not isinstance(files, list) or not all(
        isinstance(one, Mapping) and {"id", "url"} <= one.keys() for one in files
    ):
        raise StudyError(f"{what}: files should be a list of {{id, url}}")
    return {str(one["id"]): one for one in files}


def _photograph(name: str, images: _Images, what: str) -> Picture:
    """The photograph at an absolute path, which must be inside the set, or the file with the name of an address."""
    path = Path(name)
    if path.is_absolute():
        if not any(is_inside(root, path) for root in images.roots):
            raise StudyError(f"{what}: {path} is outside the set; name its folder with --images")
        if not path.is_file():
            raise StudyError(f"{what}: no file {path}")
        return in_file(path)
    return images.find(_inside(name), what)


def _inside(url: str) -> str:
    """The name behind an address, or a relative path as it is."""
    parts = urlsplit(url)
    return PurePosixPath(unquote(parts.path)).name if parts.scheme else url
