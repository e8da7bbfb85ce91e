"""Finds and identifies a model's files without loading or downloading them."""

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
_SAMPLED = 1 << 20
"""Bytes at both ends of a large file that are hashed; the header of a weight file describes its content."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The name that the user gave, and the folder, if it was found."""

    name: str
    revision: str | None
    folder: Path | None
    commit: str | None = None
    """Commit of the hub's copy on this disk."""

    @property
    def on_hub(self) -> bool:
        """Whether it may be on the hub, and so could be downloaded."""
        return self.commit is not None or (self.folder is None and bool(_HUB_ID.fullmatch(self.name)))


def find(name: str, revision: str | None) -> Checkpoint:
    """Find a folder, or a hub id in the local cache. Uses no network."""
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
    """Identity of the weights for a fingerprint: the hub id, or a hash of the folder's files."""
    folder = Path(name).expanduser()
    if not folder.is_dir():
        return f"{name}@{revision or 'main'}"
    if revision is not None:
        raise StudyError(f"{name} is a folder and has no revisions; leave 'revision' out or give an id on the hub")
    if not (folder / INDEX).is_file():  # not a checkpoint (a home folder, say), so its files are not read
        return "files:none"
    return f"files:{fingerprint_of(folder)}"


def fingerprint_of(folder: Path) -> str:
    """A hash of names, sizes and contents; of large files only both ends, so that no 60 GB are read."""
    whole = hashlib.blake2b(digest_size=16)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        size = path.stat().st_size
        whole.update(f"{path.relative_to(folder).as_posix()}\0{size}\0".encode())
        with path.open("rb") as file:
            whole.update(file.read(_SAMPLED))
            if size > _SAMPLED:
                file.seek(max(_SAMPLED, size - _SAMPLED))
                whole.update(file.read(_SAMPLED))
    return whole.hexdigest()


def pipeline_class(folder: Path) -> str:
    """The class that the folder's index names."""
    return str(_index(folder).get("_class_name", ""))


def missing(folder: Path) -> list[str]:
    """Files named by the folder's indexes that do not exist: an interrupted download."""
    absent: list[str] = []
    for part, value in _index(folder).items():
        if not (isinstance(value, list) and len(value) == 2 and value[0] is not None):
            continue
        inside = folder / part
        if not inside.is_dir() or not any(inside.iterdir()):
            absent.append(f"{part}/")
            continue
        shards = {
            shard for index in inside.glob("*.index.json") for shard in _read(index).get("weight_map", {}).values()
        }
        absent += [f"{part}/{shard}" for shard in sorted(shards) if not (inside / shard).exists()]
        weightless = str(value[1]).endswith(_WEIGHTLESS)
        if not weightless and not shards and not any(path.suffix in _WEIGHTS for path in inside.iterdir()):
            absent.append(f"{part}/*.safetensors")
    return absent


def gigabytes(folder: Path) -> float:
    """Size of all weights on disk."""
    return sum(path.stat().st_size for path in folder.glob("*/*.safetensors") if path.exists()) / 1e9


def _index(folder: Path) -> dict[str, Any]:
    path = folder / INDEX
    if not path.is_file():
        raise StudyError(f"{folder} has no {INDEX}: it is not a folder that diffusers saved")
    return _read(path)


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise StudyError(f"cannot read {path}: {' '.join(str(error).split())[:200]}") from error
    if not isinstance(content, dict):
        raise StudyError(f"{path} has no table of components; download the file again")
    return content
