"""`pico`: the files of Pico-Banana-400K, `jsonl/sft.jsonl`, `preference.jsonl` and `multi-turn.jsonl`.

Their keys are those of the published set. `local_input_image`, which its tools add to a row once the photograph is on
the disk, is there wherever the source's licence lets us hand it on. `records/` has the same rows with all columns.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, ClassVar

from convergebench.datasets.atomic import WRITING
from convergebench.datasets.checksums import file_sha256
from convergebench.datasets.croissant import IMAGE_MIMES, file_object, file_set, json_columns, record_set
from convergebench.datasets.fields import Field, Table, columns
from convergebench.datasets.formats.base import CroissantParts, Format, ImageContent, RowPicture, RowPictures
from convergebench.datasets.names import UniqueNames, safe
from convergebench.errors import StudyError

FILES = {"sft": "sft", "preference": "preference", "multi_turn": "multi-turn"}
"""Table → name of its file."""
POSITIVE, NEGATIVE, SESSIONS, SOURCES = (
    f"images/{name}" for name in ("positive-edit", "negative-edit", "multi-turn", "source")
)
_TEXTS = columns("text", open_image_input_url="address of the source", text="the instruction", output_image="the edit")
_MORE = columns("text", edit_type="one of 35", summarized_text="the instruction in a few words")
_LOCAL = columns("text", local_input_image="the source in this data set; null: its licence forbids redistribution")
_KEYS: Mapping[str, tuple[Field, ...]] = {
    "sft": (*_TEXTS, *_MORE, *_LOCAL),
    "preference": (*_TEXTS, *columns("texts", rejected_images="attempts that were not accepted"), *_MORE, *_LOCAL),
    "multi_turn": (*columns("texts", metadata_edit_turn_prompts="the instruction of every turn"), *_LOCAL),
}
_FILE_LIST = {"name": "files", "list": [{"name": name, "dtype": "string"} for name in ("id", "url")]}


class Pico(Format):
    """Rows of a factory run as Pico-Banana-400K publishes them."""

    name: ClassVar[str] = "pico"
    typed_by_info: ClassVar[bool] = False
    takes_rows: ClassVar[bool] = True
    rows_only: ClassVar[bool] = True

    def __init__(self, root: Path, splits: Sequence[str], *, editors: Sequence[str], shard_bytes: int) -> None:
        super().__init__(root, splits, editors=editors, shard_bytes=shard_bytes)
        self._names = UniqueNames()
        self._files: dict[Path, IO[str]] = {}
        self._pairs: dict[str, dict[str, Any]] = {}
        """Split → the preference row that is being gathered."""

    def add(self, table: Table, record: Mapping[str, Any], picture: ImageContent, suffix: str) -> None:
        """Patches have no place in these files."""
        raise StudyError(f"--as pico does not support {table.name}; leave --patches out or use another format")

    def add_row(self, table: Table, record: Mapping[str, Any], pictures: RowPictures) -> None:
        """The pictures, a line in Pico's own form, and one with all columns."""
        chain, split = str(record["chain_id"]), str(record["split"])
        name = self._names.of(chain, safe(chain.replace("/", "--") if len(self.editors) > 1 else _case(record)))
        source = self._names.of(("source", record["source_sha256"]), safe(str(record["image_name"])))
        row = {"open_image_input_url": record["source_address"]}
        local = None
        later = table.name == "preference" and record["turn"] > 1
        if pictures["image"] and not later:
            local = self._save(SOURCES, source, pictures["image"][0])
        if table.name == "sft":
            output = self._save(POSITIVE, name, pictures["edited_image"][0])
            row |= {"text": record["prompt"], "output_image": output, **_described(record), **_near(local)}
            self._line(table, split, row)
            self._record(table, split, record, {"output_image": output, "local_input_image": local})
        elif table.name == "preference":
            self._pair(table, record, pictures, name, local)
        else:
            urls = [self._save(SESSIONS, f"{name}_turn{at}", one) for at, one in enumerate(pictures["turns"], start=1)]
            self._line(table, split, {**_session(record, urls), **_near(local)})
            self._record(table, split, record, {"output_images": urls, "local_input_image": local})
        if not later:
            self.count_row(table, split, pictures)

    def _pair(
        self, table: Table, record: Mapping[str, Any], pictures: RowPictures, name: str, local: str | None
    ) -> None:
        """Rejected pictures of one turn become one row; those of later turns are only in `records/`."""
        split, turn = str(record["split"]), record["turn"]
        stem = name if turn == 1 else f"{name}_turn{turn}"
        chosen = self._save(POSITIVE, stem, pictures["chosen"][0])
        rejected = self._save(NEGATIVE, f"{stem}_attempt{record['rejected_attempt']}", pictures["rejected"][0])
        if turn > 1:
            before = [self._save(POSITIVE, f"{stem}_before", one) for one in pictures["image"]]
            local = before[0] if before else None
        else:
            address = record["source_address"]
            row = {"output_image": chosen, "rejected_images": [], "text": record["prompt"]}
            row |= {**_described(record), "open_image_input_url": address, **_near(local)}
            if self._pairs.get(split, {}).get("output_image") != chosen:
                self._finish_pair(table, split)
                self._pairs[split] = row
            self._pairs[split]["rejected_images"].append(rejected)
        named = {"chosen_image": chosen, "rejected_image": rejected, "local_input_image": local}
        self._record(table, split, record, named)

    def _finish_pair(self, table: Table, split: str) -> None:
        row = self._pairs.pop(split, None)
        if row is not None:
            self._line(table, split, row)

    def close(self) -> None:
        """Finish the last rows and every file."""
        for split in list(self._pairs):
            self._finish_pair(Table("preference", ()), split)
        super().close()
        for table, split in self.written:
            file = self._path(table, split)
            self.written[table, split].files = [file] if (self.root / file).is_file() else []

    def _path(self, table: str, split: str, folder: str = "jsonl") -> str:
        """`jsonl/sft.jsonl`; with several splits a folder each."""
        inside = f"{split}/" if len(self.splits) > 1 else ""
        return f"{folder}/{inside}{FILES[table]}.jsonl"

    def _line(self, table: Table, split: str, row: Mapping[str, Any]) -> None:
        self._append(self.root / self._path(table.name, split), row)

    def _record(self, table: Table, split: str, record: Mapping[str, Any], named: Mapping[str, Any]) -> None:
        self._append(self.root / self._path(table.name, split, "records"), {**named, **record})

    def _append(self, path: Path, row: Mapping[str, Any]) -> None:
        if path not in self._files:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._files[path] = self.held.enter_context(path.open("w", encoding="utf-8"))
        self._files[path].write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")

    def _save(self, folder: str, stem: str, picture: RowPicture) -> str:
        """Write a picture unless it is there, perhaps left by an export that was interrupted; returns its path."""
        path = self.root / folder / f"{stem}.{picture.suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not (path.is_file() and file_sha256(path) == picture.content.sha256):
            part = path.with_name(f".{path.name}{WRITING}")
            part.write_bytes(picture.content.read())
            part.replace(path)
        return path.relative_to(self.root).as_posix()

    def data_files(self, table: Table, split: str) -> list[str]:
        """The split's file."""
        return [self._path(table.name, split)]

    def card_table(self, table: Table) -> list[dict[str, Any]]:
        """The keys of the file, which are fewer than the table's columns."""
        from convergebench.datasets.features import yaml_features

        files = [_FILE_LIST] if table.name == "multi_turn" else []
        return [*files, *yaml_features(Table(table.name, _KEYS[table.name]))]

    def layout(self) -> Sequence[str]:
        """As the published set has them, and what is beside."""
        return [
            "`jsonl/sft.jsonl`, `jsonl/preference.jsonl`, `jsonl/multi-turn.jsonl`: the rows, with the keys of "
            "Pico-Banana-400K; with splits in `jsonl/SPLIT/`",
            f"`{POSITIVE}/`, `{NEGATIVE}/`, `{SESSIONS}/`: the images as received; `{SOURCES}/`: the sources that "
            f"may be redistributed (`local_input_image`)",
            "`records/`: the same rows with all columns below, one line per pair; pairs of later turns are only "
            "there, because Pico's format allows only a source as input",
        ]

    def _croissant(self, table: Table, split: str, identity: str) -> CroissantParts:
        """The file of rows, and the pictures."""
        files = self.written[table.name, split].files
        if not files:
            return [], []
        return (
            [file_object(self.root, files[0], identity=identity), *self._picture_set(table, identity)],
            [record_set(identity, _KEYS[table.name], json_columns(identity))],
        )

    def _picture_set(self, table: Table, identity: str) -> list[dict[str, Any]]:
        folders = {"sft": [POSITIVE], "preference": [POSITIVE, NEGATIVE], "multi_turn": [SESSIONS]}[table.name]
        suffixes = {path.suffix[1:] for folder in folders for path in (self.root / folder).iterdir()}
        patterns = [f"{folder}/*.{suffix}" for folder in folders for suffix in sorted(suffixes)]
        return [file_set(f"{identity}-pictures", patterns, sorted({IMAGE_MIMES[suffix] for suffix in suffixes}))]


def _case(record: Mapping[str, Any]) -> str:
    return str(record["case_id"]).replace("/", "--")


def _described(record: Mapping[str, Any]) -> dict[str, Any]:
    return {"edit_type": record["edit_type"], "summarized_text": record["short_prompt"]}


def _near(local: str | None) -> dict[str, Any]:
    return {} if local is None else {"local_input_image": local}


def _session(record: Mapping[str, Any], urls: Sequence[str]) -> dict[str, Any]:
    """The last turn's picture is called `final_image`, not by its number."""
    files = [{"id": f"edit_turn{at}", "url": url} for at, url in enumerate(urls[:-1], start=1)]
    files.append({"id": "final_image", "url": urls[-1]})
    files.append({"id": "original_input_image", "url": record["source_address"]})
    return {"files": files, "metadata_edit_turn_prompts": record["prompts"]}
