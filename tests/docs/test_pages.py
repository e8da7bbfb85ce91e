"""Pages that tell a reader what to type are typed, on a tiny suite."""

from __future__ import annotations

import pytest

from tests.docs.blocks import ROOT, agrees, blocks, typed
from tests.docs.shell import Reader, picture
from tests.editors.providers.loopback import Answer, serving


@pytest.mark.parametrize(
    ("page", "commands"),
    [
        ("tutorial", 19),
        ("add-an-editor", 11),
        ("add-a-metric", 3),
        ("paper-figure", 4),
        ("everyday", 6),
        ("pairs", 2),
    ],
)
def test_what_a_page_tells_to_type_works(page: str, commands: int, reader: Reader) -> None:
    with serving(lambda asked, server: Answer(body=picture(1))) as lab:
        reader.instead["http://127.0.0.1:8099"] = lab.address
        assert reader.follow(blocks(ROOT / "docs" / f"{page}.md")) >= commands


def test_the_readme_shows_the_editor_of_the_page_on_editors() -> None:
    editors = [
        block for block in blocks(ROOT / "docs" / "add-an-editor.md") if block.file == "soft-editor/soft_editor.py"
    ]
    assert editors[0].text in (ROOT / "README.md").read_text(encoding="utf-8")
    assert sum(bool(line.strip()) for line in editors[0].text.splitlines()) == 20, "as the heading says"


def test_output_is_compared_line_by_line_and_dots_stand_for_anything() -> None:
    assert agrees(("a … b", "…", "end"), "a 1 b\nmore\nand more\nend\n")
    assert agrees((), "whatever\n")
    assert not agrees(("a … b",), "a 1 c\n")
    assert not agrees(("a",), "a\nb\n")


def test_commands_of_a_block_are_told_from_their_output() -> None:
    (first, second) = typed("$ cbench list 'a b'\nout\n$ cbench show")
    assert first.words == ("cbench", "list", "a b")
    assert first.shown == ("out",)
    assert second.words == ("cbench", "show")
