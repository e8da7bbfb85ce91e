"""Which runs are served, under which names. Only what is listed here can be asked for."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from convergebench.errors import StudyError
from convergebench.serve.guard import Refusal
from convergebench.store.lock import is_being_written
from convergebench.store.overview import PAGES, RunOverview, look_at
from convergebench.store.queries.viewing import journal_state
from convergebench.store.run import is_run

MOST_KEPT = 2_000
"""Most overviews that are kept."""


@dataclass(frozen=True)
class ShelvedRun:
    """One served run."""

    name: str
    root: Path
    outside: bool = False
    """Whether it is a link that leads out of the served folder; such a run is listed and not opened."""


class RunShelf:
    """Runs and folders of runs. Folders are listed at every request: a new run is there at once."""

    def __init__(self, places: Sequence[Path]) -> None:
        for place in places:
            if not place.is_dir():
                raise StudyError(
                    f"there is no folder {place}; runs are made by: cbench run demo-light --run {place}/first"
                )
        self.places = tuple(place.resolve() for place in places)
        self._kept: dict[str, tuple[str, RunOverview]] = {}
        self._lock = threading.Lock()

    @property
    def folder(self) -> str:
        """What is served, as one line."""
        return ", ".join(map(str, self.places))

    @property
    def folder_for_new(self) -> Path | None:
        """Where a new run is put; None if only single runs are served."""
        return next((place for place in self.places if not is_run(place)), None)

    def runs(self) -> dict[str, ShelvedRun]:
        """Every run by its name; a name that comes twice gets a number."""
        found: dict[str, ShelvedRun] = {}
        for place in self.places:
            for root, outside in [(place, False)] if is_run(place) else _folders(place):
                name, number = root.name, 2
                while name in found:
                    name, number = f"{root.name}-{number}", number + 1
                found[name] = ShelvedRun(name, root, outside)
        return found

    def root(self, name: str) -> Path:
        """The folder of a run; `Refusal` if none of this name is served."""
        one = self.runs().get(name)
        if one is None or one.outside or not is_run(one.root):
            raise Refusal(404, "There is no such run here.")
        return one.root

    def overview(self, one: ShelvedRun) -> RunOverview:
        """What it is and how far it came, looked up again only when something was written."""
        if one.outside:
            return RunOverview(one.root, problem="is a link that leads out of the served folder")
        state = "/".join((journal_state(one.root), *(_written(one.root / page) for page in PAGES)))
        with self._lock:
            known = self._kept.get(one.name)
        if known is None or known[0] != state:
            known = (state, look_at(one.root))
            with self._lock:
                self._kept[one.name] = known
                while len(self._kept) > MOST_KEPT:
                    self._kept.pop(next(iter(self._kept)))
        return known[1]


def is_live(root: Path) -> bool:
    """Whether a process writes the run now."""
    return is_being_written(root)


def _folders(place: Path) -> list[tuple[Path, bool]]:
    """The folders of a folder, and whether each is a link out of it."""
    try:
        entries = sorted(os.scandir(place), key=lambda entry: entry.name)
    except OSError as error:
        raise Refusal(503, f"The folder cannot be read: {error.strerror or error}.") from error
    inside = f"{place}{os.sep}"
    return [
        (Path(entry.path), entry.is_symlink() and not os.path.realpath(entry.path).startswith(inside))
        for entry in entries
        if not entry.name.startswith(".") and entry.is_dir()
    ]


def _written(path: Path) -> str:
    try:
        return str(path.stat().st_mtime_ns)
    except OSError:
        return "-"
