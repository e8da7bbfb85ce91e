"""Every command and every Python block of every page is executed by a test, or is listed with the reason why not."""

from __future__ import annotations

import importlib
import inspect
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from convergebench.cli.main import app
from docs.pages.commands import command_words
from tests.docs.accounts import FOLLOWED, HOURS, NOT_RUN, Told, pages, scripts, spans, told
from tests.docs.blocks import ROOT

COMMANDS = [command for page in pages() for command in told(page)]


def test_every_command_is_executed_or_has_a_reason() -> None:
    executed = {one.text for one in COMMANDS if one.executed}  # some pages tell the same
    missing = [f"{one.page}: {one.text}" for one in COMMANDS if one.text not in executed and not one.excused]
    assert not missing, "write it as ```console or ```sh and follow the page, or give tests/docs/accounts.py a reason"


@pytest.mark.parametrize("page", pages())
def test_every_python_block_is_executed(page: str) -> None:
    assert not scripts(page) or page in (*FOLLOWED, "docs/iqa.md"), "no test follows this page"  # iqa: test_iqa.py


@pytest.mark.parametrize("page", FOLLOWED)
def test_a_followed_page_is_followed_whole_by_the_test_that_is_named(page: str) -> None:
    text = (Path(__file__).parent / FOLLOWED[page]).read_text(encoding="utf-8")
    assert f'"{page}"' in text or f'"{Path(page).stem}"' in text
    assert ".page(" in text


def test_reasons_are_for_commands_that_are_told() -> None:
    assert set(NOT_RUN) <= {one.text for one in COMMANDS}
    assert all(len(reason) > 3 for reason in NOT_RUN.values())
    executed = sum(one.executed for one in COMMANDS)
    assert executed > 4 * len(NOT_RUN), "the list of what is not run is meant to be short"


@pytest.mark.parametrize("command", [one for one in COMMANDS if one.excused], ids=lambda one: f"{one.page}: {one.text}")
def test_what_is_not_run_is_at_least_understood(command: Told) -> None:
    words = shlex.split(command.text)
    if words[0] == "cbench":
        reads(words[1:])
        for word in words:
            assert not re.fullmatch(r"studies/[\w-]+\.toml", word) or (ROOT / word).is_file(), word
    elif words[:2] == ["python", "-m"]:
        source = inspect.getsource(importlib.import_module(words[2]))
        assert all(f'"{word}"' in source for word in words if word.startswith("--"))
    elif words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)


@pytest.mark.parametrize("page", pages())
def test_commands_in_sentences_exist_with_their_options(page: str) -> None:
    for span in spans(ROOT / page):
        words = [word.rstrip(",") for word in span.split()[1:]]
        command, rest = found(words)
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        for word in rest:
            option = word.partition("=")[0]
            assert not option.startswith("--") or option in known | {"--help"}, f"{page}: {span}"


def test_a_command_that_is_misspelt_is_noticed() -> None:
    reads(["run", "studies/demo.toml", "--limit", "3"])
    for wrong in (["rum", "studies/demo.toml"], ["run", "studies/demo.toml", "--limt", "3"], ["run"]):
        with pytest.raises(AssertionError):
            reads(wrong)


def reads(words: list[str]) -> None:
    """What the program makes of the words, without doing it."""
    command, rest = found(words)
    try:
        command.make_context("cbench", rest).close()
    except Exception as error:
        raise AssertionError(f"cbench {' '.join(words)}: {error}") from error


def found(words: list[str]) -> tuple[Any, list[str]]:
    """The command that the words begin with, and the words after it."""
    command, rest = root(), list(words)
    while rest and rest[0].startswith("-"):  # cbench --debug run
        rest.pop(0)
    while getattr(command, "commands", None) and rest and rest[0] != "…":
        assert rest[0] in command.commands, f"no command {rest[0]!r} in: cbench {' '.join(words)}"
        command = command.commands[rest.pop(0)]
    return command, rest


@cache
def root() -> Any:
    return typer.main.get_command(app)


def test_there_are_pages_commands_and_groups() -> None:
    assert len(COMMANDS) > 150
    assert set(FOLLOWED) <= set(pages())
    assert not set(FOLLOWED) & set(HOURS)
    assert all(found(list(words))[1] == [] for words in command_words())
