"""A run from its store alone: its journal as of the newest whole backup; images follow when they are needed."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from convergebench.errors import StudyError
from convergebench.store.connection import connect
from convergebench.store.images import write_synced
from convergebench.store.manifest import read_manifest
from convergebench.store.outside import name_outside
from convergebench.store.records import Records
from convergebench.store.remote.address import StoreAddress, confirm
from convergebench.store.remote.backup import FOLDERS
from convergebench.store.remote.blobs import Blobs, DamagedBackup
from convergebench.store.remote.files import RemoteFiles
from convergebench.store.remote.heads import BackupHead, newest_first
from convergebench.store.remote.settings import StoreSettings, read_mark, write_settings
from convergebench.store.remote.wal import apply_cut
from convergebench.store.remote.writer import present_writer
from convergebench.texts import short_line


@dataclass(frozen=True)
class Restored:
    """What came back."""

    run: str
    """Its old name."""
    made: datetime
    """When the backup was made, by the clock of the computer that made it."""
    images: int
    missing: tuple[str, ...]
    """Images that rows name and the store does not have."""
    passed_over: tuple[str, ...]
    """Newer backups that are damaged, with the reason."""


def restore(address: StoreAddress, out: Path, *, cache_mb: int | None = None) -> Restored:
    """Write the run of this store into the empty folder `out`; nothing at the store is changed."""
    files = RemoteFiles(address)
    mark = read_mark(files)
    if mark is None:
        raise StudyError(f"{address.url} is not the store of a run; name the URL that was given with --store")
    passed_over: list[str] = []
    for head in newest_first(files, str(present_writer(files).get("writer", ""))):
        try:
            _write(files, head, out)
            break
        except (DamagedBackup, sqlite3.Error, ValueError) as error:
            passed_over.append(short_line(error))
            _empty(out)
    else:
        reason = f" ({passed_over[0]})" if passed_over else ""
        raise StudyError(
            f"{address.url} has no backup of a journal that can be read{reason}; if the folder of the run still "
            "exists, type: cbench backup RUN"
        )
    confirm(address)
    write_settings(out, StoreSettings(address.url, str(mark["id"]), cache_mb=cache_mb))
    there = files.sizes("images")
    with closing(Records(out / "run.sqlite")) as records:
        rows = records.images().values()
        missing = tuple(row.file for row in rows if there.get(row.file) != row.bytes)
    return Restored(head.run, datetime.fromtimestamp(head.time, UTC), len(rows), missing, tuple(passed_over))


def _write(files: RemoteFiles, head: BackupHead, out: Path) -> None:
    blobs = Blobs(files, head.writer)
    database = out / "run.sqlite"
    with database.open("wb") as file:
        for piece in json.loads(blobs.get(head.base)):
            file.write(blobs.get(str(piece)))
        for part in head.parts:
            apply_cut(file, blobs.get(part))
        file.flush()
        os.fsync(file.fileno())
    for name, piece in json.loads(blobs.get(head.files)).items():
        path = PurePosixPath(name)
        if name != "manifest.json" and (str(path.parent) not in FOLDERS or path.name.startswith(".") or "\\" in name):
            raise DamagedBackup(f"the backup has a file '{short_line(name)}', which no run has")
        write_synced(out / path, blobs.get(piece))
    with closing(connect(database, read_only=True)) as connection:
        if connection.execute("pragma quick_check(1)").fetchone() != ("ok",):
            raise DamagedBackup("the journal of the backup is damaged")
        if name_outside(connection) is not None:
            raise StudyError(f"the backup at {files.address.url} names files outside its run; do not use it")
    if (out / "manifest.json").exists():  # a run that was stopped at its very beginning has none
        read_manifest(out / "manifest.json")


def _empty(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink()
