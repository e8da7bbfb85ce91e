"""Choose a suite out of a larger data set: stratified, seeded, locked.

Kinds take turns, and within a kind its groups (edit types, categories) take turns, so that shares are as equal as
the data allow. Images that were already taken (same bytes) and files that do not decode are passed over and
counted. The manifest that is written locks the choice: it names every file with its sha256.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from polars.exceptions import PolarsError

from convergebench.documents import toml_table
from convergebench.errors import StudyError
from convergebench.ids import canonical
from convergebench.images.candidates import Candidate, Pool
from convergebench.images.decode import decode, probe
from convergebench.images.export import place
from convergebench.images.file_layouts import read_coco, read_i2ebench, read_imgedit, read_plain_folder
from convergebench.images.folder import slug
from convergebench.images.hub import fetch_hub, parse_hub_source
from convergebench.images.hub_layouts import read_tables
from convergebench.types import KINDS, Kind

_SUFFIXES = {"image/jpeg": ".jpg", "image/tiff": ".tif"}


def curate(source: str, *, n: int, seed: int, out: Path, kinds: Sequence[Kind] = KINDS) -> Path:
    """Choose `n` images of `source` into the folder `out` and return the manifest's path, `out/suite.toml`.

    `source` is a folder of images, a local copy of MagicBrush, GEdit-Bench, ImgEdit, I2EBench, HumanEdit, Emu Edit
    or COCO, or `hub:ORG/NAME[@REVISION][#PART]`. Images are written as stored. The same source and seed give the
    same files; `load_suite(str(path))` reads them.
    """
    if n < 1:
        raise StudyError(f"n must be 1 or more, not {n}")
    if not kinds or set(kinds) - set(KINDS):
        raise StudyError(f"kinds must be some of {', '.join(KINDS)}, not {list(kinds)}")
    pool, origin = _pool(source)
    choice = _choose(pool, n=n, seed=seed, kinds=kinds)
    if len(choice.taken) < n:
        raise StudyError(_too_few(choice, n=n, source=source, kinds=kinds))
    return _write(choice, pool, out, head=_Head(origin, n, seed, tuple(kinds)))


@dataclass(frozen=True, slots=True)
class _Taken:
    id: str
    candidate: Candidate
    sha256: str
    suffix: str


@dataclass(slots=True)
class _Choice:
    taken: list[_Taken] = field(default_factory=list)
    duplicates: int = 0
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class _Head:
    origin: str
    n: int
    seed: int
    kinds: tuple[Kind, ...]


def _pool(source: str) -> tuple[Pool, str]:
    origin = source
    if source.startswith("hub:"):
        wanted = parse_hub_source(source)
        folder, revision = fetch_hub(wanted)
        origin = f"hub:{wanted.name}@{revision}" + (f"#{wanted.part}" if wanted.part else "")
    else:
        folder = Path(source).expanduser()
        if not folder.is_dir():
            raise StudyError(f"no folder {source}; give a folder, or hub:ORG/NAME for a Hub data set")
        origin = folder.resolve().name
    for reader in (read_coco, read_imgedit, read_i2ebench, read_tables, read_plain_folder):
        try:
            pool = reader(folder)
        except (KeyError, IndexError, TypeError, AttributeError, PolarsError) as error:
            name = reader.__name__.removeprefix("read_")
            raise StudyError(f"{source} looks like {name} but is not laid out that way ({error!r:.100})") from error
        if pool is not None:
            return pool, origin
    raise StudyError(f"nothing to choose from in {source}: no image files and no table in a known layout")


def _choose(pool: Pool, *, n: int, seed: int, kinds: Sequence[Kind]) -> _Choice:
    choice = _Choice()
    seen: set[str] = set()
    ids: Counter[str] = Counter()
    for candidate in _in_turns(pool.candidates, seed=seed, kinds=kinds):
        if len(choice.taken) == n:
            break
        data = candidate.read()
        sha256 = hashlib.sha256(data).hexdigest()
        if data and sha256 in seen:
            choice.duplicates += 1
            continue
        try:
            decode(data, what=candidate.id)
            suffix = _suffix(probe(data).mime)
        except StudyError:
            choice.unreadable += 1
            continue
        seen.add(sha256)
        id = slug(candidate.id)
        ids[id] += 1
        id = id if ids[id] == 1 else f"{id}-{sha256[:8]}"
        choice.taken.append(_Taken(id, candidate, sha256, suffix))
    return choice


def _in_turns(candidates: Sequence[Candidate], *, seed: int, kinds: Sequence[Kind]) -> Iterator[Candidate]:
    """Kinds in turn, groups of a kind in turn, candidates of a group in an order that only the seed decides."""
    return _turns([_kind_in_turns(candidates, seed=seed, kind=kind) for kind in KINDS if kind in kinds])


def _kind_in_turns(candidates: Sequence[Candidate], *, seed: int, kind: Kind) -> Iterator[Candidate]:
    groups: dict[str, list[Candidate]] = {}
    for candidate in sorted(candidates, key=lambda one: (one.id, one.source)):
        if candidate.kind == kind:
            groups.setdefault(candidate.group, []).append(candidate)
    chance = random.Random(f"{seed}:{kind}")
    order = sorted(groups)
    chance.shuffle(order)
    for name in order:
        chance.shuffle(groups[name])
    return _turns([iter(groups[name]) for name in order])


def _turns(rows: list[Iterator[Candidate]]) -> Iterator[Candidate]:
    while rows:
        left = []
        for row in rows:
            item = next(row, None)
            if item is not None:
                yield item
                left.append(row)
        rows = left


def _suffix(mime: str) -> str:
    return _SUFFIXES.get(mime, "." + mime.removeprefix("image/"))


def _too_few(choice: _Choice, *, n: int, source: str, kinds: Sequence[Kind]) -> str:
    counts = Counter(one.candidate.kind for one in choice.taken)
    per_kind = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if kind in kinds)
    return (
        f"{source} has {len(choice.taken)} different readable images ({per_kind}), not {n} "
        f"({choice.duplicates} duplicates and {choice.unreadable} unreadable passed over); ask for fewer"
    )


def _write(choice: _Choice, pool: Pool, out: Path, *, head: _Head) -> Path:
    path = out / "suite.toml"
    text = _manifest(choice, pool, name=slug(out.resolve().name), head=head)
    if path.exists() and path.read_bytes() != text.encode():
        raise StudyError(f"{path} already holds another suite; choose another folder")
    (out / "images").mkdir(parents=True, exist_ok=True)
    for one in choice.taken:
        # read anew: hundreds of images at once would not fit everywhere
        place(out / "images" / f"{one.id}{one.suffix}", one.candidate.read())
    place(path, text.encode())
    return path


def _manifest(choice: _Choice, pool: Pool, *, name: str, head: _Head) -> str:
    curation = {
        "source": head.origin,
        "layout": pool.layout,
        "n": head.n,
        "seed": head.seed,
        "kinds": list(head.kinds),
        "kind_rule": pool.kind_rule,
        "candidates": len(pool.candidates),
        "duplicates": choice.duplicates,
        "unreadable": choice.unreadable,
    }
    tables = [f"name = {canonical(name)}\n", toml_table("[curation]", curation)]
    for one in sorted(choice.taken, key=lambda taken: (KINDS.index(taken.candidate.kind), taken.id)):
        row = {
            "id": one.id,
            "kind": one.candidate.kind,
            "group": one.candidate.group,
            "licence": one.candidate.licence,
            "source": one.candidate.source,
            "sha256": one.sha256,
            "path": f"images/{one.id}{one.suffix}",
        }
        tables.append(toml_table("[[image]]", row))
    return "\n".join(tables)
