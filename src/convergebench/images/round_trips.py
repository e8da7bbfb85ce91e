"""Round trips recorded elsewhere: a folder per chain with `I0_source.png`, `I1_forward.png` and so on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from convergebench.errors import StudyError
from convergebench.types import KINDS, Kind

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
_FILE = re.compile(r"^I(\d+)_(source|forward|backward)$", re.IGNORECASE)
_NAME = re.compile(r"^(portrait|face|scene|object)[a-z]*[_-]?(\d*)(?:[_-](.+))?$", re.IGNORECASE)
_KIND_WORDS: dict[str, Kind] = {"portrait": "face", "face": "face", "scene": "scene", "object": "object"}


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded chain. `steps` alternate forward, backward; `rounds` counts whole rounds."""

    id: str
    source: Path
    steps: tuple[Path, ...]
    rounds: int
    kind: Kind
    pair: str
    category: str
    forward: str | None
    backward: str | None
    source_id: str
    kind_is_stated: bool = True
    """False: neither name nor list states the kind, and `kind` is the default."""


class _ListEntry(BaseModel):
    """One chain's entry in a JSON list next to the chains; other keys are ignored."""

    model_config = ConfigDict(extra="ignore")

    chain: str
    image_kind: str | None = None
    pair: str | None = None
    category: str | None = None
    forward: str | None = None
    backward: str | None = None


def read_recordings(folder: Path | str) -> tuple[Recording, ...]:
    """Every chain in a folder: the folder itself, its subfolders, or deeper; sorted by name."""
    root = Path(folder)
    if not root.is_dir():
        raise StudyError(f"no folder '{root}'; give a folder of chains (CHAIN/I0_source.png, CHAIN/I1_forward.png, …)")
    chains = sorted(place for place in _folders(root) if any(_number(path) for path in _images(place)))
    if not chains:
        raise StudyError(f"no recorded chain in '{root}': expected CHAIN/I0_source.png, CHAIN/I1_forward.png, …")
    listed = _listed(root, chains)
    names = [chain.name for chain in chains]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise StudyError(f"two chains in '{root}' are called '{repeated[0]}'; rename one folder")
    return tuple(_read(chain, listed.get(chain.name)) for chain in chains)


def _folders(root: Path) -> Iterator[Path]:
    yield root
    yield from (place for place in root.rglob("*") if place.is_dir())


def _images(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file() and path.suffix.lower() in SUFFIXES)


def _number(path: Path) -> tuple[int, str] | None:
    found = _FILE.match(path.stem)
    return (int(found[1]), found[2].lower()) if found else None


def _read(chain: Path, listed: _ListEntry | None) -> Recording:
    files: dict[tuple[int, str], Path] = {}
    for path in _images(chain):
        number = _number(path)
        if number is None:
            continue
        if number in files:
            raise StudyError(f"chain '{chain.name}' has both {files[number].name} and {path.name}; keep one")
        files[number] = path
    source = files.pop((0, "source"), None)
    if source is None:
        raise StudyError(f"chain '{chain.name}' has no I0_source image; add I0_source.png")
    steps = tuple(_in_order(chain, files))
    by_name, pair, source_id = _from_name(chain.name)
    listed = listed or _ListEntry(chain=chain.name)
    kind = _kind(chain, listed.image_kind) or by_name
    return Recording(
        id=chain.name,
        source=source,
        steps=steps,
        rounds=len(steps) // 2,
        kind=kind or "scene",
        pair=listed.pair or pair,
        category=listed.category or "recorded",
        forward=listed.forward,
        backward=listed.backward,
        source_id=source_id,
        kind_is_stated=kind is not None,
    )


def _in_order(chain: Path, files: dict[tuple[int, str], Path]) -> Iterator[Path]:
    """The steps in order from I1_forward; raises `StudyError` if one is missing."""
    stray = [path.name for number, path in files.items() if number[0] == 0 or number[1] == "source"]
    if stray:
        raise StudyError(
            f"chain '{chain.name}' has {stray[0]}: only I0 is a source, and steps count from I1; rename it"
        )
    for place in range(len(files)):
        expected = (place // 2 + 1, "backward" if place % 2 else "forward")
        if expected not in files:
            further = next(files[key].name for key in sorted(files, key=_order) if _order(key) > _order(expected))
            raise StudyError(
                f"chain '{chain.name}' has {further} but no I{expected[0]}_{expected[1]}; add it or remove the later "
                f"ones"
            )
        yield files[expected]


def _order(number: tuple[int, str]) -> int:
    return 2 * number[0] + (number[1] == "backward")


def _from_name(name: str) -> tuple[Kind | None, str, str]:
    """Kind (if the name states it), pair and source from a name such as `scene_01_chair_add_remove`."""
    found = _NAME.match(name)
    if not found:
        return None, name, name
    word, number, pair = found[1].lower(), found[2], found[3]
    return _KIND_WORDS[word], pair or name, f"{word}_{number}" if number else name


def _kind(chain: Path, word: str | None) -> Kind | None:
    if word is None:
        return None
    kind = _KIND_WORDS.get(word.lower())
    if kind is None:
        raise StudyError(f"chain '{chain.name}' is listed as '{word}'; use one of {', '.join(KINDS)}")
    return kind


def _listed(root: Path, chains: list[Path]) -> dict[str, _ListEntry]:
    """Entries of the JSON lists next to the chains (or in the given folder), by chain."""
    known: dict[str, _ListEntry] = {}
    for folder in sorted({root, *(chain.parent for chain in chains)}):
        for path in sorted(folder.glob("*.json")):
            for entry in _entries(path):
                known.setdefault(entry.chain, entry)
    return known


def _entries(path: Path) -> list[_ListEntry]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise StudyError(f"'{path}' is not valid JSON ({error}); repair or remove it") from error
    if not isinstance(content, list):
        return []
    try:
        return [_ListEntry.model_validate(entry) for entry in content if isinstance(entry, dict) and "chain" in entry]
    except ValidationError as error:
        first = error.errors()[0]
        raise StudyError(f"'{path}': {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
