"""The measuring judge against editors of which it is known what they did."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from convergebench.edits.pairs import load_pairs
from convergebench.errors import StudyError
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.registry import load
from convergebench.roles.measuring import MeasuringJudge
from convergebench.rubrics.reply import parse
from convergebench.rubrics.rubric import form_of, load_rubric, question
from convergebench.types import Editor, EditPair, EditRequest
from tests.metrics.pictures import jpeg, photograph, tinted, with_disc

PHOTOGRAPHS = {"face": "astronaut", "object": "coffee", "scene": "rocket"}
WEAR: dict[str, Callable[[Pixels], Pixels]] = {
    "nothing": lambda pixels: pixels,
    "jpeg": lambda pixels: jpeg(pixels, 60),
    "tint": lambda pixels: tinted(pixels, 8, -6, 4),
}


def judged(rubric: str, *images: bytes, operation: str, **words: str) -> dict[str, Any]:
    asked = question(load_rubric(rubric), {"instruction": "…", "forward": "…", **words}, operation=operation)
    answered = asyncio.run(MeasuringJudge().ask(images, asked))
    assert answered.model == "measuring judge"
    assert parse(answered.raw, form_of(asked)) == answered.value, "in the form a model would be held to"
    value: dict[str, Any] = answered.value
    return value


def edited(editor: Editor, image: bytes, words: str) -> bytes:
    async def once() -> bytes:
        return (await editor.edit(EditRequest(image, "image/png", words, seed=1))).image

    return asyncio.run(once())


def worn(image: bytes, wear: str) -> bytes:
    return encode_png(WEAR[wear](decode(image).pixels))


def questions() -> list[tuple[EditPair, bytes]]:
    return [
        (pair, encode_png(photograph(PHOTOGRAPHS[kind], 224, 224)))
        for pair in load_pairs(["v1"])
        for kind in pair.kinds
    ]


def test_it_agrees_with_what_simulated_editors_are_known_to_have_done() -> None:
    """Half of the editors do what is asked and half only claim it; all may wear the picture while they are at it."""
    obedient: Editor = load("editors", "sim-perfect")("sim-perfect")
    idle: Editor = load("editors", "sim-forgetful")("sim-forgetful", ignores=1.0)
    right: dict[str, list[bool]] = {"carried_out": [], "undone": []}
    for pair, source in questions():
        assert pair.backward is not None
        assert pair.backward_operation is not None
        done, ignored = edited(obedient, source, pair.forward), edited(idle, source, pair.forward)
        assert pair.backward is not None
        assert pair.backward_operation is not None
        back = edited(obedient, done, pair.backward)
        for wear in WEAR:
            for image, truth in ((done, True), (ignored, False)):
                answer = judged("semantics-forward", source, worn(image, wear), operation=pair.forward_operation)
                right["carried_out"].append((answer["carried_out"] >= 5) is truth)
            for image, truth in ((back, True), (done, False)):
                images = (source, worn(done, wear), worn(image, wear))
                answer = judged("semantics-backward", *images, operation=pair.backward_operation)
                right["undone"].append((answer["undone"] >= 5) is truth)
    assert len(right["carried_out"]) == len(right["undone"]) >= 70
    assert np.mean(right["carried_out"]) >= 0.97
    assert np.mean(right["undone"]) == 1.0


def test_what_else_changed_is_graded_and_named() -> None:
    before = photograph("coffee", 256, 200)
    after = with_disc(before)
    grades = []
    for shift in (0, 4, 12, 40):
        answer = judged(
            "semantics-forward", encode_png(before), encode_png(tinted(after, shift, -shift, 0)), operation="add"
        )
        assert answer["carried_out"] > 5
        assert bool(answer["other_changes"]) is (shift > 0)
        grades.append(answer["severity"])
    assert grades == sorted(grades)
    assert grades[0] < 0.1
    assert grades[-1] == 10.0


def test_on_the_way_back_everything_is_held_against_the_beginning() -> None:
    before = photograph("coffee", 256, 200)
    via = encode_png(with_disc(before))
    clean = judged("semantics-backward", encode_png(before), via, encode_png(before.copy()), operation="remove")
    assert (clean["undone"], clean["left"], clean["other_changes"], clean["severity"]) == (10.0, [], [], 0.0)
    kept = judged("semantics-backward", encode_png(before), via, via, operation="remove")
    assert (kept["undone"], kept["left"]) == (0.0, ["100% of the difference"])
    worse = judged("semantics-backward", encode_png(before), via, encode_png(255 - before), operation="remove")
    assert worse["undone"] == 0.0


def test_what_cannot_be_told_is_null_and_says_why() -> None:
    image = encode_png(photograph("coffee", 64, 64))
    answer = judged("semantics-backward", image, image, image, operation="remove")
    assert answer["undone"] is None
    assert answer["seen"] == "the forward edit changed nothing measurable"
    answer = judged("semantics-forward", image, image, operation="replicate")
    assert answer["carried_out"] is None
    small = judged("semantics-forward", image, encode_png(photograph("coffee", 32, 32)), operation="add")
    assert small["severity"] is None
    assert small["other_changes"] == ["32×32 vs 64×64"]
    broken = judged("semantics-forward", image, image[:60], operation="add")
    assert (broken["carried_out"], broken["severity"]) == (None, None)


def test_it_answers_only_what_it_can_measure() -> None:
    with pytest.raises(StudyError, match="measuring judge does not answer 'quality-rubric'"):
        asyncio.run(MeasuringJudge().ask((b"",), question(load_rubric("quality-rubric"), {})))
