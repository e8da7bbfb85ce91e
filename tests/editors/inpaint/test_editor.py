"""`inpaint` on photographs that scikit-image ships, with the networks that `make test` fetches."""

from __future__ import annotations

import asyncio
import importlib
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from convergebench.editors.base import BaseEditor
from convergebench.editors.find import make_editor
from convergebench.editors.inpaint.finding import find_thing
from convergebench.errors import Prerequisite, Refused, StudyError
from convergebench.images.frame import Pixels
from convergebench.registry import load
from convergebench.vision.masks import person_mask
from tests.editors.autoencoder.learned import as_file, edit, make, pixels_of, request


@pytest.fixture(scope="module")
def face() -> Pixels:
    """A face without glasses, hat or earrings, before a dark wall: silver earrings show."""
    make("inpaint")
    data: Any = importlib.import_module("skimage.data")
    picture = np.asarray(data.astronaut()[0:300, 75:375], np.uint8)
    return np.where(person_mask(picture)[..., None], picture, (picture * 0.35).astype(np.uint8))


@pytest.fixture(scope="module")
def lawn() -> Pixels:
    """Sky over a lawn, with grain."""
    picture = np.empty((256, 256, 3), np.int16)
    picture[:110], picture[110:] = (150, 185, 225), (96, 136, 70)
    picture += np.random.default_rng(0).integers(-12, 13, picture.shape, np.int16)
    return picture.astype(np.uint8)


def changed(before: Pixels, after: Pixels) -> Any:
    return np.abs(before.astype(int) - after).max(axis=2) > 12


@pytest.mark.parametrize("name", ["inpaint", "inpaint-remove", "inpaint-add", "inpaint-recolour"])
def test_making_one_needs_nothing_and_says_what_is_lacking(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CONVERGEBENCH_WEIGHTS", "")
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path))
    editor: BaseEditor = load("editors", name)(name)
    assert editor.fingerprint.startswith(f"{name}@")
    assert editor.capabilities.instructed
    assert editor.capabilities.seed
    assert not editor.capabilities.simulated
    assert "not comparable to large models" in editor.notices()[0]
    told = " ".join(editor.lacks())
    assert all(f"cbench weights fetch {one}" in told for one in ("human-models", "isnet", "mi-gan", "face-parts"))
    assert ("photographs-vendure" in told) == (name in ("inpaint", "inpaint-add"))
    words = {"inpaint-remove": "remove the hat", "inpaint-recolour": "make the cup blue"}.get(name, "add a hat")
    with pytest.raises(Prerequisite, match="type: cbench weights fetch mi-gan"):
        edit(editor, np.zeros((32, 32, 3), np.uint8), words)


@pytest.mark.parametrize(
    ("words", "thing", "most"), [("glasses", "glasses", 0.06), ("a hat", "hat", 0.4), ("earrings", "earrings", 0.04)]
)
def test_what_is_put_on_a_face_is_found_there_again_and_taken_off(
    face: Pixels, words: str, thing: str, most: float
) -> None:
    editor = make("inpaint")
    with pytest.raises(Refused, match=f"finds no {thing}"):
        edit(editor, face, f"remove the {thing}")
    worn = pixels_of(edit(editor, face, f"add {words}"))
    assert 0.002 < changed(face, worn).mean() < most
    found = find_thing(worn, thing, None, None).mask
    assert changed(face, worn)[found].mean() > 0.4
    bare = pixels_of(edit(editor, worn, f"remove the {thing}"))
    try:
        left = find_thing(bare, thing, None, None).mask.sum()
    except Refused:
        left = 0
    assert left < 0.5 * found.sum()
    assert (changed(face, bare) & ~changed(face, worn)).mean() < 0.06  # the rest is left alone


def test_an_added_object_is_removed_from_a_picture_that_another_program_saved(lawn: Pixels) -> None:
    """It keeps no memory: neither of the object nor of its place."""
    added = pixels_of(edit(make("inpaint"), lawn, "add a red ball"))
    ball = changed(lawn, added)
    assert 0.005 < ball.mean() < 0.2
    again = as_file(np.ascontiguousarray(added[:, ::-1]), "jpeg")
    removed = pixels_of(edit(make("inpaint"), again, "remove the red ball"))
    assert changed(lawn[:, ::-1], removed)[ball[:, ::-1]].mean() < 0.4 * changed(lawn, added)[ball].mean()


def test_an_object_comes_in_the_colour_and_on_the_side_that_are_asked_for(lawn: Pixels) -> None:
    left = pixels_of(edit(make("inpaint"), lawn, "add a chair on the left"))
    assert changed(lawn, left)[:, :128].mean() > 0.05
    assert not changed(lawn, left)[:, 140:].any()
    purple = pixels_of(edit(make("inpaint"), lawn, "add a purple ball on the right"))
    where = changed(lawn, purple)
    assert not where[:, :110].any()
    red, green, blue = purple[where].astype(int).mean(axis=0)
    assert min(red, blue) > green + 10


def test_replacing_leaves_the_new_object_in_the_place_of_the_old(lawn: Pixels) -> None:
    ball = pixels_of(edit(make("inpaint"), lawn, "add a red ball on the left"))
    blue = pixels_of(edit(make("inpaint"), ball, "replace the red ball with a blue ball"))
    found = find_thing(blue, "ball", (38, 82, 190), None)
    where = np.flatnonzero(changed(lawn, ball).any(axis=0))
    assert abs((found.box.left + found.box.right) / 2 - (where[0] + where[-1]) / 2) < 15


def test_hair_is_recoloured_and_the_rest_stays(face: Pixels) -> None:
    dyed = pixels_of(edit(make("inpaint"), face, "dye her hair purple"))
    where = changed(face, dyed)
    assert where.mean() > 0.03
    assert not where[240:].any()
    assert (dyed[where][:, 2].astype(int) - dyed[where][:, 1]).mean() > 25


def test_flips_and_turns_are_exact_and_a_copy_is_the_same(lawn: Pixels) -> None:
    editor = make("inpaint")
    np.testing.assert_array_equal(pixels_of(edit(editor, lawn, "flip horizontally")), lawn[:, ::-1])
    np.testing.assert_array_equal(
        pixels_of(edit(editor, lawn[:, :200], "rotate 90° clockwise")), np.rot90(lawn[:, :200], -1)
    )
    np.testing.assert_array_equal(pixels_of(edit(editor, lawn, "an exact copy, unchanged")), lawn)


def test_another_seed_may_choose_another_place(lawn: Pixels) -> None:
    editor, asked = make("inpaint"), request(lawn, "add a red ball")
    first, again, other = (asyncio.run(editor.edit(replace(asked, seed=seed))).image for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("make it look like a painting", "does not know how to"),
        ("add a starfruit", "no cut-out of a starfruit"),
        ("add glasses", "finds no face"),
        ("remove the chair", "finds no chair"),
        ("remove the candle", "no network that finds a candle"),
    ],
)
def test_what_it_cannot_do_is_refused_with_the_reason(lawn: Pixels, words: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        edit(make("inpaint"), lawn, words)


def test_a_part_does_its_own_step_and_refuses_the_others(lawn: Pixels) -> None:
    added = pixels_of(edit(make("inpaint-add"), lawn, "add a red ball"))
    np.testing.assert_array_equal(added, pixels_of(edit(make("inpaint"), lawn, "add a red ball")))
    with pytest.raises(Refused, match="inpaint-add does not remove"):
        edit(make("inpaint-add"), added, "remove the red ball")
    with pytest.raises(Refused, match="inpaint-remove does not add"):
        edit(make("inpaint-remove"), lawn, "add a red ball")


def test_the_whole_picture_goes_through_another_network_if_asked(lawn: Pixels) -> None:
    through = make("inpaint", through="waifu2x-denoise")
    assert through.fingerprint != make_editor("inpaint").fingerprint
    edited = edit(through, lawn, "add a red ball")
    plain = edit(make("inpaint"), lawn, "add a red ball")
    np.testing.assert_array_equal(pixels_of(edited), pixels_of(edit(make("waifu2x-denoise"), plain.image)))
    assert edited.model == "inpaint, then waifu2x-denoise"


@pytest.mark.parametrize("wrong", ["sim-jpeg", "inpaint"])
def test_an_editor_that_reads_words_comes_after_none(wrong: str) -> None:
    with pytest.raises(StudyError, match=f"ignores instructions .* not '{wrong}'"):
        make_editor("inpaint", through=wrong)


def test_other_weights_are_another_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("convergebench.editors.inpaint.editor")
    before = make_editor("inpaint").fingerprint
    monkeypatch.setattr(module, "identity", lambda name: f"other-{name}")
    assert make_editor("inpaint").fingerprint != before
    monkeypatch.undo()
    monkeypatch.setattr(module, "checksum", lambda: "other")
    assert make_editor("inpaint").fingerprint != before


def test_a_picture_in_black_and_white_stays_so(face: Pixels) -> None:
    grey = np.repeat(face.mean(axis=2, keepdims=True).astype(np.uint8), 3, axis=2)
    data = io.BytesIO()
    Image.fromarray(grey).save(data, "PNG")
    worn = pixels_of(edit(make("inpaint"), data.getvalue(), "add a hat")).astype(int)
    assert np.abs(worn.max(axis=2) - worn.min(axis=2)).max() < 25
