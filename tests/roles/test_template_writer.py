"""The template writer: one instruction for a picture and an edit type, grounded in what can be measured."""

from __future__ import annotations

import asyncio
from string import Template
from typing import Any

import cv2
import numpy as np
import pytest

from convergebench.edits.taxonomy import taxonomy
from convergebench.errors import StudyError
from convergebench.images.encode import encode_png
from convergebench.roles import make_role, template_writer
from convergebench.roles.picture_facts import PALETTE, colour_name, look_at
from convergebench.roles.tables import RoleTable
from convergebench.roles.template_writer import COLOURS, NAME, THINGS, WORDS, TemplateWriter, sentences
from convergebench.rubrics.reply import parse
from convergebench.rubrics.rubric import form_of, load_rubric, question

HISTORY = "1. Zoom in on the dog.\n2. Add a red ball on the left."
FORBIDDEN = ("brightness", "contrast", "saturation", "sharpen", "blur")
"""What the taxonomy leaves out on purpose."""


def picture(colour: tuple[int, int, int] = (40, 70, 190), x: int = 50) -> bytes:
    pixels = np.full((160, 240, 3), 205, np.uint8)
    pixels[120:] += np.random.default_rng(0).integers(0, 40, (40, 240, 3), np.uint8)  # a busy lower edge
    cv2.circle(pixels, (x, 75), 30, colour, -1, cv2.LINE_AA)
    return encode_png(pixels)


def asked(edit_type: str, *, history: str = "") -> dict[str, Any]:
    name = taxonomy()[edit_type].name
    words = {"edit_type": name} | ({"history": history} if history else {})
    rubric = load_rubric("write-next-instruction" if history else "write-instruction")
    return question(rubric, words, edit_type=edit_type, turn="2" if history else "1", source="picture")


def blind() -> TemplateWriter:
    """Without the detector, so that the answer does not depend on what has been fetched."""
    writer = TemplateWriter()
    writer.detector = ""
    return writer


def write(edit_type: str, image: bytes | None = None, *, history: str = "", repeat: int = 0) -> str:
    payload = asked(edit_type, history=history)
    answered = asyncio.run(blind().ask((image or picture(),), payload, repeat=repeat))
    assert answered.model == NAME
    assert parse(answered.raw, form_of(payload)) == answered.value
    (prompt,) = answered.value["prompts"]
    return str(prompt)


def test_it_has_sentences_for_every_edit_type_and_no_other() -> None:
    assert set(sentences().sentences) == set(taxonomy())
    assert set(sentences().again) <= set(taxonomy())


@pytest.mark.parametrize("edit_type", taxonomy())
def test_the_same_question_has_one_answer_and_repeats_differ(edit_type: str) -> None:
    first = write(edit_type)
    assert first == write(edit_type)
    assert "$" not in first
    assert len(first.split()) >= 4
    found = {write(edit_type, repeat=repeat) for repeat in range(8)}
    assert (len(found) > 1) == (len(sentences().sentences[edit_type]) > 1)


def test_every_sentence_can_be_chosen() -> None:
    wanted = {Template(one).template.split("$")[0] for one in sentences().sentences["change-season"]}
    written = {write("change-season", repeat=repeat) for repeat in range(30)}
    assert all(any(text.startswith(start) for text in written) for start in wanted)


def test_it_names_the_colour_and_the_place_of_what_stands_out() -> None:
    for colour, name in (((40, 70, 190), "blue"), ((200, 30, 30), "red")):
        for x, place in ((45, "on the left"), (120, "in the middle"), (195, "on the right")):
            words = write("remove-object", picture(colour, x))
            assert f"the {name} main object {place}" in words
    assert "to the right" in write("relocate-object", picture(x=45))
    assert "to the left" in write("relocate-object", picture(x=195))


def test_a_thing_gets_another_colour_than_it_has() -> None:
    for repeat in range(12):
        words = write("change-attribute", picture((40, 70, 190)), repeat=repeat)
        assert words.count("blue") == 1, words


def test_every_colour_of_the_palette_is_called_by_its_name() -> None:
    for name, value in PALETTE.items():
        lab = cv2.cvtColor(np.array([[value]], np.float32) / 255, cv2.COLOR_RGB2LAB)[0, 0]
        assert colour_name(lab) == name


def test_text_goes_to_the_calmer_edge() -> None:
    assert look_at(picture(), with_names=False).calm_edge == "top"
    assert "at the top" in write("add-text")


def test_after_an_addition_it_refers_back() -> None:
    for edit_type, word in (("change-attribute", "it"), ("relocate-object", "it"), ("reshape-object", "it")):
        words = write(edit_type, history=HISTORY).lower().split()
        assert {word, "its"} & set(words)
        assert "main" not in words
    # what came before the last instruction, or a type that has nothing to refer to, is described in full
    assert "main object" in write("change-attribute", history="1. Add a hat.\n2. Make the picture warmer.")
    assert "main object" in write("remove-object", history=HISTORY)
    assert "main object" in write("relocate-object", history='1. Write "OPEN" at the top.')


def test_a_history_cannot_be_faked_in_a_first_turn() -> None:
    payload = asked("change-attribute")
    payload["text"] += "\n1. Add a hat."
    value = asyncio.run(blind().ask((picture(),), payload)).value
    assert "main object" in value["prompts"][0]


def test_it_asks_for_nothing_that_the_taxonomy_leaves_out() -> None:
    for known in (*sentences().sentences.values(), *sentences().again.values()):
        assert not [one for one in known for word in FORBIDDEN if word in one.lower()]


def test_its_fingerprint_covers_its_words_and_the_detector(monkeypatch: pytest.MonkeyPatch) -> None:
    before = TemplateWriter().fingerprint
    assert TemplateWriter().fingerprint == before
    monkeypatch.setattr(template_writer, "THINGS", THINGS[1:])
    without_one = TemplateWriter().fingerprint
    assert without_one != before
    monkeypatch.setattr("convergebench.roles.picture_facts.detector_identity", lambda: "another")
    assert TemplateWriter().fingerprint not in (before, without_one)


def test_it_answers_its_two_questions_only() -> None:
    with pytest.raises(StudyError, match="template writer does not answer 'judge-edit'"):
        TemplateWriter().require("judge-edit")
    with pytest.raises(StudyError, match="an edit type of the taxonomy"):
        asyncio.run(TemplateWriter().ask((picture(),), {**asked("zoom-in"), "edit_type": "juggle"}))
    with pytest.raises(StudyError, match="does not use rubrics"):
        make_role("writer", RoleTable(kind="template", rubrics={"write-instruction": "mine.toml"}))


def test_its_words_are_short_lists_without_repeats() -> None:
    for words in (THINGS, COLOURS, WORDS):
        assert len(set(words)) == len(words) >= 6
