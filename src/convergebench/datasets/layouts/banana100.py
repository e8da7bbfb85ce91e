"""Banana100 and similar sets: folders of pictures whose names end in the step, with optional tables and texts.

The layout of the public set was not available when this was written, so several likely ones are read: a table
(`metadata.csv`, `.jsonl` or `.parquet`) with one row per picture; or bare folders, `IMAGE/VARIANT/run-0/step-001.png`,
or `more_models/MODEL/same-chat/01.png` (one editor per folder). Reasoning summaries may be beside a picture as
`step-001.txt` or `step-001.json`. What names and tables do not state is not guessed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from convergebench.datasets.chains import UNSTATED, FoundChains, Picture
from convergebench.datasets.layouts import SetLocation
from convergebench.datasets.layouts._records import NAMES, SetRecord, gather
from convergebench.datasets.pictures import in_file, is_image, looked_up
from convergebench.datasets.rows import Row, read_json, read_rows
from convergebench.errors import StudyError
from convergebench.images.inside import is_inside

LOOKS_FOR = (
    "a table with file_name and step, or folders of pictures whose names end in the step (IMAGE/VARIANT/run-0/001.png)"
)
ORIGIN = "Banana100"
VARIANT = "recorded"
"""The variant of chains whose folders name none."""
MORE_MODELS = "more_models"
"""The folder below which there is one folder per editor."""
SESSIONS = {"single": "-single-session", "fresh": ""}
"""Suffix of the variant by session mode."""

_STEP = re.compile(
    r"^(?P<chain>.*?)[ _.-]*(?:step|turn|iteration|iter|round)?[ _.-]*(?<!\d)(?P<step>\d{1,4})$", re.IGNORECASE
)
_RUN = re.compile(r"^(?:run|rep|repeat|replicate|trial|seed)?[ _-]*(\d{1,4})$", re.IGNORECASE)
_CHAT = re.compile(r"[ _-]*(?P<word>same|different|diff|single|separate)[ _-]*(?:chat|session)s?[ _-]*", re.IGNORECASE)
_SINGLE = ("same", "single")
_LICENCE = re.compile(r"^license(?:_name)?:\s*['\"]?([\w.+-]+)", re.MULTILINE)
_FEWEST = 2
"""Numbered pictures in one folder that look like a chain."""


def recognise(place: SetLocation) -> str | None:
    """A table of pictures and steps, or numbered pictures."""
    tables = _tables(place)
    if tables:
        return f"{tables[0].name} with one row per picture and step"
    numbered = _Folders(place).chains
    long = [pictures for pictures in numbered.values() if len(pictures) >= _FEWEST]
    return f"{len(long)} folders of pictures whose names end in a step" if long else None


def read(place: SetLocation, images: Path | None) -> FoundChains:
    """Chains from the tables if there are any, else from the names of folders and files."""
    licence = card_licence(place.root)
    folders = _Folders(place)
    tables = _tables(place)
    if tables:
        rows = [record for path in tables for record in _listed(path, images or path.parent)]
        sources = {str(record.get("image") or "") for record in rows}
        starts = {image: start for image in sources if (start := folders.named(image)) is not None}
        return gather(rows, origin=ORIGIN, licence=licence, untouched=starts)
    records: list[SetRecord] = []
    faults: list[str] = []
    for key in folders.chains:
        try:
            records += folders.records(key)
        except StudyError as error:
            faults.append(str(error))
    found = gather(records, origin=ORIGIN, licence=licence)
    return FoundChains(found.chains, (*faults, *found.faults), found.notes)


def card_licence(folder: Path) -> str:
    """The licence in the front matter of a data-set card, if the folder has one."""
    card = folder / "README.md"
    there = card.is_file() and is_inside(folder, card)
    front = card.read_text("utf-8", errors="replace").split("---") if there else []
    found = _LICENCE.search(front[1]) if len(front) > 2 and not front[0].strip() else None
    return found[1] if found else UNSTATED


def _tables(place: SetLocation) -> list[Path]:
    def fits(columns: frozenset[str]) -> bool:
        pictured = bool(columns & {"file_name", "file", "path"})
        return pictured and not columns.isdisjoint(NAMES["step"])

    return [path for path, columns in place.tables.items() if fits(columns)]


def _listed(path: Path, root: Path) -> Iterator[SetRecord]:
    for line, row in enumerate(read_rows(path), start=2 if path.suffix == ".csv" else 1):
        where = f"{path}, line {line}"
        name = next((str(row[column]) for column in ("file_name", "file", "path") if row.get(column)), None)
        stated = {
            "editor": row.get("model_id"),
            **{key: value for key, value in row.items() if value not in (None, "")},
        }
        if name is None:
            yield SetRecord(stated, None, where, "no file is named; fill in file_name")
            continue
        picture, fault = looked_up(root, name, "name the folder of the images with --images")
        try:
            more = _beside(root / name, root) if picture is not None else {}
        except StudyError as error:
            more, fault = {}, str(error)
        yield SetRecord({**more, **stated}, picture, where, fault)


def _beside(image: Path, root: Path) -> Row:
    """The content of a text or JSON file with the picture's name; a link out of the set is an error."""
    for name in (f"{image.stem}.json", f"{image.stem}_reasoning.json"):
        path = image.with_name(name)
        if _is_beside(path, root):
            content = read_json(path)
            if not isinstance(content, dict):
                raise StudyError(f"{path} should be an object with prompt, reasoning, …")
            return content
    for name in (f"{image.stem}.txt", f"{image.stem}_reasoning.txt", f"{image.stem}.md"):
        path = image.with_name(name)
        if _is_beside(path, root):
            return {"reasoning": in_file(path).read().decode("utf-8", errors="replace")}
    return {}


def _is_beside(path: Path, root: Path) -> bool:
    if path.is_file() and not is_inside(root, path):
        raise StudyError(f"{path} is a link that leads out of {root}; put the file itself there")
    return path.is_file()


@dataclass(frozen=True)
class _Folders:
    """Chains by the names of folders and files."""

    place: SetLocation

    @cached_property
    def chains(self) -> dict[tuple[Path, str], list[tuple[int, Path]]]:
        """(Folder, what comes before the number) → steps with their files."""
        found: dict[tuple[Path, str], list[tuple[int, Path]]] = defaultdict(list)
        for path in self.place.files:
            numbered = _STEP.match(path.stem) if is_image(path) else None
            if numbered is not None:
                found[path.parent, numbered["chain"]].append((int(numbered["step"]), path))
        return {key: sorted(steps) for key, steps in found.items()}

    @cached_property
    def unnumbered(self) -> list[Path]:
        return [path for path in self.place.files if is_image(path) and not _STEP.match(path.stem)]

    def named(self, image: str) -> Picture | None:
        """The one unnumbered picture of this name."""
        alike = [path for path in self.unnumbered if path.stem.lower() == image.lower()]
        return in_file(alike[0]) if len(alike) == 1 else None

    def records(self, key: tuple[Path, str]) -> Iterator[SetRecord]:
        """One chain's pictures with the facts in their names; the source is step 0 or in a folder above."""
        stated, steps = self._facts(key), self.chains[key]
        if steps[0][0] != 0:
            start = self._start(key[0], stated["image"])
            steps = [(0, start), *steps]
            stated["image"] = stated["image"] or start.stem
        stated["image"] = stated["image"] or self.place.root.name
        rows = [
            (path, {**(_beside(path, self.place.root) if number else {}), **stated, "step": number})
            for number, path in steps
        ]
        # files beside pictures may name the model, which counts as the editor if the whole chain agrees
        models = {str(row["model"]) for _, row in rows if row.get("model")}
        editor = stated.get("editor") or (models.pop() if len(models) == 1 else None)
        for path, row in rows:
            named = {"editor": editor, "model_id": row.pop("model", None)}
            yield SetRecord({**row, **named}, in_file(path), str(path))

    def _start(self, folder: Path, image: str | None) -> Path:
        """The unnumbered picture beside the chain or in the nearest folder above it, by the image's name if several."""
        image = image or "source"
        while True:
            candidates = [path for path in self.unnumbered if path.parent == folder]
            named = [path for path in candidates if path.stem.lower() == image.lower()]
            if len(named) == 1 or len(candidates) == 1:
                return (named or candidates)[0]
            if candidates:
                raise StudyError(
                    f"{folder}: {len(candidates)} pictures could be the untouched image; name it {image}.png or step 0"
                )
            if folder == self.place.root:
                raise StudyError(f"{folder}: no untouched image of '{image}'; add {image}.png, or step 0 to the chain")
            folder = folder.parent

    def _facts(self, key: tuple[Path, str]) -> Row:
        """Image, variant, run, editor and session from the folders' names, outermost first."""
        folder, prefix = key
        parts = [*self.place.inside(folder).parts, *([prefix] if prefix else [])]
        chats = [chat["word"].lower() for part in parts if (chat := _CHAT.search(part))]
        session = None if not chats else "single" if chats[-1] in _SINGLE else "fresh"
        names = [name for part in parts if (name := _CHAT.sub("", part))]
        row: Row = {"run": 0, "session": session}
        if len(names) > 1 and names[0] == MORE_MODELS:
            row["editor"], names = names[1], names[2:]
        run = _RUN.match(names[-1]) if names else None
        if run is not None:
            row["run"], names = int(run[1]), names[:-1]
        # the innermost two are the image and what was asked of it; one alone is the image
        image, variant = names[-2:] if len(names) > 1 else (names[0] if names else None, VARIANT)
        row["image"], row["variant"] = image, variant + SESSIONS.get(session or "", "")
        return row
