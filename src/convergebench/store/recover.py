"""Rebuilding a damaged run in a new folder from its readable rows and images. The old folder is not changed."""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from convergebench.errors import StudyError
from convergebench.ids import image_id
from convergebench.store.consistent import ConsistencyFilter
from convergebench.store.images import EXTENSIONS, STORE, DamagedImage, file_of, identity_of, write_synced
from convergebench.store.journal import Journal
from convergebench.store.labels import EVIDENCE, source_crop
from convergebench.store.lock import require_unlocked
from convergebench.store.lost_calls import count_lost_calls
from convergebench.store.manifest import command_line, session, write_manifest
from convergebench.store.rating_book import FOLDER as BOOKS
from convergebench.store.recover_manifest import StudyFaults, recovered_manifest
from convergebench.store.rubrics import FOLDER as RUBRICS
from convergebench.store.salvage import Salvage, salvage
from convergebench.store.schema import MIGRATIONS

Probe = Callable[[bytes], tuple[str, int, int]]
"""(MIME type, width, height) of an image's bytes; StudyError if they are none."""


@dataclass
class Recovered:
    """What a recovered run holds, and what was lost."""

    kept: dict[str, int] = field(default_factory=dict)
    lost: dict[str, int] = field(default_factory=dict)
    """Per table: rows that were found and could not be kept."""
    torn: tuple[str, ...] = ()
    """Tables with unreadable pages: the number of lost rows is unknown."""
    notes: list[str] = field(default_factory=list)
    dollars: float = 0.0
    command: str = ""
    """The command that continues the run, if the manifest has it."""


def recover(
    root: Path, out: Path, *, probe: Probe, study_faults: StudyFaults = lambda spec: [], run: Path | None = None
) -> Recovered:
    """Rebuild the run in the empty folder `out`; `run` is the final path of that folder."""
    require_unlocked(root)
    found = salvage(root / "run.sqlite")
    manifest, notes = recovered_manifest(root, found, study_faults)
    counted = count_lost_calls(found, found.indexed, {name.partition("/")[0] for name in manifest.recordings})
    if counted:
        notes.append(f"{counted} calls had lost their rows; they are counted by the index or by their results")
    mimes = {row["id"]: row["mime"] for row in found.rows("images")}
    images = _copy_images(root, out, mimes)
    notes += _fetch_images(root, out, images, mimes)
    notes += _add_image_rows(found, out, images, probe)
    consistent = ConsistencyFilter(found, images, manifest.editors)
    consistent.apply()
    _copy_evidence(root, out, found)
    for folder in (RUBRICS, BOOKS):
        for file in _files(root / folder):
            _copied(file, out / folder / file.name)
    _write_database(out / "run.sqlite", found)
    sessions = [*manifest.sessions, session(command_line())]
    write_manifest(out / "manifest.json", replace(manifest, sessions=sessions))
    if found.mended:
        notes.append(
            f"{found.mended} calls had unreadable cells; where the amount was lost, the editor's price is used"
        )
    os.sync()  # once for all copied files: syncing each would take minutes
    with closing(Journal(out / "run.sqlite")) as journal:  # migrates it
        dollars = journal.dollars()
    lost = {table: found.lost.get(table, 0) + consistent.dropped.get(table, 0) for table in found.columns}
    return Recovered(
        kept={table: len(rows) for table, rows in found.tables.items()},
        lost=lost,
        torn=tuple(sorted(found.torn)),
        notes=notes,
        dollars=dollars,
        command=command_to_go_on(manifest.sessions, run or out),
    )


def _files(folder: Path) -> Iterator[Path]:
    """Plain files below a folder; links are not followed, since they may lead out of the run."""
    for parent, _, names in os.walk(folder):
        for name in sorted(names):
            path = Path(parent, name)
            if path.is_file() and not path.is_symlink():
                yield path


def _copy_images(root: Path, out: Path, mimes: dict[str, str]) -> dict[str, str]:
    """Id → file of every intact image: one that a row refers to, under any file name, or that matches its own name."""
    copied: dict[str, str] = {}
    for path in _files(root / "images"):
        try:
            data = path.read_bytes()
        except OSError:
            continue
        identity, file = image_id(data), path.relative_to(root).as_posix()
        if identity in copied or (identity not in mimes and identity_of(file) != identity):
            continue
        if identity in mimes:
            file = file_of(identity, mimes[identity])
        target = out / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        copied[identity] = file
    return copied


def _fetch_images(root: Path, out: Path, images: dict[str, str], mimes: dict[str, str]) -> list[str]:
    """Those that only the run's store has; `StoreError` if it does not answer, since they are not lost."""
    if not (root / STORE).is_file():
        return []
    from convergebench.store.remote.fetching import fetched

    count = 0
    for identity in mimes.keys() - images.keys():
        file = file_of(identity, mimes[identity])
        try:
            data = fetched(root, file)
        except DamagedImage:
            continue
        if data is not None:
            write_synced(out / file, data)
            images[identity] = file
            count += 1
    return [f"{count:,} images came from the store of {root}; the new folder has none (cbench backup --store URL)"]


def _add_image_rows(found: Salvage, out: Path, images: dict[str, str], probe: Probe) -> list[str]:
    """Set the file of each image row, and make lost rows again from the files."""
    rows = found.tables["images"]
    made = 0
    for identity, file in list(images.items()):
        if (identity,) in rows:
            old = rows[identity,]
            rows[identity,] = (identity, file, *old[2:])
            continue
        data = (out / file).read_bytes()
        try:
            mime, width, height = probe(data)
        except StudyError:
            continue
        if mime in EXTENSIONS and file != file_of(identity, mime):
            (out / file).rename(out / file_of(identity, mime))
            images[identity] = file = file_of(identity, mime)
        rows[identity,] = (identity, file, mime, width, height, len(data))
        made += 1
    return [f"{made} images had no row; the rows were rebuilt from the files"] if made else []


def _copy_evidence(root: Path, out: Path, found: Salvage) -> None:
    """Crops that labels name; a label whose crop is lost stays without one."""
    if "labels" not in found.columns:
        return
    names = [column.name for column in found.columns["labels"]]
    place = names.index("evidence")
    for key, values in list(found.tables["labels"].items()):
        file = values[place]
        if file is None:
            continue
        named_well = Path(file).parent == Path(EVIDENCE) and file.endswith(".png")
        if not named_well or not _copied(root / file, out / file):
            found.tables["labels"][key] = (*values[:place], None, *values[place + 1 :])
        else:
            _copied(root / source_crop(file), out / source_crop(file))


def _copied(source: Path, target: Path) -> bool:
    if source.is_symlink() or not source.is_file():
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        shutil.copyfile(source, target)
    except OSError:
        return False
    return True


def _write_database(path: Path, found: Salvage) -> None:
    """In the schema of its own version, so that later migrations apply to these rows too."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for script in MIGRATIONS[: found.version]:
            connection.executescript(script)
        connection.execute(f"pragma user_version = {found.version}")
        connection.execute("begin")
        for table, rows in found.tables.items():
            holes = ",".join("?" * len(found.columns[table]))
            connection.executemany(f"insert into {table} values ({holes})", rows.values())
        connection.execute("commit")


def command_to_go_on(sessions: list[dict[str, Any]], run: Path) -> str:
    """The last `run` or `import` command, with the new folder in place of the old one."""
    for one in reversed(sessions):
        try:
            words = shlex.split(str(one.get("command", "")))
        except ValueError:  # an unclosed quotation mark
            continue
        if words[1:2] in (["run"], ["import"]):
            whole = [word for word in words if not word.startswith("--run=")]
            place = whole.index("--run") if "--run" in whole else len(whole)
            return shlex.join([*whole[:place], "--run", str(run), *whole[place + 2 :]])
    return ""
