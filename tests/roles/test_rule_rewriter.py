"""The rule rewriter: at most twelve words of a long instruction, with its verb and its object."""

from __future__ import annotations

import asyncio
import string
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convergebench.errors import StudyError
from convergebench.roles import make_role
from convergebench.roles.rule_rewriter import MOST, NAME, VERBS, RuleRewriter, shortened
from convergebench.roles.tables import RoleTable
from convergebench.roles.template_writer import sentences
from convergebench.rubrics.rubric import load_rubric, question


def ask(instruction: str) -> object:
    payload = question(load_rubric("rewrite-instruction"), {"instruction": instruction})
    answered = asyncio.run(RuleRewriter().ask((), payload))
    assert answered.model == NAME
    return answered.value


@pytest.mark.parametrize(
    ("long", "short"),
    [
        (
            "Replace the tall green ceramic vase on the left side of the wooden table with a clear glass pitcher of "
            "water, keeping the same soft window light.",
            "replace tall green ceramic vase with clear glass pitcher of water",
        ),
        (
            "Turn the sunny summer street into a snowy winter scene, with snow on the roofs and the parked cars.",
            "turn the sunny summer street into a snowy winter scene",
        ),
        (
            "Could you please give the woman on the right a friendly, open smile while keeping her face as it is?",
            "give the woman on the right a friendly, open smile",
        ),
        ("In this photo, change the car to red so that it matches the house.", "change the car to red"),
        ("The lamp looks dull. Remove it completely, and fill the wall behind it naturally.", "remove it"),
        ("Recolor the brown dog so that it is white.", "recolor brown dog so that it is white"),
        ('Change the writing on the old sign so that it says "WELCOME HOME".',
         'change writing on old sign so that it says "WELCOME HOME"'),
        ("Move the dog to the left side of the picture.", "move the dog to the left side"),
        ("Light the room with flat, greenish light (as in an office).", "light the room with flat, greenish light"),
        ("Zoom in.", "zoom in"),
        ("LEGO-ify everything!", "LEGO-ify everything"),
    ],
)  # fmt: skip
def test_what_a_person_would_leave_out_is_left_out(long: str, short: str) -> None:
    assert shortened(long) == short
    assert ask(long) == {"short": short}


FILLED_IN = {
    "object": "brown dog", "place": "on the left", "colour": "blue", "thing": "red ball", "away": "right",
    "edge": "top", "word": "OPEN",
}  # fmt: skip


def test_every_sentence_of_the_template_writer_is_shortened_and_keeps_its_verb() -> None:
    for known in sentences().sentences.values():
        for template in known:
            words = string.Template(template).substitute(FILLED_IN)
            short = shortened(words)
            assert short.split()[0].strip(":") in VERBS, short
            assert len(short.split()) <= MOST
            assert len(short) < len(words)


def test_where_something_goes_is_kept_where_it_stands_is_not_needed() -> None:
    assert shortened("Relocate the brown dog on the left to the right.") == "relocate the brown dog to the right"


SOME = (
    "the a red dog house on left with while keeping make it warmer, of picture and (slightly) sky. into “Sale” so that "
    "please remove Add tall, bright – very"
)
WORDS = st.sampled_from(SOME.split())


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=40).map(" ".join))
def test_it_only_leaves_words_out(long: str) -> None:
    short = shortened(long)
    assert len(short.split()) <= MOST
    assert len(short) <= len(long)
    rest = iter(word.lower().strip(" ,;:.!") for word in long.split())
    assert all(word.lower().strip(" ,;:.!") in rest for word in short.split())  # in the same order


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300))
def test_no_text_is_too_odd_for_it(text: str) -> None:
    short = shortened(text)
    assert len(short.split()) <= MOST
    assert "\n" not in short


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(sorted(VERBS)), st.sampled_from(["dog", "old car", "wall"]), st.integers(0, 30))
def test_the_verb_and_its_object_stay_however_long_it_is(verb: str, thing: str, more: int) -> None:
    tail = " and the bright window near the door" * more
    short = shortened(f"Please {verb} the {thing} with green paint{tail}, while everything else stays.")
    words = short.lower().split()
    assert words[0] == verb
    assert words[-1] not in ("and", "the", "with")
    assert " ".join(word for word in words if word != "the").startswith(f"{verb} {thing}")


def test_nothing_to_shorten_has_no_answer() -> None:
    assert ask("   ") is None
    assert ask("...") is None


def test_it_answers_one_question_in_its_shipped_words_only() -> None:
    with pytest.raises(StudyError, match="rule rewriter does not answer 'judge-edit'"):
        RuleRewriter().require("judge-edit")
    payload = question(load_rubric("rewrite-instruction"), {"instruction": "Add a hat."})
    with pytest.raises(StudyError, match="only as shipped"):
        asyncio.run(RuleRewriter().ask((), {**payload, "text": "Shorten: Add a hat."}))
    with pytest.raises(StudyError, match="does not use rubrics"):
        make_role("rewriter", RoleTable(kind="rules", rubrics={"rewrite-instruction": "mine.toml"}))


def test_an_instruction_cannot_end_the_question_early() -> None:
    assert ask("Add a hat»\n\nto the dog") == {"short": "add hat» to dog"}


@pytest.mark.parametrize("piece", ["so that ", "in the middle of ", "(", "and ", ", with ", "on the left ", "- "])
def test_a_text_that_repeats_itself_takes_no_time(piece: str) -> None:
    begun = perf_counter()
    shortened("Add a hat " + piece * 2_000)
    assert perf_counter() - begun < 2
