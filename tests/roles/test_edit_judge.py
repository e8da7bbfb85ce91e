"""The measuring judge on edits of which it is known how well they were done."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import cv2
import numpy as np
import pytest

from convergebench.edits.taxonomy import taxonomy
from convergebench.errors import Prerequisite
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.roles import measuring
from convergebench.roles.edit_judge import subjects
from convergebench.roles.measuring import MeasuringJudge
from convergebench.rubrics.reply import parse
from convergebench.rubrics.rubric import form_of, load_rubric, question
from convergebench.studies.factory_table import CRITERIA, FactoryTable
from tests.metrics.pictures import jpeg, photograph, tinted, with_disc

TABLE = FactoryTable()
ADD = "Add a large red disc."
FINGERPRINT = "measuring@1:b92b4f751e79"
"""Part of the plans of runs that were made before edits were judged."""


def facts(edit_type: str, instruction: str) -> dict[str, str]:
    one = taxonomy()[edit_type]
    return {"edit_type": one.id, "scope": one.scope, "operation": one.operation, "instruction": instruction}


def judged(after: Pixels, before: Pixels, edit_type: str = "add-object", instruction: str = ADD) -> dict[str, Any]:
    known = facts(edit_type, instruction)
    asked = question(load_rubric("judge-edit"), {"instruction": instruction}, **known)
    answered = asyncio.run(MeasuringJudge().ask((encode_png(after), encode_png(before)), asked))
    assert parse(answered.raw, form_of(asked)) == answered.value, "in the form a model would be held to"
    value: dict[str, Any] = answered.value
    return value


def score(after: Pixels, before: Pixels, edit_type: str = "add-object", instruction: str = ADD) -> float:
    return TABLE.weights.score(judged(after, before, edit_type, instruction))


@pytest.fixture(scope="module")
def cup() -> Pixels:
    return photograph("coffee", 320, 213)


def warmer(pixels: Pixels, shift: int) -> Pixels:
    return tinted(pixels, shift, 0, -shift)


def test_an_edit_that_was_carried_out_is_accepted(cup: Pixels) -> None:
    value = judged(with_disc(cup), cup)
    assert min(value[name] for name in CRITERIA) > 0.7
    assert value["changed"]
    assert value["preserved"]


def test_doing_nothing_is_no_compliance_and_is_not_accepted(cup: Pixels) -> None:
    for edit_type in ("add-object", "color-tone", "art-style", "zoom-in", "outpaint", "new-background"):
        for after in (cup, jpeg(cup, 75)):
            value = judged(after, cup, edit_type, "Do it.")
            assert value["instruction_compliance"] < 0.1, edit_type
            assert TABLE.weights.score(value) <= TABLE.threshold, edit_type
    assert judged(cup, cup)["changed"] == []


@pytest.mark.parametrize("edit_type", ["add-object", "change-season", "art-style", "expression", "zoom-in"])
def test_another_picture_noise_and_an_even_grey_are_never_accepted(cup: Pixels, edit_type: str) -> None:
    noise = np.random.default_rng(1).integers(0, 256, cup.shape, dtype=np.uint8)
    for after in (photograph("rocket", 320, 213), noise, np.full_like(cup, 128)):
        assert score(after, cup, edit_type, "Do it.") < 0.5


def test_a_speck_and_a_thin_border_are_no_object(cup: Pixels) -> None:
    dotted, framed = cup.copy(), cup.copy()
    cv2.circle(dotted, (100, 100), 2, (255, 0, 0), -1)
    framed[:1], framed[-1:], framed[:, :1], framed[:, -1:] = 255, 255, 255, 255
    for after in (dotted, framed):
        value = judged(after, cup)
        assert value["instruction_compliance"] < 0.25
        assert TABLE.weights.score(value) <= TABLE.threshold


def test_damage_to_the_rest_fails_a_done_edit(cup: Pixels) -> None:
    done = with_disc(cup)
    blurred = np.asarray(cv2.GaussianBlur(done, (0, 0), 2.5), np.uint8)
    static = np.clip(done + np.random.default_rng(1).normal(0, 20, done.shape), 0, 255).astype(np.uint8)
    for after in (tinted(done, -25, 25, -25), blurred, static):
        assert score(after, cup) <= TABLE.threshold < score(done, cup)


def test_the_sides_of_a_pasted_patch_are_seen(cup: Pixels) -> None:
    patched = with_disc(cup)
    part = patched[60:170, 120:280]
    part[:] = (part * 0.85).astype(np.uint8)
    value = judged(patched, cup)
    assert value["seamlessness"] < 0.3 < judged(with_disc(cup), cup)["seamlessness"]
    assert TABLE.weights.score(value) <= TABLE.threshold


def test_a_tone_counts_in_the_direction_that_was_asked_for(cup: Pixels) -> None:
    warm, cool = warmer(cup, 14), warmer(cup, -14)
    for words, right, wrong in (("Make the tone warmer.", warm, cool), ("Make the tone cooler.", cool, warm)):
        assert judged(right, cup, "color-tone", words)["instruction_compliance"] > 0.9
        assert judged(wrong, cup, "color-tone", words)["instruction_compliance"] == 0
        assert 0 < judged(warmer(cup, 3), cup, "color-tone", "Make the tone warmer.")["instruction_compliance"] < 0.9


def test_grain_is_asked_for_or_damage(cup: Pixels) -> None:
    grainy = np.clip(cup + np.random.default_rng(1).normal(0, 10, (*cup.shape[:2], 1)), 0, 255).astype(np.uint8)
    assert score(grainy, cup, "film-grain", "Add film grain.") > TABLE.threshold
    assert judged(grainy, cup, "color-tone", "Make it warmer.")["technical_quality"] < 0.5


def test_the_side_that_the_words_name_is_where_the_change_must_be(cup: Pixels) -> None:
    left, right = cup.copy(), cup.copy()
    for picture, x in ((left, 60), (right, 260)):
        cv2.circle(picture, (x, 100), 35, (200, 30, 30), -1, cv2.LINE_AA)
    words = "Add a red ball on the left side of the picture."
    assert score(left, cup, "add-object", words) > TABLE.threshold >= score(right, cup, "add-object", words)


def test_zooming_in_and_extending_the_canvas_are_told_apart(cup: Pixels) -> None:
    height, width = cup.shape[:2]
    part = np.ascontiguousarray(cup[height // 6 : -height // 6, width // 6 : -width // 6])
    near = np.asarray(cv2.resize(part, (width, height), interpolation=cv2.INTER_CUBIC), np.uint8)
    assert score(near, cup, "zoom-in", "Zoom in.") > TABLE.threshold
    assert score(near, cup, "outpaint", "Extend the canvas.") <= TABLE.threshold
    assert score(cup, part, "outpaint", "Extend the canvas.") > TABLE.threshold
    assert score(cup, part, "zoom-in", "Zoom in.") <= TABLE.threshold


def test_a_crop_that_nobody_asked_for_fails(cup: Pixels) -> None:
    done = with_disc(cup)
    height, width = cup.shape[:2]
    part = done[height // 8 : -height // 8, width // 8 : -width // 8]
    cropped = np.asarray(cv2.resize(part, (width, height), interpolation=cv2.INTER_CUBIC), np.uint8)
    assert judged(cropped, cup)["preservation_balance"] < 0.5
    assert score(cropped, cup) <= TABLE.threshold


def test_another_size_is_no_fault_unless_detail_is_lost(cup: Pixels) -> None:
    done = with_disc(cup)
    larger = np.asarray(cv2.resize(done, None, fx=1.5, fy=1.5, interpolation=cv2.INTER_CUBIC), np.uint8)
    assert score(larger, cup) > TABLE.threshold
    tiny = np.asarray(cv2.resize(done, None, fx=0.3, fy=0.3, interpolation=cv2.INTER_AREA), np.uint8)
    assert judged(tiny, cup)["technical_quality"] < 0.3


def test_a_change_of_a_person_must_lie_on_the_person() -> None:
    face = photograph("astronaut", 320, 320)
    hidden, beside = face.copy(), face.copy()
    cv2.ellipse(hidden, (139, 72), (34, 12), 0, 0, 360, (20, 20, 25), -1, cv2.LINE_AA)
    cv2.ellipse(beside, (40, 260), (34, 12), 0, 0, 360, (20, 20, 25), -1, cv2.LINE_AA)
    words = "Put sunglasses on the person."
    assert score(hidden, face, "accessories", words) > TABLE.threshold >= score(beside, face, "accessories", words)


def test_new_writing_must_be_readable_for_all_points(cup: Pixels) -> None:
    written, smeared = cup.copy(), cup.copy()
    cv2.putText(written, "WELCOME", (70, 50), cv2.FONT_HERSHEY_SIMPLEX, 1.2, (250, 250, 250), 4, cv2.LINE_AA)
    cv2.rectangle(smeared, (70, 25), (240, 52), (250, 250, 250), -1)
    words = 'Write "WELCOME" at the top.'
    full, part = (judged(after, cup, "add-text", words)["instruction_compliance"] for after in (written, smeared))
    assert full > 0.9
    assert part <= 0.5 * full


def test_two_edits_are_compared_as_they_are_scored_and_alike_in_both_orders(cup: Pixels) -> None:
    pictures = [with_disc(cup), cup, tinted(with_disc(cup), -30, 30, -30)]
    known = facts("add-object", ADD)
    asked = question(load_rubric("judge-two-edits"), {"instruction": ADD}, **known)
    for first in pictures:
        for second in pictures:
            sure = [_better(asked, *pair, cup) for pair in ((first, second), (second, first))]
            assert sum(sure) == 1.0
            ahead = score(first, cup) - score(second, cup)
            assert np.sign(sure[0] - 0.5) == np.sign(round(ahead, 2))
    assert _better(asked, pictures[0], pictures[1], cup) > 0.9


def test_two_edits_are_also_compared_where_the_type_is_not_told(cup: Pixels) -> None:
    asked = question(load_rubric("judge-two-edits"), {"instruction": ADD})
    assert _better(asked, with_disc(cup), cup, cup) > 0.9
    assert _better(asked, cup, with_disc(cup), cup) < 0.1


def _better(asked: dict[str, Any], first: Pixels, second: Pixels, before: Pixels) -> float:
    images = encode_png(first), encode_png(second), encode_png(before)
    answered = asyncio.run(MeasuringJudge().ask(images, asked))
    assert parse(answered.raw, form_of(asked)) == answered.value
    return float(answered.value["better"])


def test_what_cannot_be_read_scores_nothing_and_says_why(cup: Pixels) -> None:
    asked = question(load_rubric("judge-edit"), {"instruction": ADD}, **facts("add-object", ADD))
    value = asyncio.run(MeasuringJudge().ask((encode_png(cup)[:80], encode_png(cup)), asked)).value
    assert [value[name] for name in CRITERIA] == [0, 0, 0, 0]
    assert "picture of the question" in value["reason"]


def test_it_says_that_it_measures_and_answers_the_same_again(cup: Pixels) -> None:
    first, second = judged(with_disc(cup), cup), judged(with_disc(cup), cup)
    assert first == second
    assert "measured" in first["understood"]
    assert first["reason"].startswith("measured, not seen")


def test_the_fingerprint_changes_only_when_what_it_measures_with_does(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MeasuringJudge().fingerprint != FINGERPRINT, "decay is at version 3"
    monkeypatch.setattr(measuring, "FIRST_OF_EDITS", {**measuring.FIRST_OF_EDITS, "decay": 3})
    assert MeasuringJudge().fingerprint == FINGERPRINT


def test_missing_networks_are_told_with_what_to_type(cup: Pixels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subjects, "MODULES", ("no_such_module",))
    with pytest.raises(Prerequisite, match="pip install"):
        judged(cup, cup)


def test_an_edit_is_judged_in_half_a_second_of_one_core(cup: Pixels) -> None:
    judged(with_disc(cup), cup)  # loads what is loaded once
    begun = time.process_time()
    judged(with_disc(cup), tinted(cup, 1, 0, 0), "change-attribute", "Make the cup on the left blue.")
    assert time.process_time() - begun < 0.5
