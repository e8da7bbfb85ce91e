"""Where a model's files lie and which files they are, found without loading or fetching any of them."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convergebench.errors import StudyError

INDEX = "model_index.json"
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_WEIGHTS = (".safetensors", ".bin")
_WEIGHTLESS = ("Tokenizer", "TokenizerFast", "Processor", "Scheduler", "Extractor", "ImageProcessor")
_ENDS = 1 << 20
"""So many bytes at both ends of a large file stand for it: the head of a weight file says what is in it."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a user called it, and the folder it was found in, if it was."""

    name: str
    revision: str | None
    folder: Path | None
    commit: str | None = None
    """Of the hub's copy on this disk."""

    @property
    def on_hub(self) -> bool:
        """Could be fetched."""
        return self.commit is not None or (self.folder is None and bool(_HUB_ID.fullmatch(self.name)))


def find(name: str, revision: str | None) -> Checkpoint:
    """A folder, or what the hub's cache on this disk has of an id. Asks no network."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        return Checkpoint(name, revision, folder)
    if not _HUB_ID.fullmatch(name):
        return Checkpoint(name, revision, None)
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return Checkpoint(name, revision, None)
    found = try_to_load_from_cache(name, INDEX, revision=revision)
    if not isinstance(found, str):
        return Checkpoint(name, revision, None)
    snapshot = Path(found).parent
    return Checkpoint(name, revision, snapshot, commit=snapshot.name)


def identity(name: str, revision: str | None) -> str:
    """What stands for the weights in a fingerprint: the id on the hub, or the files of a folder wherever it lies."""
    folder = Path(name).expanduser()
    if not folder.is_dir():
        return f"{name}@{revision or 'main'}"
    if revision is not None:
        raise StudyError(f"{name} is a folder and has no revisions; leave 'revision' away or give an id on the hub")
    if not (folder / INDEX).is_file():  # a home folder, say: nothing can come of it, so it is not read through
        return "files:none"
    return f"files:{fingerprint_of(folder)}"


def fingerprint_of(folder: Path) -> str:
    """A hash over names, sizes and contents; of large files over both ends, so that no 60 GB are read."""
    whole = hashlib.blake2b(digest_size=16)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        size = path.stat().st_size
        whole.update(f"{path.relative_to(folder).as_posix()}\0{size}\0".encode())
        with path.open("rb") as file:
            whole.update(file.read(_ENDS))
            if size > _ENDS:
                file.seek(max(_ENDS, size - _ENDS))
                whole.update(file.read(_ENDS))
    return whole.hexdigest()


def pipeline_class(folder: Path) -> str:
    """The class that the folder's index names."""
    return str(_index(folder).get("_class_name", ""))


def missing(folder: Path) -> list[str]:
    """Files that the folder's own indexes name and that are not there: a download that broke off."""
    gone: list[str] = []
    for part, value in _index(folder).items():
        if not (isinstance(value, list) and len(value) == 2 and value[0] is not None):
            continue
        inside = folder / part
        if not inside.is_dir() or not any(inside.iterdir()):
            gone.append(f"{part}/")
            continue
        shards = {
            shard for index in inside.glob("*.index.json") for shard in _read(index).get("weight_map", {}).values()
        }
        gone += [f"{part}/{shard}" for shard in sorted(shards) if not (inside / shard).exists()]
        weightless = str(value[1]).endswith(_WEIGHTLESS)
        if not weightless and not shards and not any(path.suffix in _WEIGHTS for path in inside.iterdir()):
            gone.append(f"{part}/*.safetensors")
    return gone


def gigabytes(folder: Path) -> float:
    """The weights of all parts, as they lie on disk."""
    return sum(path.stat().st_size for path in folder.glob("*/*.safetensors") if path.exists()) / 1e9


def _index(folder: Path) -> dict[str, Any]:
    path = folder / INDEX
    if not path.is_file():
        raise StudyError(f"{folder} has no {INDEX}: it is not a folder that diffusers saved")
    return _read(path)


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise StudyError(f"cannot read {path}: {error}") from error
    if not isinstance(content, dict):
        raise StudyError(f"{path} holds no table of parts; get the file again")
    return content
