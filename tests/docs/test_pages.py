"""Pages that tell a reader what to type are typed, on a tiny suite."""

from __future__ import annotations

import pytest

from tests.docs.blocks import ROOT, Block, agrees, blocks, typed
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


def test_the_readme_s_function_is_an_editor(reader: Reader) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8").split("## Test your own editor", 1)[1]
    code = readme.split("```python\n", 1)[1].split("```", 1)[0]
    (reader.root / "my_editor.py").write_text(code, encoding="utf-8")
    command = readme.split("```sh\n", 1)[1].split("\n", 1)[0]
    assert "--editor my_editor.py:soften" in command
    block = Block("console", f"$ {command} --limit 1 --rounds 1 --metric ssim --no-report")
    assert reader.follow([block]) == 1


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
