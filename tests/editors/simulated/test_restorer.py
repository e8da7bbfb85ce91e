"""`sim-restorer`: what it reads in prompts, and that its planted effects are in the pixels."""

from __future__ import annotations

import asyncio
from itertools import product
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from convergebench.editors.find import make_editor
from convergebench.editors.simulated.pixels import Pixels, decode, encode_png
from convergebench.editors.simulated.restorer import OPTIONS, SimulatedRestorer, sim_restorer
from convergebench.editors.simulated.restorer_truth import CAREFUL, RestorerTruth
from convergebench.editors.simulated.restoring_words import read_wish
from convergebench.edits.restoration_prompts import RestorationPrompt, shipped_prompts
from convergebench.errors import StudyError
from convergebench.types import Edited, EditRequest
from tests.editors.classical.spoiling import blurred, noisy, photograph, psnr

PROMPTS = {one.id: one for one in shipped_prompts()}
EXACT: dict[str, Any] = {"strength": 0, "wording": 0, "wobble": 0, "invents": 0}
"""Nothing but the planted effects."""


def answer(picture: Pixels, words: str, seed: int = 1, **options: Any) -> Edited:
    editor = sim_restorer("sim-restorer", **options)

    async def once() -> Edited:
        return await editor.edit(EditRequest(encode_png(picture), "image/png", words, seed=seed))

    return asyncio.run(once())


def distance(picture: Pixels, words: str, seed: int = 1, **options: Any) -> float:
    return psnr(picture, decode(answer(picture, words, seed, **options).image))


def gentle(name: str = "astronaut", side: int = 96) -> Pixels:
    """A photograph away from black and white."""
    return (photograph(name, side) * 0.7 + 35).astype(np.uint8)


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS)
def test_length_and_fidelity_of_the_published_prompts_are_read(prompt: RestorationPrompt) -> None:
    wish = read_wish(prompt.words)
    assert wish.long == (prompt.length == "long")
    assert wish.fidelity == prompt.fidelity


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("Remove the noise and grain", "denoise"),
        ("Make it sharp and crisp", "sharpen"),
        ("Bring back the faded colours", "colour"),
        ("Refine the facial details and hair texture", "detail"),
    ],
)
def test_words_for_a_kind_of_damage_raise_the_matching_work(words: str, part: str) -> None:
    asked, plain = read_wish(words), read_wish("do something")
    assert getattr(asked, part) > getattr(plain, part)
    assert not asked.fidelity


@pytest.mark.parametrize("words", ["", "   ", "x" * 100_000, "ünïcode ☃ <script>", "fidelity" * 500, "a-b-" * 9999])
def test_any_words_are_read(words: str) -> None:
    read_wish(words)
    assert answer(gentle(side=24), words).image


@pytest.mark.parametrize("prompt", ["S1", "SF2", "L3", "LF1"])
def test_the_planted_psnr_is_in_the_pixels(prompt: str) -> None:
    wish = read_wish(PROMPTS[prompt].words)
    expected = RestorerTruth().psnr(long=wish.long, fidelity=wish.fidelity)
    assert distance(gentle(), PROMPTS[prompt].words, **EXACT) == pytest.approx(expected, abs=0.05)


def test_the_planted_psnr_is_kept_where_much_is_black_or_white() -> None:
    hard = np.where(photograph("coffee", 96) > 110, 255, 0).astype(np.uint8)
    expected = RestorerTruth().psnr(long=False, fidelity=False)
    assert distance(hard, PROMPTS["S1"].words, **EXACT) == pytest.approx(expected, abs=0.2)


@pytest.mark.parametrize("effects", [(2.0, 0.0, 0.0), (0.0, 3.0, 0.0), (-1.0, 1.0, 2.0)])
def test_effects_are_those_of_the_options(effects: tuple[float, float, float]) -> None:
    length, fidelity, interaction = effects
    options = {**EXACT, "length_effect": length, "fidelity_effect": fidelity, "interaction": interaction}
    cell = {group: distance(gentle(), PROMPTS[f"{group}1"].words, **options) for group in ("S", "SF", "L", "LF")}
    assert cell["L"] - cell["S"] == pytest.approx(length, abs=0.08)
    assert cell["SF"] - cell["S"] == pytest.approx(fidelity, abs=0.08)
    assert cell["LF"] - cell["L"] - cell["SF"] + cell["S"] == pytest.approx(interaction, abs=0.12)


def test_repeats_differ_by_the_wobble_and_wordings_by_theirs() -> None:
    picture = gentle(side=48)
    repeats = [distance(picture, PROMPTS["S1"].words, seed, **{**EXACT, "wobble": 1.0}) for seed in range(60)]
    assert 0.75 < np.std(repeats) < 1.25
    wordings = [distance(picture, f"Restore the picture number {n}", 1, **{**EXACT, "wording": 1.0}) for n in range(60)]
    assert 0.75 < np.std(wordings) < 1.25
    again = [distance(picture, "Restore the picture number 7", seed, **{**EXACT, "wording": 1.0}) for seed in (2, 3)]
    assert again[0] == pytest.approx(wordings[7], abs=0.05)


def test_things_are_painted_in_as_often_as_said_and_less_often_under_fidelity() -> None:
    picture = gentle(side=48)

    def share(prompt: str) -> float:
        calls = [answer(picture, PROMPTS[prompt].words, seed, invents=0.6) for seed in range(120)]
        return fmean(bool(one.used["invented"]) for one in calls)

    assert share("S1") == pytest.approx(0.6, abs=0.13)
    assert share("SF1") == pytest.approx(0.6 * CAREFUL, abs=0.11)


def test_what_is_painted_in_is_seen_in_one_place() -> None:
    picture = gentle()
    with_it, without = (
        decode(answer(picture, PROMPTS["S1"].words, **{**EXACT, "invents": share}).image).astype(int)
        for share in (1.0, 0.0)
    )
    changed = np.abs(with_it - without).max(axis=2) > 0
    assert 0.005 < changed.mean() < 0.15


def test_it_restores() -> None:
    """Noisy pictures come nearer to the clean one; prompts that ask for it do more."""
    clean = photograph("astronaut", 160)
    spoilt = noisy(clean, 22)
    options = {**EXACT, "strength": 1, "level": 44, "fidelity_effect": 0, "length_effect": 0, "interaction": 0}
    asked, other = (
        psnr(clean, decode(answer(spoilt, words, **options).image))
        for words in ("Remove all noise, grain and artifacts", "Hello")
    )
    assert asked > psnr(clean, spoilt) + 2
    assert asked > other + 1


def test_words_for_sharpness_sharpen() -> None:
    def energy(picture: Pixels) -> float:
        return float(np.abs(np.diff(picture.astype(float), axis=1)).mean())

    soft = blurred(gentle(side=160), "gauss:1.5", 0)
    sharp, plain = (
        decode(answer(soft, words, **{**EXACT, "strength": 1, "level": 44}).image)
        for words in ("Remove the blur, sharpen, bring clarity", "Hello")
    )
    assert energy(sharp) > 1.08 * energy(plain) > energy(soft)


def test_a_request_for_fidelity_makes_it_do_less() -> None:
    spoilt = noisy(photograph("astronaut", 160), 20)
    options = {**EXACT, "strength": 1, "level": 44, "fidelity_effect": 0}
    words = "Remove noise and blur and restore the colors"
    bold, careful = (distance(spoilt, text, **options) for text in (words, f"{words}, preserving identity"))
    assert careful > bold + 3


def test_fidelity_shows_on_the_distance_to_the_clean_picture_too() -> None:
    clean = photograph("astronaut", 160)
    spoilt = noisy(clean, 6)
    scores: dict[str, list[float]] = {}
    for group, seed in product(("S", "SF"), range(3)):
        for number in (1, 2, 3):
            edited = answer(spoilt, PROMPTS[f"{group}{number}"].words, seed, invents=0)
            scores.setdefault(group, []).append(psnr(clean, decode(edited.image)))
    assert fmean(scores["SF"]) > fmean(scores["S"]) + 0.5


def test_the_same_seed_gives_the_same_bytes_and_another_one_others() -> None:
    picture = gentle(side=40)
    first = answer(picture, "Restore it", 5)
    assert answer(picture, "Restore it", 5) == first
    assert answer(picture, "Restore it", 6).image != first.image
    assert answer(picture, "Restore that", 5).image != first.image


@pytest.mark.parametrize("size", [(1, 1), (1, 30), (30, 1), (7, 9), (33, 65)])
def test_any_size_is_restored(size: tuple[int, int]) -> None:
    picture = np.random.default_rng(0).integers(0, 256, (*size, 3), np.uint8)
    assert decode(answer(picture, PROMPTS["L1"].words, invents=1).image).shape == picture.shape


def test_it_says_that_it_is_simulated() -> None:
    editor = make_editor("sim-restorer")
    assert isinstance(editor, SimulatedRestorer)
    assert editor.capabilities.simulated
    assert editor.capabilities.seed
    assert not editor.capabilities.deterministic
    assert "say nothing about any model" in editor.notices()[0]
    with pytest.raises(StudyError, match="starts with 'sim-'"):
        sim_restorer("nano-banana")


def test_options_are_the_truth_and_part_of_the_identity() -> None:
    plain = sim_restorer("sim-restorer")
    assert plain.truth == RestorerTruth()
    for name in OPTIONS:
        changed = sim_restorer("sim-restorer", **{name: getattr(plain.truth, name) * 0.9})
        assert changed.fingerprint != plain.fingerprint, name


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"lenght_effect": 1}, "did you mean 'length_effect'"),
        ({"wobble": -1}, "from 0 to 5"),
        ({"invents": 2}, "from 0 to 1"),
        ({"level": "high"}, "a number"),
        ({"level": float("nan")}, "a number"),
    ],
)
def test_a_wrong_option_is_one_line(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(StudyError, match=complaint) as caught:
        sim_restorer("sim-restorer", **options)
    assert "\n" not in str(caught.value)
