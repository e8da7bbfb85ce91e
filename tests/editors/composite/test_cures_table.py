"""The table of cures: what is held against what."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.cures import control_of, disease_of, families
from benchmarks.marks import put_into

PRESENT = ["sim-noise", "resave(sim-noise)", "paste-back(sim-noise)", "then(sim-perfect, taesd)"]


@pytest.mark.parametrize(
    ("editor", "disease", "control"),
    [
        ("sim-noise", "sim-noise", None),
        ("resave(sim-noise)", "sim-noise", None),
        ("paste-back(sim-noise)", "sim-noise", "resave(sim-noise)"),
        ("paste-back(anchor(sim-noise))", "sim-noise", "resave(sim-noise)"),
        ("best-of(sim-noise, 3, ssim)", "sim-noise", "sim-noise"),
        ("then(sim-noise, waifu2x-denoise)", "sim-noise", "resave(sim-noise)"),
        ("resave(then(sim-noise, sim-perfect, second_instruction=denoise))", "sim-noise", "resave(sim-noise)"),
        ("then(sim-perfect, taesd)", "then(sim-perfect, taesd)", None),
        ("anchor(then(sim-perfect, taesd))", "then(sim-perfect, taesd)", "then(sim-perfect, taesd)"),
    ],
)
def test_a_cure_is_held_against_its_control(editor: str, disease: str, control: str | None) -> None:
    assert disease_of(editor) == disease
    assert control_of(editor, PRESENT) == control


def test_editors_of_one_disease_stand_together() -> None:
    found = families(["sim-jpeg", *PRESENT])
    assert [family.disease for family in found] == ["sim-jpeg", "sim-noise", "then(sim-perfect, taesd)"]
    assert found[1].members == ("sim-noise", "resave(sim-noise)", "paste-back(sim-noise)")


def test_tables_go_between_their_marks_and_nowhere_else(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- cures: begin -->\nold\n<!-- cures: end -->\nb\n", encoding="utf-8")
    put_into(page, "cures", "| new |")
    assert page.read_text(encoding="utf-8") == "a\n<!-- cures: begin -->\n| new |\n<!-- cures: end -->\nb\n"
    with pytest.raises(SystemExit, match="has no place marked"):
        put_into(page, "others", "| new |")
