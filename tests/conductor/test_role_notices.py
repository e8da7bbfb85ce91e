"""A model id that may come to mean another model is told before the first question."""

from __future__ import annotations

from pathlib import Path

from benchmarks.factory_world import prepared_factory
from convergebench.conductor.checks import check_ready
from convergebench.conductor.observer import Observer
from tests.factory_run import ROLES, InstantEditor, ScriptedRole


class Noting(Observer):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, line: str) -> None:
        self.lines.append(line)


def test_notices_of_roles_that_are_asked_are_told(tmp_path: Path) -> None:
    roles = {name: ScriptedRole(name) for name in ROLES}
    roles["judge"].notices = ("judge-latest may come to mean another model",)
    observer = Noting()
    check_ready(prepared_factory(2, InstantEditor(), roles), observer)
    assert "note: judge-latest may come to mean another model" in observer.lines
