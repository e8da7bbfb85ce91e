"""Runs of a few bytes: images that are no pictures, and rows that name them."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from convergebench.store.images import file_of
from convergebench.store.run import Run
from convergebench.store.tables import ImageRow

PNG = "image/png"


def add(run: Run, *datas: bytes) -> list[str]:
    """Store images with their rows; returns their files."""
    files = []
    for data in datas:
        identity = run.images.put(data, PNG)
        files.append(file_of(identity, PNG))
        run.journal.commit_now([ImageRow(identity, files[-1], PNG, 1, 1, len(data))])
    return files


def content(root: Path) -> list[tuple[object, ...]]:
    """All rows of all tables of a run's journal."""
    with closing(sqlite3.connect(f"file:{root / 'run.sqlite'}?mode=ro", uri=True)) as connection:
        tables = connection.execute("select name from sqlite_master where type = 'table' order by name").fetchall()
        return [(name, *row) for (name,) in tables for row in connection.execute(f"select * from {name}")]


def eventually(true: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait for something that happens in another thread."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.02)
