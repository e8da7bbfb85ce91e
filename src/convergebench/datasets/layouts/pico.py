"""Pico-Banana's files: JSON lines that name their images, which are looked for on this disk; nothing is fetched.

`multi-turn.jsonl` has `files` (`edit_turn1`, `edit_turn2`, …, then `final_image` for the last turn, and
`original_input_image`) and `metadata_edit_turn_prompts`. `sft.jsonl` and `preference.jsonl` have one edit a row; each
rejected picture becomes a chain of its own, of the variant `pico-rejected`. `cbench export --as pico` writes the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from convergebench.datasets.chains import (
    FoundChains,
    RecordedChain,
    RecordedSource,
    RecordedStep,
    chain_id,
    session_chain,
)  # fmt: skip
from convergebench.datasets.layouts import SetLocation
from convergebench.datasets.layouts._pico_images import PicoImages, inside, pico_images
from convergebench.datasets.rows import Row, read_rows, require_columns, require_unicode, text_list
from convergebench.edits.taxonomy import type_of_name
from convergebench.errors import StudyError

LOOKS_FOR = (
    "a JSON-lines file with files (edit_turn1, …, final_image, original_input_image) and metadata_edit_turn_prompts, "
    "or with open_image_input_url, text and output_image"
)
LICENCE = "CC-BY-NC-ND-4.0"
EDITOR = "nano-banana"
VARIANT = "pico"

_SESSION = ("files", "metadata_edit_turn_prompts")
_EDIT = ("open_image_input_url", "text", "output_image")
_TURN = re.compile(r"^edit_turn(\d+)$")
_SUFFIX = re.compile(r"_turn\d+$")
_OURS = ("chain_id", "source_sha256", "local_input_image")
"""Columns of `records/`, which our own exports have beside Pico's files."""


def recognise(place: SetLocation) -> str | None:
    """Rows with files and prompts, or with an edit."""
    for columns in (_SESSION, _EDIT):
        tables = _tables(place, columns)
        if tables:
            return f"{tables[0].name} with {', '.join(columns[:-1])} and {columns[-1]}"
    return None


def read(place: SetLocation, images: Path | None) -> FoundChains:
    """One chain per session, per edit and per rejected picture; a row whose picture is not there breaks only itself."""
    sessions = [(path, read_rows(path)) for path in _tables(place, _SESSION)]
    edits = [(path, read_rows(path)) for path in _tables(place, _EDIT)]
    edits.sort(key=lambda one: any("rejected_images" in row for row in one[1][:1]))  # accepted edits first
    addresses = [address for _, rows in (*sessions, *edits) for row in rows for address in _addresses(row)]
    reading = _Reading(pico_images(place, images, addresses), _known(place))
    for path, rows in sessions:
        for line, row in enumerate(rows, start=1):
            reading.session(f"{path.name}, line {line}", row)
    for path, rows in edits:
        for line, row in enumerate(rows, start=1):
            reading.edit(f"{path.name}, line {line}", row)
    notes = (f"{reading.repeated} rows repeat an edit that was already read",) if reading.repeated else ()
    return FoundChains(tuple(reading.chains), tuple(reading.faults), notes)


def _tables(place: SetLocation, columns: tuple[str, ...]) -> list[Path]:
    return [path for path in place.with_columns(*columns) if path.suffix in (".jsonl", ".ndjson")]


def _addresses(row: Row) -> Iterator[str]:
    if isinstance(row.get("open_image_input_url"), str):
        yield row["open_image_input_url"]
    files = row.get("files")
    for one in files if isinstance(files, list) else []:
        if isinstance(one, Mapping) and one.get("id") == "original_input_image":
            yield str(one.get("url"))


def _known(place: SetLocation) -> dict[str, Row]:
    """Picture → what our own export says of it."""
    found: dict[str, Row] = {}
    for path in place.with_columns(*_OURS):
        for row in read_rows(path) if path.suffix == ".jsonl" else []:
            named = [row.get("output_image"), row.get("chosen_image"), row.get("rejected_image")]
            pictures = [*named, *(row.get("output_images") or [])]
            found |= {str(name): row for name in pictures if name}
    return found


@dataclass
class _Reading:
    """Chains so far."""

    images: PicoImages
    known: Mapping[str, Row]
    chains: list[RecordedChain] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    repeated: int = 0
    _seen: set[tuple[str, str]] = field(default_factory=set)

    def session(self, what: str, row: Row) -> None:
        """One row of `multi-turn.jsonl`."""
        try:
            self.chains.append(self._session(what, row))
        except StudyError as error:
            self.faults.append(str(error))

    def edit(self, what: str, row: Row) -> None:
        """One row of `sft.jsonl` or `preference.jsonl`; a missing picture does not take the others with it."""
        try:
            require_columns(row, _EDIT, what=what)
            require_unicode(row, what=what)
            rejected = text_list(row.get("rejected_images") or [], what=f"{what}: rejected_images")
            address = str(row["open_image_input_url"])
            self.images.photograph(address, [row], f"{what}, open_image_input_url {address}")
        except StudyError as error:
            self.faults.append(str(error))
            return
        chosen = "chosen" if rejected else "sft"
        for name, word in [(str(row["output_image"]), chosen), *((name, "rejected") for name in rejected)]:
            if (name, str(row["text"])) in self._seen:
                self.repeated += 1
                continue
            try:
                self.chains.append(self._edit(what, row, name, word))
                self._seen.add((name, str(row["text"])))
            except StudyError as error:
                self.faults.append(str(error))

    def _edit(self, what: str, row: Row, name: str, word: str) -> RecordedChain:
        address = str(row["open_image_input_url"])
        kind = type_of_name(str(row.get("edit_type")))
        told = {"edit_type": row.get("edit_type"), "summarized_text": row.get("summarized_text")}
        used = {key: value for key, value in told.items() if value}
        used["judged"] = "rejected" if word == "rejected" else "accepted"
        step = RecordedStep(
            self.images.find(inside(name), f"{what}, {name}"),
            str(row["text"]),
            operation=kind.operation if kind is not None else None,
            used=used,
        )
        return self._chain(what, name, address, [row], [step], f"{VARIANT}-{word}")

    def _session(self, what: str, row: Row) -> RecordedChain:
        require_columns(row, _SESSION, what=what)
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
            RecordedStep(self.images.find(inside(url), f"{what}, turn {number}"), prompt)
            for number, (url, prompt) in enumerate(zip(urls, words, strict=True), start=1)
        ]
        original = files["original_input_image"]
        named: list[Mapping[str, Any]] = [original, row]
        return self._chain(what, urls[0], str(original["url"]), named, steps, VARIANT)

    def _chain(
        self,
        what: str,
        picture: str,
        address: str,
        named: list[Mapping[str, Any]],
        steps: list[RecordedStep],
        variant: str,
    ) -> RecordedChain:
        """With the editor and the licences of our own export, where the picture is from one."""
        key = "original_input_image" if variant == VARIANT else "open_image_input_url"
        photograph = self.images.photograph(address, named, f"{what}, {key} {address}")
        ours = self.known.get(picture, {})
        name = str(ours.get("image_name") or f"pico-{PurePosixPath(inside(address)).stem}")
        origin = address if ours else f"Pico-Banana: {address} (photograph CC-BY-2.0)"
        source = RecordedSource(name, photograph, origin=origin, licence=ours.get("source_licence"))
        editor, licence = str(ours.get("editor") or EDITOR), str(ours.get("licence") or LICENCE)
        chain = session_chain(source, steps, origin="Pico-Banana", editor=editor, variant=variant, licence=licence)
        stem = PurePosixPath(picture).stem
        return replace(
            chain, id=chain_id(name, f"{variant}-{_SUFFIX.sub('', stem) if variant == VARIANT else stem}", 0)
        )


def _files(what: str, files: Any) -> dict[str, Mapping[str, Any]]:
    if not isinstance(files, list) or not all(
        isinstance(one, Mapping) and {"id", "url"} <= one.keys() for one in files
    ):
        raise StudyError(f"{what}: files should be a list of {{id, url}}")
    return {str(one["id"]): one for one in files}
