"""The page about importing names every layout, every flag and every licence as the code has them."""

from __future__ import annotations

import pytest
import typer

from convergebench.cli.main import app
from convergebench.datasets.layouts import LAYOUTS, load_layout
from tests.docs.blocks import ROOT

PAGE = (ROOT / "docs" / "import.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_has_its_row_with_its_licence(name: str) -> None:
    (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |")]
    assert getattr(load_layout(name), "LICENCE", "") in row
    assert getattr(load_layout(name), "EDITOR", "") in row


def test_every_flag_is_told() -> None:
    commands = getattr(typer.main.get_command(app), "commands", {})
    flags = [flag for option in commands["import"].params for flag in option.opts if flag.startswith("--")]
    assert "--as" in flags
    for flag in flags:
        assert f"`{flag}" in PAGE or f" {flag} " in PAGE, flag
