"""The documentation says what is true: pages are up to date, complete, and their links lead somewhere."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
import typer

from convergebench import registry
from convergebench.cli.main import app
from convergebench.documents import table_fields
from convergebench.studies.spec import StudySpec
from docs.generate import PAGES, write_reference
from docs.pages import commands, costs, images_needed
from docs.pages.markdown import fill
from tests.docs.blocks import ROOT, blocks

WRITTEN = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(r"(?:src|tests|docs|studies|benchmarks)/[\w./-]+")
_DOTTED = re.compile(r"\bconvergebench(?:\.\w+)+\b")


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_the_reference_is_what_the_code_says_now(tmp_path: Path) -> None:
    for made in write_reference(tmp_path):
        kept = ROOT / "docs" / "reference" / made.name
        assert read(kept) == read(made), f"{named(kept)} is out of date; run: make docs"
    assert {path.stem for path in (ROOT / "docs" / "reference").glob("*.md")} == {"README", *PAGES}


def test_the_table_of_images_needed_is_what_the_code_says() -> None:
    assert images_needed.block() in read(images_needed.PAGE), "out of date; run: make docs"


@pytest.mark.skipif("FETCHED" not in os.environ, reason="not run by make test, which fetches the photographs first")
def test_the_table_of_costs_is_what_the_forecast_says() -> None:
    assert costs.block() in read(costs.PAGE), "out of date; run: make docs"


def test_every_command_and_option_is_documented() -> None:
    page = read(ROOT / "docs" / "reference" / "commands.md")
    for words in commands.command_words():
        assert f"## {' '.join(['cbench', *words])}\n" in page
        for option in options_of(words):
            assert option in page


def test_every_command_is_in_the_readme_or_the_tutorial() -> None:
    told = read(ROOT / "README.md") + read(ROOT / "docs" / "tutorial.md")
    for words in commands.command_words():
        group = bool(getattr(command_of(words), "commands", None))
        assert group or " ".join(["cbench", *words]) in told, words


def test_every_flag_of_run_is_told_somewhere_outside_the_reference() -> None:
    told = "".join(read(path) for path in WRITTEN if path.parent.name != "reference")
    missing = [option for option in options_of(("run",)) if option.startswith("--") and option not in told]
    assert not missing


def test_every_key_of_a_study_file_is_explained() -> None:
    page = read(ROOT / "docs" / "reference" / "study-file.md")
    for key in study_keys():
        assert f"| `{key}` |" in page or f"## [{key}]\n" in page
    assert not re.search(r"\|\s*\|$", page, re.M), "a key without a word of explanation"


@pytest.mark.parametrize("shelf", ["editors", "metrics", "suites"])
def test_everything_on_a_shelf_is_on_its_page(shelf: registry.Shelf) -> None:
    page = read(ROOT / "docs" / "reference" / f"{shelf}.md")
    for name in registry._builtins(shelf):
        assert f"`{name}`" in page or f"## {name}\n" in page


@pytest.mark.parametrize("path", WRITTEN, ids=named)
def test_links_between_files_lead_somewhere(path: Path) -> None:
    for target in _LINK.findall(read(path)):
        if not target.startswith(("http://", "https://")):
            file, _, anchor = target.partition("#")
            assert (path.parent / file).exists() or file == "docs/pictures/report.png", f"{named(path)} → {target}"
            assert not anchor or f"# {anchor.replace('-', ' ')}" in read(path.parent / file).lower()


@pytest.mark.parametrize("path", WRITTEN, ids=named)
def test_files_that_a_page_names_exist(path: Path) -> None:
    for span in _CODE.findall(read(path)):
        for file in _PATH.findall(span):
            assert (ROOT / file).exists(), f"{named(path)} names {file}"


@pytest.mark.parametrize("path", WRITTEN, ids=named)
def test_python_names_in_a_page_exist(path: Path) -> None:
    for dotted in set(_DOTTED.findall(read(path))):
        if dotted.removeprefix("convergebench.") not in (*get_args(registry.Shelf), "models"):
            assert resolves(dotted), f"{named(path)} names {dotted}"


def test_commands_in_the_readme_exist() -> None:
    targets = re.findall(r"^([a-z]+):", read(ROOT / "Makefile"), re.M)
    known = {option for command in commands.command_words() for option in options_of(command)}
    for words in shell_lines(ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        if words[0] == "make":
            assert words[1] in targets
        elif words[0] == "cbench":
            assert tuple(words[1:2]) in commands.command_words()
            assert all(word in known for word in words if word.startswith("--"))
        else:
            assert words[:2] == ["pip", "install"] or words[0] == "export", words
    extras = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]["optional-dependencies"]
    for path in WRITTEN:
        for extra in re.findall(r"(?:convergebench|\.)\[(\w+)\]'", read(path)):
            assert extra in extras, f"{named(path)}: {extra}"


def test_every_make_target_that_is_told_exists() -> None:
    targets = re.findall(r"^([a-z]+):", read(ROOT / "Makefile"), re.M)
    for path in WRITTEN:
        for target in re.findall(r"`make ([a-z]+)`", read(path)):
            assert target in targets, f"{named(path)}: make {target}"


def test_the_readme_has_a_place_for_the_ranking() -> None:
    text = read(ROOT / "README.md")
    assert text.count("<!-- ranking -->\n```text\n$ cbench show ") == 1
    assert text.count("```\n<!-- /ranking -->") == 1


def test_a_page_without_marks_gets_no_ranking(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("no marks")
    with pytest.raises(SystemExit, match="needs the marks"):
        fill(page, "ranking", "1 editor")


ROWS = range(1, 167)


def test_every_requirement_is_accounted_for() -> None:
    rows = re.findall(r"^\| (R\d+) \| (.+?) \| (.*?) \| (.*?) \|$", read(ROOT / "docs" / "requirements.md"), re.M)
    assert [row[0] for row in rows] == [f"R{number}" for number in ROWS]
    for identity, _, where, tests in rows:
        assert _PATH.search(where) or "Open:" in tests, identity
        assert "tests/" in tests or "Open:" in tests, identity


def test_the_changelog_has_an_unreleased_part() -> None:
    assert re.search(r"^## Unreleased\n\n### Added\n\n- ", read(ROOT / "CHANGELOG.md"), re.M)


def test_every_design_note_is_listed() -> None:
    folder = ROOT / "docs" / "design"
    listed = set(_LINK.findall(read(folder / "README.md")))
    assert listed == {path.name for path in folder.glob("*.md")} - {"README.md"}


def options_of(words: tuple[str, ...]) -> list[str]:
    return [option for parameter in command_of(words).params for option in parameter.opts if option.startswith("-")]


@cache
def whole() -> Any:
    return typer.main.get_command(app)


def command_of(words: tuple[str, ...]) -> typer.core.TyperGroup:
    command = whole()
    for word in words:
        command = command.commands[word]
    return command  # type: ignore[no-any-return]


def study_keys() -> Iterator[str]:
    for key, field in StudySpec.model_fields.items():
        yield key
        yield from table_fields(field.annotation)


def shell_lines(*pages: Path) -> Iterator[list[str]]:
    for page in pages:
        for block in blocks(page):
            if block.language == "sh":
                yield from (shlex.split(line, comments=True) for line in block.text.splitlines())


def resolves(dotted: str) -> bool:
    module, _, attribute = dotted.rpartition(".")
    try:
        importlib.import_module(dotted)
    except ModuleNotFoundError:
        try:
            return hasattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError:
            return False
    return True


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md"])
def test_the_demo_is_set_up_by_hand_as_make_does_it(page: str) -> None:
    makefile, text = read(ROOT / "Makefile"), read(ROOT / page)
    (extras,) = re.findall(r"\.demo:.*\n\t\$\(PIP\) -e '(\.\[[\w,]+\])'", makefile)
    (weights,) = re.findall(r"^demo:.*\n\t\$\(BIN\)/(cbench weights fetch .+)$", makefile, re.M)
    assert f"pip install -e '{extras}'" in text
    assert weights in text
