"""The words of a received run are shown and do nothing: they cannot steer the terminal of whoever reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.received.parts import change_database, rewrite, typed

STEERING = "\x1b[2J\x1b]0;owned\x07\u202e"


@pytest.mark.parametrize("column", ["chains.editor", "cases.category"])
def test_no_name_in_a_run_steers_the_terminal(run: Path, column: str) -> None:
    table, _, name = column.partition(".")
    change_database(run, f"update {table} set {name} = {name} || '{STEERING}'")
    said = typed("show", run)
    shown = said.out + said.err
    assert shown.replace("\n", "").isprintable(), repr(shown)


def test_a_word_without_an_end_does_not_fill_the_screen(run: Path) -> None:
    rewrite(run, lambda content: content["spec"].update(analysis={"level": "x" * 100_000}))
    said = typed("show", run)
    assert said.code == 2
    assert said.err.count("\n") == 1
    assert len(said.err) < 2000
