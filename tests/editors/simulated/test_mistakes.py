"""Mistakes that are switched on happen when they are said to, and the editor's account never shows them."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from convergebench import ids
from convergebench.editors.simulated.family import MODELS, VERSION, make
from convergebench.editors.simulated.memory import read_layered
from convergebench.editors.simulated.mistakes import duplicated
from convergebench.editors.simulated.pixels import Pixels, decode
from convergebench.errors import StudyError
from convergebench.types import Edited, Editor

APPLE = "add an apple"
OLDER = ("sim-perfect", "sim-jpeg", "sim-noise", "sim-crop", "sim-forgetful", "sim-flaky")


def steps(editor: Editor, pixels: Pixels, run: Any, words: list[str]) -> list[Edited]:
    answers: list[Edited] = []
    for seed, asked in enumerate(words):
        answers.append(run(editor, answers[-1].image if answers else pixels, asked, seed=seed))
    return answers


def sim(**options: Any) -> Editor:
    return make("sim", "sim", options)


def apples(answers: list[Edited]) -> list[int]:
    """How many things each picture has on it."""
    return [len(read_layered(one.image).layers) for one in answers]


def test_options_that_came_later_leave_older_fingerprints_alone() -> None:
    """What a fingerprint was before there were mistakes: runs made then can still grow."""
    plain = {"remove": "inpaint", "output": "png", "wears": []}
    assert sim().fingerprint == ids.fingerprint("sim", VERSION, plain)
    assert sim(skip_from=3).fingerprint == ids.fingerprint("sim", VERSION, {**plain, "skip_from": 3})
    perfect = ids.fingerprint("sim-perfect", VERSION, {"remove": "remember", "wears": []})
    assert make("sim-perfect", "sim-perfect", {}).fingerprint == perfect


def test_every_option_is_part_of_the_identity() -> None:
    changed: list[dict[str, Any]] = [
        *({name: 2} for name in ("skip_from", "skip_for", "row_at", "row_of", "replace_every", "duplicate_at")),
        *({name: 0.5} for name in ("unturned", "wrong_turn", "colour_rest")),
        {"additions": "fresh"},
        {"notices": 4},
    ]
    prints = {sim(**options).fingerprint for options in [{}, *changed]}
    assert len(prints) == len(changed) + 1


def test_additions_are_left_out_for_so_many_steps_and_claimed_all_the_same(plain: Any, run: Any) -> None:
    answers = steps(sim(skip_from=2, skip_for=2), plain, run, [APPLE] * 5)
    assert apples(answers) == [1, 1, 1, 2, 3]
    assert {one.reasoning for one in answers} == {"Added the apple."}
    np.testing.assert_array_equal(decode(answers[0].image), decode(answers[2].image))


def test_a_whole_row_is_added_at_its_step(plain: Any, run: Any) -> None:
    answers = steps(sim(row_at=2, row_of=5), plain, run, [APPLE] * 3)
    assert apples(answers) == [1, 6, 7]


def test_every_so_many_steps_the_new_thing_takes_the_place_of_an_old_one(plain: Any, run: Any) -> None:
    words = ["add an apple", "add a banana", "add a coconut"]
    answers = steps(sim(replace_every=3, remove="remember"), plain, run, words)
    tags = [[layer.tag for layer in read_layered(one.image).layers] for one in answers]
    assert tags[1] == ["add:apple", "add:banana"]
    assert len(tags[2]) == 2
    assert tags[2][-1] == "add:coconut"
    old, new = (read_layered(answers[at].image) for at in (1, 2))
    (gone,) = [layer for layer in old.layers if layer.tag not in tags[2]]
    middle = gone.box[0] + gone.box[2] / 2
    coconut = new.layers[-1]
    assert coconut.box[0] < middle < coconut.box[0] + coconut.box[2]


def test_the_first_thing_has_nothing_to_replace(plain: Any, run: Any) -> None:
    assert apples(steps(sim(replace_every=1), plain, run, [APPLE])) == [1]


@pytest.mark.parametrize(("words", "other"), [("flip horizontally", 0), ("flip vertically", 1)])
def test_mirroring_fails_by_its_share_or_goes_the_other_way(words: str, other: int, pictures: Any, run: Any) -> None:
    face = pictures["face"]
    undone = decode(run(sim(unturned=1), face, words).image)
    wrong = decode(run(sim(wrong_turn=1), face, words).image)
    np.testing.assert_array_equal(undone, face)
    np.testing.assert_array_equal(wrong, np.flip(face, axis=other))
    done = [np.array_equal(decode(run(sim(unturned=0.3), face, words, seed=seed).image), face) for seed in range(60)]
    assert 0.15 < np.mean(done) < 0.45


def test_a_quarter_turn_the_other_way(pictures: Any, run: Any) -> None:
    turned = decode(run(sim(wrong_turn=1), pictures["scene"], "rotate 90° clockwise").image)
    np.testing.assert_array_equal(turned, np.rot90(pictures["scene"], 1))


@pytest.mark.parametrize("rest", [0.2, 0.5])
def test_monochrome_keeps_the_share_of_colour_asked_for(rest: float, pictures: Any, run: Any) -> None:
    def spread(pixels: Pixels) -> float:
        return float(np.ptp(pixels.astype(float), axis=2).mean())

    grey = decode(run(sim(colour_rest=rest), pictures["face"], "make it black and white").image)
    assert spread(grey) == pytest.approx(rest * spread(pictures["face"]), rel=0.1)


def test_a_part_of_the_right_half_turns_up_in_the_left_half_and_stays(pictures: Any, run: Any) -> None:
    scene = pictures["object"]
    answers = steps(sim(duplicate_at=2), scene, run, ["replicate"] * 3)
    first, second, third = (decode(one.image) for one in answers)
    np.testing.assert_array_equal(first, scene)
    np.testing.assert_array_equal(second, third)
    changed = (second != scene).any(axis=(0, 2))
    assert changed[:64].any()
    assert not changed[64:].any()
    np.testing.assert_array_equal(second, duplicated(scene))


def test_a_picture_too_narrow_for_a_duplicate_is_left_alone() -> None:
    thin = np.zeros((50, 3, 3), np.uint8)
    np.testing.assert_array_equal(duplicated(thin), thin)


def test_fresh_additions_are_never_worn(plain: Any, run: Any) -> None:
    worn = [{"kind": "noise", "sigma": 0.03}]
    answers = steps(sim(wear=worn, additions="fresh"), plain, run, [APPLE, "replicate", "replicate"])
    clean = read_layered(run(sim(), plain, APPLE).image)
    shown = clean.mask(clean.layers[0]) > 0
    last = decode(answers[-1].image)
    np.testing.assert_array_equal(last[shown], clean.pixels[shown])
    assert (last[~shown] != clean.pixels[~shown]).mean() > 0.5


def test_worn_additions_have_all_the_wear_of_the_rest_at_once(plain: Any, run: Any) -> None:
    """After five steps of static a new apple is as noisy as one that went through all of them."""
    wear = [{"kind": "noise", "sigma": 0.02}]
    words = ["replicate"] * 5 + [APPLE]
    clean = read_layered(run(sim(), plain, APPLE).image)
    # away from its rim and its shadow, where the table shows through
    shown = cv2.erode(clean.mask(clean.layers[0]), np.ones((9, 9), np.uint8)) > 0

    def noise(additions: str) -> float:
        last = decode(steps(sim(wear=wear, additions=additions), plain, run, words)[-1].image)
        return float((last[shown].astype(float) - clean.pixels[shown]).std())

    assert noise("worn") == pytest.approx(255 * 0.02 * np.sqrt(6), rel=0.1)
    assert noise("plain") == pytest.approx(255 * 0.02, rel=0.1)


def test_named_editors_make_their_mistake(plain: Any, run: Any) -> None:
    miscounting = make("sim-miscounting", "sim-miscounting", {})
    assert apples(steps(miscounting, plain, run, [APPLE] * 7)) == [1, 2, 3, 3, 3, 3, 7]
    replacing = make("sim-replacing", "sim-replacing", {})
    assert apples(steps(replacing, plain, run, ["add a pear", "add a plum", "add a lime", "add a kiwi"])) == [
        1,
        2,
        2,
        3,
    ]
    turnless = make("sim-turnless", "sim-turnless", {"wrong_turn": 0})
    answers = [decode(run(turnless, plain, "flip horizontally", seed=seed).image) for seed in range(40)]
    assert 0.3 < np.mean([np.array_equal(one, plain) for one in answers]) < 0.7


def test_only_chance_makes_an_editor_random() -> None:
    assert not make("sim-turnless", "sim-turnless", {}).capabilities.deterministic
    assert make("sim-miscounting", "sim-miscounting", {}).capabilities.deterministic
    assert make("sim-replacing", "sim-replacing", {}).capabilities.deterministic
    assert sim(skip_from=1, duplicate_at=2, colour_rest=0.3).capabilities.deterministic


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unturned": 1.5}, "from 0 to 1"),
        ({"row_of": 1}, "from 2 to 20"),
        ({"additions": "new"}, "'plain' or 'fresh' or 'worn'"),
        ({"replace_evry": 3}, "did you mean 'replace_every'"),
    ],
)
def test_a_mistake_in_the_options_says_what_to_type(options: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        sim(**options)


@pytest.mark.parametrize("name", OLDER)
def test_older_editors_take_no_mistakes(name: str) -> None:
    assert "skip_from" not in MODELS[name].options
