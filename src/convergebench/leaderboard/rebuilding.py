"""A run made from the rows of a bundle, in a folder of our own, so that the package analyses it like any run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from convergebench.leaderboard.bundle import ResultBundle
from convergebench.leaderboard.layout import COLUMNS, Row, Tables
from convergebench.store.images import file_of, write_synced
from convergebench.store.manifest import Manifest, write_manifest
from convergebench.store.run import Run
from convergebench.store.tables import TABLES, TableRow


def rebuild(bundle: ResultBundle, tables: Tables, root: Path, *, images: Mapping[str, bytes] | None = None) -> Path:
    """Write a run with these rows; names of files come from the ids of images, never from the bundle."""
    root.mkdir(parents=True)
    manifest: Manifest = bundle.manifest
    write_manifest(root / "manifest.json", manifest)
    mimes = {row["id"]: row["mime"] for row in tables["images"]}
    for image, data in (images or {}).items():
        if image in mimes:
            write_synced(root / file_of(image, mimes[image]), data)
    with Run(root) as run:
        for name in COLUMNS:
            run.journal.commit_now([_typed(name, row) for row in tables[name]])
    return root


def _typed(table: str, row: Row) -> TableRow:
    values: dict[str, Any] = {**row}
    if table == "images":
        values["file"] = file_of(row["id"], row["mime"])
    if table == "attempts":
        values["settled"] = bool(row["settled"])
    return TABLES[table](**values)
