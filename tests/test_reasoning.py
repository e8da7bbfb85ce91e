"""A model's summary of what it thought: its titled sections, which of them look at the picture, how often it began."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.reasoning import Section, rounds, sections

GEMINI = """**Envisioning the Hat**

I'm picturing a red hat. It should sit
a little askew.


**Evaluating the First Draft**

The brim hides an eye.

**Refining the Brim**

I lift it.
"""


def titles(summary: str) -> list[str]:
    return [part.title for part in sections(summary)]


def phases(summary: str) -> list[str]:
    return [part.phase for part in sections(summary)]


def test_a_summary_falls_into_its_titled_sections() -> None:
    assert sections(GEMINI) == (
        Section("Envisioning the Hat", "I'm picturing a red hat. It should sit\na little askew.", "generation"),
        Section("Evaluating the First Draft", "The brim hides an eye.", "evaluation"),
        Section("Refining the Brim", "I lift it.", "generation"),
    )
    assert rounds(sections(GEMINI)) == 2


@pytest.mark.parametrize(
    "summary",
    [
        "**One**\ntext\n**Two**\ntext",
        "**One:**\ntext\n**Two**:\ntext",
        "## One\ntext\n### Two ###\ntext",
        "# One\n\ntext\n\n**Two**\n\ntext",
        "**One**\r\ntext\r\n**Two**\r\ntext",
        "  **One**  \ntext\n\t**Two**\ntext",
        "**One**\ntext.**Two**\ntext",
    ],
)
def test_titles_are_bold_lines_or_headings(summary: str) -> None:
    assert titles(summary) == ["One", "Two"]


def test_parts_between_tags_are_sections() -> None:
    assert [
        (part.title, part.text) for part in sections("<think>A hat.</think><recaption>A man, hatted.</recaption>")
    ] == [
        ("think", "A hat."),
        ("recaption", "A man, hatted."),
    ]


def test_bold_words_inside_a_sentence_are_no_title() -> None:
    (part,) = sections("I make the hat **very red** and leave the rest.\nIt is **done** now")
    assert part.title == ""


def test_words_before_the_first_title_have_none() -> None:
    assert titles("Well then.\n\n**Drawing**\n\nA hat.") == ["", "Drawing"]


def test_a_title_without_words_is_kept() -> None:
    assert sections("**Drawing**") == (Section("Drawing", "", "generation"),)


@pytest.mark.parametrize("summary", [None, "", "  \n "])
def test_no_summary_has_no_sections(summary: str | None) -> None:
    assert sections(summary) == ()
    assert rounds(sections(summary)) == 0


@pytest.mark.parametrize(
    ("title", "phase"),
    [
        ("Assessing the Result", "evaluation"),
        ("Checking the Edges", "evaluation"),
        ("Final Check", "evaluation"),
        ("Reviewing the Composition", "evaluation"),
        ("Comparing with the Original", "evaluation"),
        ("Analyzing the Output", "evaluation"),
        ("Analyzing the Request", "generation"),
        ("Painting a Checkered Scarf", "generation"),
        ("Interpreting the Instruction", "generation"),
        ("Placing the Ball", "generation"),
    ],
)
def test_a_title_says_whether_the_model_makes_or_looks(title: str, phase: str) -> None:
    assert phases(f"**{title}**\n\nwords") == [phase]


def test_the_title_decides_and_not_the_words_below_it() -> None:
    assert phases("**Placing the Ball**\n\nI evaluate where it goes.") == ["generation"]
    assert phases("I evaluate the picture.") == ["evaluation"]


@pytest.mark.parametrize(
    ("order", "count"), [("", 0), ("g", 1), ("gg", 1), ("e", 0), ("ge", 1), ("geg", 2), ("eggeeg", 2), ("gegeg", 3)]
)
def test_a_round_is_a_run_of_making(order: str, count: int) -> None:
    parts = [Section("", "x", "generation" if letter == "g" else "evaluation") for letter in order]
    assert rounds(parts) == count


@given(st.text(alphabet=st.sampled_from("ab *#\n:.<think>/"), max_size=60))
def test_no_word_is_lost_whatever_the_shape(summary: str) -> None:
    kept = "".join(part.title + part.text for part in sections(summary))
    plain = summary.replace("</think>", "").replace("<think>", "think")
    assert sorted(kept.translate(MARKS)) == sorted(plain.translate(MARKS))


def test_a_line_of_blanks_takes_no_time() -> None:
    begun = time.monotonic()
    (part,) = sections(f"# Placing{' ' * 20_000}the ball ##  \nIt lies there.")
    assert part.title.split() == ["Placing", "the", "ball"]
    assert time.monotonic() - begun < 5


MARKS = str.maketrans("", "", " *#\n:")
