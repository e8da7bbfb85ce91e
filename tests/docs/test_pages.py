"""Pages that tell a reader what to type are typed, on a tiny suite."""

from __future__ import annotations

import pytest

from tests.docs.blocks import agrees, lines, typed
from tests.docs.shell import Reader
from tests.docs.tiny import picture
from tests.editors.providers.loopback import Answer, serving


@pytest.mark.parametrize(
    ("page", "commands"),
    [
        ("tutorial", 19),
        ("add-an-editor", 11),
        ("add-a-metric", 3),
        ("paper-figure", 4),
        ("paper", 4),
        ("everyday", 6),
        ("filter", 6),
        ("pairs", 2),
        ("own-images", 6),
        ("resume-and-budgets", 7),
        ("several-machines", 11),
        ("spend-less", 5),
        ("costs", 1),
    ],
)
def test_what_a_page_tells_to_type_works(page: str, commands: int, reader: Reader) -> None:
    with serving(lambda asked, server: Answer(body=picture(1))) as lab:
        reader.instead["http://127.0.0.1:8099"] = lab.address
        assert reader.page(f"docs/{page}.md") >= commands


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


def test_lines_of_shell_have_remarks_continuations_and_more_than_one_command() -> None:
    found = [one.text for one in lines("cbench a  # why\n# all of it\ncbench b \\\n  --c '#d' && cbench e\n")]
    assert found == ["cbench a", "cbench b --c '#d'", "cbench e"]
