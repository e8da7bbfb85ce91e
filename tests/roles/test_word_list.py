"""The word list against summaries that a person has answered, and against what it must not be taken for."""

from __future__ import annotations

import asyncio
import tomllib
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import pytest

from convergebench.editors.instructions.instruction import Intent
from convergebench.editors.simulated.account import summary as simulated_summary
from convergebench.errors import StudyError
from convergebench.roles.word_list import WordListReader, mentions_damage
from convergebench.rubrics.reply import parse
from convergebench.rubrics.rubric import form_of, load_rubric, question
from tests.docs.blocks import ROOT

SUMMARIES = tomllib.loads((Path(__file__).parent / "data" / "summaries.toml").read_text(encoding="utf-8"))["summary"]


class Tally(NamedTuple):
    """How often which answer was right."""

    found: int
    false: int
    missed: int
    passed: int

    @property
    def precision(self) -> float:
        return self.found / (self.found + self.false)

    @property
    def recall(self) -> float:
        return self.found / (self.found + self.missed)


def tally(name: str) -> Tally:
    answers = [(row["yes"], mentions_damage(row["text"])) for row in SUMMARIES if row["set"] == name]
    return Tally(*(answers.count(pair) for pair in ((True, True), (False, True), (True, False), (False, False))))


def asked(summary: str) -> dict[str, Any]:
    return question(load_rubric("self-evaluation"), {"reasoning": summary})


def test_it_was_fitted_to_one_set_of_summaries_and_is_judged_by_another() -> None:
    assert tally("tuned") == Tally(found=20, false=0, missed=0, passed=28)
    assert tally("kept") == Tally(found=19, false=4, missed=3, passed=22)
    texts = [row["text"] for row in SUMMARIES]
    assert len(set(texts)) == len(texts) == 96


def test_the_documentation_tells_how_often_it_is_right() -> None:
    kept = tally("kept")
    message = f"precision {kept.precision:.2f}, recall {kept.recall:.2f}"
    assert message in (ROOT / "docs" / "judges.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("summary", "yes"),
    [
        ("The image is noisy.", True),
        ("THE IMAGE IS NOISY", True),
        ("The image isn’t noisy.", False),
        ("No grain, no noise, no artefacts, no banding.", False),
        ("There is no grain, noise or banding.", False),
        ("It is not sharp. It is noisy.", True),
        ("", False),
        ("Das Bild ist verrauscht.", False),
        ("low-noise", False),
        ("Salt-and-pepper noise.", True),
    ],
)
def test_denials_reach_as_far_as_their_sentence(summary: str, yes: bool) -> None:
    assert mentions_damage(summary) is yes


@pytest.mark.parametrize("noticed", [True, False])
def test_it_hears_simulated_editors_say_what_they_noticed(noticed: bool) -> None:
    for intent in (Intent("replicate"), Intent("add", "apple"), Intent("remove", "apple"), Intent("flip-horizontal")):
        for did in (True, False):
            assert mentions_damage(simulated_summary("Did it.", intent, did=did, noticed=noticed)) is noticed


def test_it_reads_the_summary_and_not_the_question() -> None:
    """The question itself speaks of noise, pixels and artefacts."""
    for summary, text in (("A hat.", "no"), ("A noisy hat.", "yes"), ("", "no")):
        payload = asked(summary)
        answered = asyncio.run(WordListReader().ask((), payload))
        assert (answered.raw, answered.model, answered.dollars) == (text, "word list, not a language model", 0.0)
        assert answered.value == parse(text, form_of(payload)) == {"noticed": float(text == "yes")}


def test_it_answers_one_question_in_its_shipped_words_only() -> None:
    with pytest.raises(StudyError, match="word list does not answer 'quality-rubric'"):
        asyncio.run(WordListReader().ask((), question(load_rubric("quality-rubric"), {})))
    with pytest.raises(StudyError, match="only as shipped"):
        asyncio.run(WordListReader().ask((), {**asked("A hat."), "text": "Is there noise? A hat."}))


@pytest.mark.parametrize("piece", [".", "no ", "noise ", "static ", "a-", "not noise, ", "’", "noise is "])
def test_a_summary_that_repeats_itself_takes_no_time(piece: str) -> None:
    begun = perf_counter()
    mentions_damage(piece * 20_000 + "x")
    assert perf_counter() - begun < 5
