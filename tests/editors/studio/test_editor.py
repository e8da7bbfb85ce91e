"""The studio on pixels: every edit type is done or refused, things come and go, and faults are what they are called."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import cache
from typing import Any

import cv2
import numpy as np
import pytest
from skimage import data as photographs

from convergebench.editors.find import make_editor
from convergebench.editors.studio.faults import FAULTS
from convergebench.editors.studio.scene import networks_here
from convergebench.edits.taxonomy import taxonomy
from convergebench.errors import Refused, StudyError
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.types import Edited, EditRequest
from tests.editors.studio.written import every_sentence

BEYOND = {"pose", "age-or-gender", "toy-figure", "brick-figure"}
FRAMES = {"outpaint"}
NEEDS_WORDS = {"replace-text", "restyle-text", "translate-text"}


@cache
def portrait() -> bytes:
    photograph: Pixels = photographs.astronaut()  # type: ignore[no-untyped-call]
    return encode_png(np.asarray(cv2.resize(photograph, (160, 160), interpolation=cv2.INTER_AREA), np.uint8))


@cache
def still() -> bytes:
    """A blue disc on a light, slightly uneven ground."""
    random = np.random.default_rng(3)
    pixels = np.clip(200 + random.normal(0, 4, (160, 200, 3)), 0, 255).astype(np.uint8)
    cv2.circle(pixels, (100, 85), 34, (40, 70, 190), -1, cv2.LINE_AA)
    return encode_png(pixels)


def edit(words: str, image: bytes, use: str = "sim-studio", seed: int = 1, **options: Any) -> Edited:
    editor = make_editor(use, **{"networks": "none", **options})

    async def once() -> Edited:
        return await editor.edit(EditRequest(image, "image/png", words, seed=seed))

    return asyncio.run(once())


def pixels_of(edited: Edited | bytes) -> Pixels:
    return decode(edited.image if isinstance(edited, Edited) else edited, alpha="white").pixels


def answer_or_reason(words: str) -> Edited | str:
    try:
        return edit(words, portrait())
    except Refused as refusal:
        return refusal.reason


def difference(one: Edited | bytes, other: Edited | bytes) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.asarray(np.abs(pixels_of(one).astype(np.float32) - pixels_of(other)).max(axis=2))


@pytest.mark.parametrize("edit_type", taxonomy())
def test_every_sentence_changes_the_picture_or_is_refused_with_a_reason(edit_type: str) -> None:
    """Without networks: what they would find by name may be refused, but nothing comes back as it was."""
    done = 0
    for words in every_sentence(edit_type, 1):
        answer = answer_or_reason(words)
        if isinstance(answer, str):
            assert answer, words
            continue
        done += 1
        if edit_type in FRAMES:
            assert pixels_of(answer).size > pixels_of(portrait()).size
        else:
            assert (difference(answer, portrait()) > 8).mean() > 0.0008, words
        assert answer.used["step"]
    assert (done == 0) == (edit_type in BEYOND | NEEDS_WORDS)


def test_a_thing_is_added_where_the_words_say_and_later_called_it() -> None:
    added = edit("Add a red ball on the left", still())
    changed = difference(added, still()) > 20
    assert np.nonzero(changed)[1].mean() < 80
    recoloured = edit("Make it green", added.image)
    again = difference(recoloured, added) > 20
    assert again.sum() > 0.3 * changed.sum()
    assert not (again & ~cv2.dilate(changed.astype(np.uint8), np.ones((9, 9))).astype(bool)).any()
    gone = edit("Remove it", recoloured.image)
    assert (difference(gone, still()) > 40).sum() < 0.05 * changed.sum()


def test_the_main_object_is_recoloured_moved_and_taken_away() -> None:
    disc = (100, 85)
    red = pixels_of(edit("Paint the main object red", still()))
    assert red[disc[1], disc[0], 0] > red[disc[1], disc[0], 2] + 60
    moved = pixels_of(edit("Move the main object to the left side", still()))
    assert moved[85, 45, 2] > moved[85, 45, 0] + 60
    assert abs(int(moved[disc[1], 130, 2]) - 200) < 25
    bare = pixels_of(edit("Remove the main object", still()))
    assert np.abs(bare[60:110, 75:125].astype(int) - 200).mean() < 15
    larger = difference(edit("Make the main object larger", still()), still()) > 40
    smaller = difference(edit("Make the main object smaller", still()), still()) > 40
    assert larger[40:52].any()
    assert not smaller[40:48].any()


def test_tones_go_the_way_the_words_say() -> None:
    plain = encode_png(np.full((64, 64, 3), 128, np.uint8))
    warm, cool = (
        pixels_of(edit(f"Make the picture {tone}", plain)).reshape(-1, 3).mean(axis=0) for tone in ("warmer", "cooler")
    )
    assert warm[0] - warm[2] > 20
    assert cool[2] - cool[0] > 20


def test_zoom_keeps_the_size_and_outpainting_keeps_every_pixel_of_the_source() -> None:
    closer = pixels_of(edit("Zoom in on the main object", still()))
    assert closer.shape == (160, 200, 3)
    assert (closer[..., 2].astype(int) - closer[..., 0] > 60).mean() > 1.8 * (
        pixels_of(still())[..., 2].astype(int) - pixels_of(still())[..., 0] > 60
    ).mean()
    wider = edit("Extend the canvas to the left", still())
    left = wider.used["at"][0]
    assert left == 40
    np.testing.assert_array_equal(pixels_of(wider)[:, left:], pixels_of(still()))


def test_writing_is_drawn_where_it_should_be() -> None:
    top = difference(edit('Write "OPEN" in red at the top', still()), still()) > 60
    assert top[:40].sum() > 60
    assert not top[60:].any()


@pytest.mark.skipif("ppocr-v4" not in networks_here(), reason="no weights: cbench weights fetch ppocr-v4")
def test_writing_is_read_translated_and_recoloured() -> None:
    from convergebench.images.frame import Frame
    from convergebench.metrics.semantic._ocr import lines

    sign = np.full((160, 320, 3), 235, np.uint8)
    cv2.putText(sign, "EXIT", (70, 100), cv2.FONT_HERSHEY_SIMPLEX, 2.4, (20, 20, 20), 6, cv2.LINE_AA)
    for words, read in (
        ("Translate the sign into Spanish", "SALIDA"),
        ('Replace the text with "OPEN"', "OPEN"),
        ("Change the color of the text to red", "EXIT"),
    ):
        answer = pixels_of(edit(words, encode_png(sign), networks="auto"))
        assert [line.text.upper() for line in lines(Frame(answer))] == [read]
    assert (answer[..., 0].astype(int) - answer[..., 1] > 80).sum() > 300
    with pytest.raises(Refused, match="translates into spanish, french"):
        edit("Translate the sign into Klingon", encode_png(sign), networks="auto")


def test_what_is_named_but_cannot_be_found_is_refused() -> None:
    for words in ("Remove the giraffe", "Make the person smile", "Change the color of the text to red"):
        with pytest.raises(Refused):
            edit(words, still())


def test_seeds_draw_other_grain_and_nothing_else() -> None:
    one, other = (edit("Add film grain", still(), seed=seed) for seed in (1, 2))
    assert one.image != other.image
    assert one.image == edit("Add film grain", still(), seed=1).image
    assert (
        edit("Zoom in on the main object", still(), seed=1).image
        == edit("Zoom in on the main object", still(), seed=2).image
    )


# ---- the clumsy one

WORDS = {"local": "Add a red ball on the left", "whole": "Make the picture warmer"}


@cache
def clumsy(kind: str) -> dict[int, Edited]:
    return {seed: edit(WORDS[kind], still(), "sim-studio-clumsy", seed) for seed in range(60)}


def of_fault(name: str) -> list[tuple[Edited, Edited]]:
    """Answers with this fault, each beside the faultless answer."""
    found = []
    for kind, words in WORDS.items():
        good = edit(words, still())
        found += [(one, good) for one in clumsy(kind).values() if one.used["fault"] == name]
    assert found, name
    return found


def test_about_a_third_of_its_calls_go_wrong_and_the_record_says_how() -> None:
    seen = Counter(one.used["fault"] for kind in WORDS for one in clumsy(kind).values())
    assert 0.22 < 1 - seen[""] / 120 < 0.5
    assert set(seen) == {"", *FAULTS}


def test_without_a_fault_it_is_the_studio_to_the_pixel() -> None:
    for kind, words in WORDS.items():
        whole = [one for one in clumsy(kind).values() if not one.used["fault"]]
        for one in whole[:3]:
            np.testing.assert_array_equal(pixels_of(one), pixels_of(edit(words, still())))


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_what_its_name_says(name: str) -> None:
    for faulty, good in of_fault(name):
        asked = difference(good, still())
        done, off = difference(faulty, still()), difference(faulty, good)
        match name:
            case "nothing":
                assert done.max() == 0
            case "too-weak":
                assert 0 < done.mean() < 0.4 * asked.mean()
            case "wrong-place":
                assert (done > 20).any()
                assert not ((done > 20) & (asked > 20)).sum() > 0.2 * (asked > 20).sum()
            case "half-done":
                assert done[:, :90].mean() < 0.1 or done[:, 110:].mean() < 0.1
                assert done.mean() > 0.3 * asked.mean()
            case "seam":
                assert (off > 15).any()
                assert (off > 15).mean() < 0.2
            case "tint":
                assert off.mean() > 6
            case "soft":
                assert _detail(faulty) < 0.6 * _detail(good)
            case "noise":
                assert _detail(faulty) > 2 * _detail(good)


def _detail(edited: Edited) -> float:
    grey = cv2.cvtColor(pixels_of(edited), cv2.COLOR_RGB2GRAY)
    return float(np.abs(cv2.Laplacian(grey, cv2.CV_32F)).mean())


def test_the_share_of_faults_is_an_option_and_part_of_the_identity() -> None:
    never = make_editor("sim-studio-clumsy", networks="none", faults=0.0)
    always = make_editor("sim-studio-clumsy", networks="none", faults=1.0)
    assert never.fingerprint != always.fingerprint
    assert all(edit(WORDS["whole"], still(), "sim-studio-clumsy", seed, faults=1.0).used["fault"] for seed in range(5))
    with pytest.raises(StudyError, match="from 0 to 1"):
        make_editor("sim-studio-clumsy", faults=2)
    with pytest.raises(StudyError, match="has no option 'faults'"):
        make_editor("sim-studio", faults=0.5)


def test_it_says_what_it_is_and_what_it_sees_with() -> None:
    blind = make_editor("sim-studio", networks="none")
    assert blind.capabilities.simulated
    notices = blind.notices()  # type: ignore[attr-defined]
    assert "not a model" in notices[0]
    assert "cbench weights fetch human-models" in notices[1]
    if networks_here():
        assert make_editor("sim-studio").fingerprint != blind.fingerprint
    with pytest.raises(StudyError, match="starts with 'sim-'"):
        make_editor("sim-studio", "nano-banana")


def test_a_picture_of_a_few_pixels_is_refused_in_one_line() -> None:
    with pytest.raises(Refused, match="16 × 16"):
        edit("Make the picture warmer", encode_png(np.zeros((4, 9, 3), np.uint8)))
