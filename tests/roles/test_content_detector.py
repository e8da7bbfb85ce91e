"""The measuring detector on photographs of which it is known what they show."""

from __future__ import annotations

import asyncio
from typing import Any

import cv2
import numpy as np
import pytest

from convergebench.errors import Prerequisite, StudyError
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.images.suite import load_suite
from convergebench.roles.content_detector import MeasuringDetector
from convergebench.roles.edit_judge import subjects
from convergebench.roles.tables import RoleTable
from convergebench.rubrics.reply import parse
from convergebench.rubrics.rubric import form_of, load_rubric, question
from tests.metrics.pictures import photograph

ASKED = question(load_rubric("find-content"), {})


def found(data: bytes) -> dict[str, Any]:
    answered = asyncio.run(MeasuringDetector().ask((data,), ASKED))
    assert answered.model == "measuring detector"
    assert parse(answered.raw, form_of(ASKED)) == answered.value, "in the form a model would be held to"
    value: dict[str, Any] = answered.value
    return value


def test_persons_are_found_in_portraits_and_nowhere_else() -> None:
    for image in load_suite("quick").images:
        assert found(image.read())["person"] == (image.kind == "face"), image.id


def test_a_face_that_is_too_small_to_be_edited_does_not_count() -> None:
    face = np.asarray(cv2.resize(photograph("astronaut", 320, 320), (24, 24), interpolation=cv2.INTER_AREA), np.uint8)
    room = np.full((600, 600, 3), 190, np.uint8)
    room[300:324, 300:324] = face
    assert found(encode_png(room))["person"] == 0


def test_writing_is_found_once_it_can_be_read() -> None:
    cup = photograph("coffee", 480, 320)
    assert found(encode_png(cup))["text"] == 0
    assert found(encode_png(_written(cup, "COFFEE HOUSE")))["text"] == 1
    assert "COFFEE" in found(encode_png(_written(cup, "COFFEE HOUSE")))["seen"]
    assert found(encode_png(_written(cup, "II")))["text"] == 0, "two strokes may be a pattern"


def _written(pixels: Pixels, text: str) -> Pixels:
    out = pixels.copy()
    cv2.putText(out, text, (40, 80), cv2.FONT_HERSHEY_SIMPLEX, 1.5, (255, 255, 255), 4, cv2.LINE_AA)
    return out


def test_what_cannot_be_read_shows_nothing_and_says_why() -> None:
    value = found(b"no picture")
    assert (value["person"], value["text"]) == (0, 0)
    assert "picture of the question" in value["seen"]


def test_missing_networks_are_told_before_the_first_question(monkeypatch: pytest.MonkeyPatch) -> None:
    MeasuringDetector().ready()
    monkeypatch.setattr(subjects, "WEIGHTS", ("taesd-float32",))
    with pytest.raises(Prerequisite, match="cbench weights fetch taesd-float32"):
        MeasuringDetector().ready()


def test_it_answers_its_own_question_in_the_shipped_words() -> None:
    with pytest.raises(StudyError, match="does not answer 'judge-edit'"):
        MeasuringDetector().require("judge-edit")
    with pytest.raises(StudyError, match="does not use rubrics"):
        MeasuringDetector(RoleTable(rubrics={"find-content": "mine.toml"}))
