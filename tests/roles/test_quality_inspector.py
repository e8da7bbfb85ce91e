"""The measuring inspector: wear stops a session, edits on purpose do not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
import pytest

from convergebench.errors import StudyError
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.registry import load
from convergebench.roles.quality_inspector import MeasuringInspector
from convergebench.rubrics.reply import parse
from convergebench.rubrics.rubric import form_of, load_rubric, question
from convergebench.studies.factory_table import FactoryTable
from convergebench.types import EditRequest
from tests.metrics.pictures import jpeg, photograph, tinted, with_disc

LEAST = FactoryTable().least_quality
COPY = "Create an exact copy of this image."


def inspected(now: Pixels, original: Pixels, history: str = f"1. {COPY}") -> dict[str, Any]:
    asked = question(load_rubric("inspect-quality"), {"history": history})
    answered = asyncio.run(MeasuringInspector().ask((encode_png(now), encode_png(original)), asked))
    assert parse(answered.raw, form_of(asked)) == answered.value, "in the form a model would be held to"
    value: dict[str, Any] = answered.value
    return value


@pytest.fixture(scope="module")
def cup() -> Pixels:
    return photograph("coffee", 320, 213)


def grainy(pixels: Pixels, sigma: float) -> Pixels:
    noise = np.random.default_rng(1).normal(0, sigma, (*pixels.shape[:2], 1))
    return np.clip(pixels + noise, 0, 255).astype(np.uint8)


def test_an_untouched_picture_has_no_damage(cup: Pixels) -> None:
    assert inspected(cup, cup) == {"damage": [], "quality": 1.0}


EDITS: dict[str, tuple[str, Callable[[Pixels], Pixels]]] = {
    "a thing": ("Add a red disc.", with_disc),
    "a tone": ("Make the color tone warmer.", lambda pixels: tinted(pixels, 25, 0, -25)),
    "grain": ("Add film grain.", lambda pixels: grainy(pixels, 9)),
    "fog": ("Make it foggy.", lambda pixels: (pixels * 0.5 + 105).astype(np.uint8)),
    "a style": (
        "Turn it into an oil painting.",
        lambda pixels: np.asarray(cv2.stylization(pixels, sigma_s=40, sigma_r=0.5), np.uint8),
    ),
    "one compression": ("Add nothing.", lambda pixels: jpeg(pixels, 85)),
}


@pytest.mark.parametrize("edit", EDITS)
def test_sound_edits_do_not_stop_a_session(cup: Pixels, edit: str) -> None:
    words, make = EDITS[edit]
    assert inspected(make(cup), cup, f"1. {words}")["quality"] >= LEAST


@pytest.mark.parametrize("editor", ["sim-noise", "sim-blur", "sim-resize", "sim-scatter", "sim-tint"])
def test_thirty_copies_through_a_wearing_editor_do(cup: Pixels, editor: str) -> None:
    worn = inspected(copied(cup, editor), cup)
    assert worn["quality"] < LEAST
    assert worn["damage"]


def copied(pixels: Pixels, name: str) -> Pixels:
    editor = load("editors", name)(name)

    async def copies(data: bytes) -> bytes:
        for seed in range(30):
            data = (await editor.edit(EditRequest(data, "image/png", COPY, seed=seed))).image
        return data

    return decode(asyncio.run(copies(encode_png(pixels)))).pixels


def test_quality_falls_with_wear(cup: Pixels) -> None:
    qualities = [inspected(grainy(cup, sigma), cup)["quality"] for sigma in (0, 6, 12, 24)]
    assert qualities == sorted(qualities, reverse=True)
    assert qualities[-1] == 0


def test_words_of_the_history_explain_some_damage_but_not_ruin(cup: Pixels) -> None:
    worn, ruined = grainy(cup, 11), grainy(cup, 40)
    assert inspected(worn, cup)["quality"] < inspected(worn, cup, "1. Add film grain.")["quality"]
    assert inspected(ruined, cup, "1. Add film grain.")["quality"] < LEAST
    tint = tinted(cup, -40, 40, -40)
    assert inspected(tint, cup, "1. Add a hat.")["quality"] < LEAST


def test_what_cannot_be_read_is_ruined_and_says_why(cup: Pixels) -> None:
    asked = question(load_rubric("inspect-quality"), {"history": "1. …"})
    value = asyncio.run(MeasuringInspector().ask((b"no picture", encode_png(cup)), asked)).value
    assert value["quality"] == 0
    assert "picture of the question" in value["damage"][0]


def test_it_answers_its_own_question_only() -> None:
    with pytest.raises(StudyError, match="does not answer 'find-content'"):
        MeasuringInspector().require("find-content")
