"""A run while it goes on: how far it is, what it has cost, what failed and what came in last."""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections import Counter, OrderedDict
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from convergebench.errors import StudyError
from convergebench.redaction import redact
from convergebench.report.chains import chain_key
from convergebench.serve.view.shelf import is_live
from convergebench.store.queries.viewing import ChainState, RunProgress, ViewingReader
from convergebench.studies.base import study_of
from convergebench.studies.units import ROUND_TRIP, STEP

NEWEST, FAILURES = 24, 50
"""Most images and failures of one reply."""
MOST_CHANGED = 2_000
MOST_REMEMBERED = 64
"""Replies whose state is remembered, so that the next one can say what has changed since."""
_GOING_ON = ("open", "stopped")

States = Mapping[tuple[str, str], ChainState]


class LiveRuns:
    """Answers `live`; remembers what it has said to tell what is new. Safe to call from any thread."""

    def __init__(self) -> None:
        self._said: OrderedDict[str, tuple[Path, States]] = OrderedDict()
        self._lock = threading.Lock()

    def look(self, root: Path, study: str, since: str = "") -> dict[str, Any]:
        """How the run stands; `since` is the token of an earlier reply."""
        live = is_live(root)  # first: a run that ends meanwhile is asked for once more
        try:
            with closing(ViewingReader(root, checked=False)) as reader:
                progress, states = reader.progress(), reader.states()
                newest, ends = reader.newest(NEWEST), reader.early_ends(FAILURES)
        except sqlite3.Error as error:
            raise StudyError(f"{root.name} cannot be read: {error}") from error
        with self._lock:
            where, before = self._said.get(since, (root, {}))
        changed = [chain for chain, state in states.items() if where != root or before.get(chain) != state]
        token = since if since in self._said and not changed else self._remember(root, states)
        planned = planned_steps(study, states)
        pace = steps_per_minute(progress) if live else 0.0
        left = max(0, planned - progress.steps) if planned is not None else None
        return {
            "token": token,
            "live": live,
            "statuses": dict(Counter(state.status for state in states.values())),
            "steps": progress.steps,
            "planned_steps": planned,
            "steps_per_minute": round(pace, 2),
            "dollars": progress.dollars,
            "seconds_left": round(60 * left / pace) if live and left is not None and pace > 0 else None,
            "failures": [
                {
                    "chain": chain_key(one.editor, one.case),
                    "editor": one.editor,
                    "case": one.case,
                    "step": one.step,
                    "detail": f"{one.status}: {redact(one.detail)}" if one.detail else one.status,
                }
                for one in ends
            ],
            "newest": [
                {
                    "image": one.image,
                    "chain": chain_key(one.editor, one.case),
                    "step": one.step,
                    "editor": one.editor,
                    "case": one.case,
                }
                for one in newest
            ],
            "changed": [chain_key(*chain) for chain in changed[:MOST_CHANGED]],
        }

    def _remember(self, root: Path, states: States) -> str:
        token = secrets.token_urlsafe(9)
        with self._lock:
            self._said[token] = (root, states)
            while len(self._said) > MOST_REMEMBERED:
                self._said.popitem(last=False)
        return token


def planned_steps(study: str, states: States) -> int | None:
    """Steps of the complete run: chains that ended early count as far as they came. None if it cannot be said."""
    each = _steps_per_round(study, states)
    if each is None and any(state.status in _GOING_ON for state in states.values()):
        return None
    return sum(
        max(state.steps, state.planned * (each or 0)) if state.status in _GOING_ON else state.steps
        for state in states.values()
    )


def steps_per_minute(progress: RunProgress) -> float:
    """The pace of the last minute."""
    return 60 * progress.recent / progress.recent_seconds


def _steps_per_round(study: str, states: States) -> int | None:
    unit = study_of(study).unit
    if unit == ROUND_TRIP:
        return 2
    if unit == STEP:
        return 1
    done = [-(-state.steps // state.rounds) for state in states.values() if state.rounds > 0]
    return max(done, default=None)
