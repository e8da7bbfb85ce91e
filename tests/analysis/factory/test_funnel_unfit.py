"""A case whose picture none of the chosen types fits: counted, and no failure of the editor."""

from __future__ import annotations

from pathlib import Path

from convergebench.analysis.factory.result import FactoryAnalysis
from convergebench.conductor.analyse import analyse_run
from tests.factory_run import ScriptedRole, factory_run


class Blind(ScriptedRole):
    """Sees neither persons nor writing."""

    def value(self, images: tuple[bytes, ...], payload: object, repeat: int) -> dict[str, object]:
        return {"person": 0.0, "text": 0.0, "seen": "nothing"}


def test_it_is_told_and_is_no_failure(tmp_path: Path) -> None:
    roles = {"detector": Blind("detector")}
    factory_run(tmp_path / "run", count=6, roles=roles, types=["replace-text", "translate-text"], per_image=2)
    found = analyse_run(tmp_path / "run").context.results["factory"]
    assert isinstance(found, FactoryAnalysis)
    n = dict(found.funnel.filter(track="edits").select("stage", "n").iter_rows())
    assert n["no type fits"] > 0
    assert n["no type fits"] + n["accepted"] + n["discarded"] == n["cases"]
    assert found.attempts.filter(~found.attempts["edit_type"].str.ends_with("-text")).height == 0
    rates = found.success_by_type.filter(turns="first", group="all", unit="edit")
    assert rates["n"][0] == n["accepted"] + n["discarded"]
