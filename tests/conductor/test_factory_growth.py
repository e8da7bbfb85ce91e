"""A factory run grows by images and goes on after a stop; what it accepted is never decided anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from convergebench.conductor.options import RunOptions
from convergebench.conductor.running import plan, run
from convergebench.errors import ChangedMeaning, StudyError
from convergebench.store.frames import RunFrames
from convergebench.studies.factory import Factory
from convergebench.studies.spec import parse_spec
from tests.factory_run import ROLES, InstantEditor, ScriptedRole, factory_run, sources


def decisions(root: Path) -> set[tuple[Any, ...]]:
    frames = RunFrames(root)
    found = set(frames.decisions().select("case", "number", "decision", "facts").rows())
    frames.close()
    return found


def test_more_images_keep_every_earlier_decision_and_ask_nothing_again(tmp_path: Path) -> None:
    factory_run(tmp_path / "run", count=6, sessions=0.5)
    before = decisions(tmp_path / "run")
    editor, roles = InstantEditor(), {name: ScriptedRole(name) for name in ROLES}
    factory_run(tmp_path / "run", count=9, sessions=0.5, editor=editor, roles=roles)
    after = decisions(tmp_path / "run")
    assert before < after
    new = [row for row in after - before if row[2] == "attempt"]
    assert editor.calls == len(new)
    assert roles["judge"].asked == len(new)


@pytest.mark.parametrize(
    "changed", [{"threshold": 0.8}, {"attempts": 2}, {"judged": 2}, {"seed": 1}, {"types": ["zoom-in"]}]
)
def test_another_rule_of_acceptance_is_another_run(tmp_path: Path, changed: dict[str, Any]) -> None:
    factory_run(tmp_path / "run", count=2)
    editor = InstantEditor()
    with pytest.raises(ChangedMeaning):
        factory_run(tmp_path / "run", count=2, editor=editor, **changed)
    assert editor.calls == 0


def test_another_judge_is_another_run(tmp_path: Path) -> None:
    factory_run(tmp_path / "run", count=2)
    other = ScriptedRole("judge")
    other.fingerprint = "scripted-judge@2"
    with pytest.raises(ChangedMeaning, match="judge"):
        factory_run(tmp_path / "run", count=2, roles={"judge": other})


def test_a_spent_budget_stops_and_more_money_ends_with_the_same_data_set(tmp_path: Path) -> None:
    def session(root: Path, most: float | None) -> str | None:
        spec = parse_spec(
            {
                "study": "factory",
                "editors": [{"name": "instant", "use": "sim-identity"}],
                "factory": {"per_image": 2, "sessions": 0.5},
                "measure": {"metrics": ["psnr"]},
            }
        )
        roles = {name: ScriptedRole(name, dollars=0.01) for name in ROLES}
        planned = plan(spec, root, editors={"instant": InstantEditor(dollars=1.0)}, sources=sources(5), roles=roles)
        return run(planned, RunOptions(report=False, workers=1, max_cost=most)).stopped

    assert session(tmp_path / "whole", None) is None
    stopped = [session(tmp_path / "torn", most) for most in (3.0, 9.0, None)]
    assert stopped[0]
    assert stopped[1]
    assert stopped[2] is None
    assert decisions(tmp_path / "torn") == decisions(tmp_path / "whole")


def test_a_study_that_fixes_a_name_of_the_settings_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Factory, "fixed", lambda self: {"seed": 1})
    with pytest.raises(StudyError, match="fixes 'seed'"):
        factory_run(tmp_path / "run", count=2)
