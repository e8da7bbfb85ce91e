"""Words of strangers can be stored, and steer no terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from convergebench.texts import LONGEST, printable, short_line, storable

ANY = st.text(st.characters(codec=None))


@given(ANY)
def test_any_text_becomes_one_that_a_file_can_hold(text: str) -> None:
    kept = storable(text)
    kept.encode("utf-8")
    assert len(kept) == len(text)
    assert kept == text or any("\ud800" <= letter <= "\udfff" for letter in text)


@given(ANY)
def test_what_is_shown_is_one_short_line_without_codes(text: str) -> None:
    line = short_line(text)
    assert line.isprintable() or line == ""
    assert len(line) <= LONGEST + 1
    if text.isprintable() and len(text) <= LONGEST:
        assert line == text


def test_codes_of_a_terminal_are_replaced_one_by_one() -> None:
    assert printable("a\x1b[31mb\nc") == "a\ufffd[31mb\ufffdc"
    assert short_line("x" * 500) == "x" * LONGEST + "…"
