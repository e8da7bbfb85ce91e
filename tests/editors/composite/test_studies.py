"""The shipped studies of cures name editors that can be made, each another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.cures import control_of
from convergebench.editors.find import make_editor
from convergebench.studies.spec import read_spec

STUDIES = Path(__file__).parents[3] / "studies"


@pytest.mark.parametrize("name", ["cures", "cures-learned"])
def test_every_editor_is_another_and_every_control_is_in_the_study(name: str) -> None:
    entries = read_spec(STUDIES / f"{name}.toml").editors
    editors = {entry.name: make_editor(entry.use, entry.name, **entry.options) for entry in entries}
    assert len({editor.fingerprint for editor in editors.values()}) == len(editors)
    assert all(editor.capabilities.simulated for editor in editors.values())
    controls = {control_of(name, list(editors)) for name in editors} - {None}
    assert controls <= editors.keys()
