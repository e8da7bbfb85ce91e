"""The tables of the runs that are looked at, read again only when their journal has changed."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from pathlib import Path

from convergebench.serve.view.tables import RunTables, load_tables
from convergebench.store.queries.viewing import journal_state

MOST_KEPT = 6
"""Runs whose tables are kept, so that memory stays flat however many are opened."""
PATIENCE = 4.0
"""Tables of a growing run are used for this many times as long as they took to read."""


class KeptTables:
    """The newest tables by run. Safe to call from any thread; one thread reads a run, the others wait for it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Path, tuple[RunTables, float]] = OrderedDict()
        self._reading: dict[Path, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, root: Path) -> RunTables:
        """The tables of a run; `StudyError` if it cannot be read."""
        with self._lock:
            reading = self._reading.setdefault(root, threading.Lock())
        with reading:
            state = journal_state(root)
            with self._lock:
                known = self._kept.get(root)
                if known is not None and (known[0].state == state or time.monotonic() < known[1]):
                    self._kept.move_to_end(root)
                    return known[0]
            begun = time.monotonic()
            found = load_tables(root, state)
            ended = time.monotonic()
            with self._lock:
                self._kept[root] = (found, ended + PATIENCE * (ended - begun))
                self._kept.move_to_end(root)
                while len(self._kept) > MOST_KEPT:
                    gone, _ = self._kept.popitem(last=False)
                    self._reading.pop(gone, None)
        return found
