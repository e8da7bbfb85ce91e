"""The page on audits: what it tells to type works."""

from __future__ import annotations

import pytest

from convergebench.cli.main import app
from tests.docs.blocks import ROOT
from tests.docs.shell import Reader

PAGE = ROOT / "docs" / "audit.md"


@pytest.mark.slow
def test_what_the_page_tells_to_type_works(reader: Reader) -> None:
    assert reader.page("docs/audit.md") == 8


def test_flags_of_the_page_exist() -> None:
    import typer

    command = typer.main.get_command(app).commands["audit"]  # type: ignore[attr-defined]
    known = {option for parameter in command.params for option in parameter.opts}
    told = [
        line.split("`")[1].split()[0] for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:4] == "| `-"
    ]
    assert len(told) == 10
    assert set(told) <= known
