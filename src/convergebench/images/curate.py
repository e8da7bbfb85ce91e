"""Select a suite from a larger data set: stratified, seeded, locked.

Kinds take turns, and within a kind its groups (edit types, categories) take turns, so that shares are as equal as
the data allow. Duplicates (same bytes) and files that do not decode are skipped and counted. The
manifest locks the selection: it names every file with its sha256.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from convergebench.documents import toml_table
from convergebench.errors import StudyError
from convergebench.ids import canonical
from convergebench.images.candidates import Candidate, CandidatePool
from convergebench.images.decode import decode, probe
from convergebench.images.export import file_name, write_once
from convergebench.images.file_layouts import read_coco, read_i2ebench, read_imgedit, read_plain_folder
from convergebench.images.folder import slug
from convergebench.images.hub import fetch_hub, parse_hub_source
from convergebench.images.hub_layouts import read_tables
from convergebench.types import KINDS, Kind


def curate(source: str, *, n: int, seed: int, out: Path, kinds: Sequence[Kind] = KINDS) -> Path:
    """Select `n` images of `source` into the folder `out` and return the manifest's path, `out/suite.toml`.

    `source` is a folder of images, a local copy of MagicBrush, GEdit-Bench, ImgEdit, I2EBench, HumanEdit, Emu Edit
    or COCO, or `hub:ORG/NAME[@REVISION][#PART]`. Images are written as stored. The same source and seed give the
    same files; `load_suite(str(path))` reads them.
    """
    if n < 1:
        raise StudyError(f"n must be 1 or more, not {n}")
    if not kinds or set(kinds) - set(KINDS):
        raise StudyError(f"kinds must be some of {', '.join(KINDS)}, not {list(kinds)}")
    pool, origin = _pool(source)
    selection = _select(pool, n=n, seed=seed, kinds=kinds)
    if len(selection.selected) < n:
        raise StudyError(_too_few(selection, n=n, source=source, kinds=kinds))
    return _write(selection, pool, out, request=_CurationRequest(origin, n, seed, tuple(kinds)))


@dataclass(frozen=True, slots=True)
class _Selected:
    id: str
    candidate: Candidate
    sha256: str
    path: str


@dataclass(slots=True)
class _Selection:
    selected: list[_Selected] = field(default_factory=list)
    duplicates: int = 0
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class _CurationRequest:
    origin: str
    n: int
    seed: int
    kinds: tuple[Kind, ...]


def _pool(source: str) -> tuple[CandidatePool, str]:
    origin = source
    if source.startswith("hub:"):
        hub = parse_hub_source(source)
        folder, revision = fetch_hub(hub)
        origin = f"hub:{hub.name}@{revision}" + (f"#{hub.part}" if hub.part else "")
    else:
        folder = Path(source).expanduser()
        if not folder.is_dir():
            raise StudyError(f"no folder {source}; give a folder, or hub:ORG/NAME for a Hub data set")
        origin = folder.resolve().name
    for reader in (read_coco, read_imgedit, read_i2ebench, read_tables, read_plain_folder):
        try:
            pool = reader(folder)
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            name = reader.__name__.removeprefix("read_")
            raise StudyError(f"{source} looks like {name} but is not laid out that way ({error!r:.100})") from error
        if pool is not None:
            return pool, origin
    raise StudyError(f"nothing to choose from in {source}: no image files and no table in a known layout")


def _select(pool: CandidatePool, *, n: int, seed: int, kinds: Sequence[Kind]) -> _Selection:
    selection = _Selection()
    seen: set[str] = set()
    ids: Counter[str] = Counter()
    for candidate in _interleaved(pool.candidates, seed=seed, kinds=kinds):
        if len(selection.selected) == n:
            break
        data = candidate.read()
        sha256 = hashlib.sha256(data).hexdigest()
        if data and sha256 in seen:
            selection.duplicates += 1
            continue
        try:
            decode(data, what=candidate.id)
            mime = probe(data).mime
        except StudyError:
            selection.unreadable += 1
            continue
        seen.add(sha256)
        id = slug(candidate.id)
        ids[id] += 1
        id = id if ids[id] == 1 else f"{id}-{sha256[:8]}"
        selection.selected.append(_Selected(id, candidate, sha256, file_name(id, mime)))
    return selection


def _interleaved(candidates: Sequence[Candidate], *, seed: int, kinds: Sequence[Kind]) -> Iterator[Candidate]:
    """Candidates round-robin over kinds and over the groups of a kind; within a group in seeded random order."""
    return _round_robin([_interleaved_groups(candidates, seed=seed, kind=kind) for kind in KINDS if kind in kinds])


def _interleaved_groups(candidates: Sequence[Candidate], *, seed: int, kind: Kind) -> Iterator[Candidate]:
    groups: dict[str, list[Candidate]] = {}
    for candidate in sorted(candidates, key=lambda one: (one.id, one.source)):
        if candidate.kind == kind:
            groups.setdefault(candidate.group, []).append(candidate)
    rng = random.Random(f"{seed}:{kind}")
    order = sorted(groups)
    rng.shuffle(order)
    for name in order:
        rng.shuffle(groups[name])
    return _round_robin([iter(groups[name]) for name in order])


def _round_robin(rows: list[Iterator[Candidate]]) -> Iterator[Candidate]:
    while rows:
        left = []
        for row in rows:
            item = next(row, None)
            if item is not None:
                yield item
                left.append(row)
        rows = left


def _too_few(selection: _Selection, *, n: int, source: str, kinds: Sequence[Kind]) -> str:
    counts = Counter(one.candidate.kind for one in selection.selected)
    per_kind = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if kind in kinds)
    return (
        f"{source} has {len(selection.selected)} different readable images ({per_kind}), not {n} "
        f"({selection.duplicates} duplicates and {selection.unreadable} unreadable passed over); ask for fewer"
    )


def _write(selection: _Selection, pool: CandidatePool, out: Path, *, request: _CurationRequest) -> Path:
    path = out / "suite.toml"
    text = _manifest(selection, pool, name=slug(out.resolve().name), request=request)
    if path.exists() and path.read_bytes() != text.encode():
        raise StudyError(f"{path} already holds another suite; choose another folder")
    (out / "images").mkdir(parents=True, exist_ok=True)
    for one in selection.selected:
        # read again: hundreds of images may not fit in memory at once
        write_once(out / one.path, one.candidate.read())
    write_once(path, text.encode())
    return path


def _manifest(selection: _Selection, pool: CandidatePool, *, name: str, request: _CurationRequest) -> str:
    curation = {
        "source": request.origin,
        "layout": pool.layout,
        "n": request.n,
        "seed": request.seed,
        "kinds": list(request.kinds),
        "kind_rule": pool.kind_rule,
        "candidates": len(pool.candidates),
        "duplicates": selection.duplicates,
        "unreadable": selection.unreadable,
    }
    tables = [f"name = {canonical(name)}\n", toml_table("[curation]", curation)]
    for one in sorted(selection.selected, key=lambda selected: (KINDS.index(selected.candidate.kind), selected.id)):
        row = {
            "id": one.id,
            "kind": one.candidate.kind,
            "group": one.candidate.group,
            "licence": one.candidate.licence,
            "source": one.candidate.source,
            "sha256": one.sha256,
            "path": one.path,
        }
        tables.append(toml_table("[[image]]", row))
    return "\n".join(tables)
