"""Taking things out, with and without a memory of what was there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from convergebench.editors.simulated.objects.catalogue import THINGS
from convergebench.editors.simulated.pixels import decode, encode_jpeg, encode_png
from convergebench.editors.simulated.removal import inpaint
from convergebench.registry import load

FORGETS = {"remove": "inpaint"}


@pytest.mark.parametrize("thing", sorted(THINGS))
def test_everything_in_the_catalogue_can_be_added_and_painted_over(thing: str, plain: Any, run: Any) -> None:
    editor = load("editors", "sim-perfect")("sim-perfect", **FORGETS)
    added = run(editor, plain, f"add a {thing}")
    removed = decode(run(editor, added.image, f"remove the {thing}").image)
    touched = (decode(added.image) != plain).any(axis=2)
    assert touched.sum() > 12
    assert np.abs(removed.astype(int) - plain)[touched].mean() < 4
    np.testing.assert_array_equal(removed[~touched & (np.abs(removed.astype(int) - plain).max(axis=2) > 12)].size, 0)


def test_removal_without_any_memory_paints_over_the_place_the_words_name(plain: Any, run: Any) -> None:
    editor = load("editors", "sim-perfect")("sim-perfect")
    added = decode(run(editor, plain, "add a red ball in the foreground").image)
    stripped = encode_png(added)
    removed = decode(run(editor, stripped, "take the red ball in the foreground away").image)
    assert np.abs(removed.astype(int) - plain).max() < 30
    assert np.abs(added.astype(int) - plain).max() > 60


def test_removing_what_was_never_added_changes_nothing(pictures: Any, run: Any) -> None:
    editor = load("editors", "sim-perfect")("sim-perfect", **FORGETS)
    copied = run(editor, pictures["face"], "make an exact copy").image
    edited = run(editor, copied, "remove the glasses")
    np.testing.assert_array_equal(decode(edited.image), pictures["face"])
    assert "no glasses" in edited.reasoning


def test_place_is_remembered_in_jpeg_files_too(plain: Any, run: Any) -> None:
    editor = load("editors", "sim-jpeg")("sim-jpeg", quality=95)
    data = run(editor, plain, "add a cat on the right").image
    data = run(editor, data, "flip horizontally").image
    data = run(editor, data, "remove the cat").image
    assert np.abs(decode(data).astype(int) - plain[:, ::-1]).max() < 40


def test_memory_is_dropped_with_the_pixels_it_belongs_to(plain: Any, run: Any) -> None:
    editor = load("editors", "sim-perfect")("sim-perfect")
    added = run(editor, plain, "add a cat").image
    rewritten = encode_jpeg(decode(added), 98)
    assert b"convergebench-layers" in added
    assert "Painted over" in run(editor, rewritten, "remove the cat").reasoning


def test_many_additions_do_not_pile_up_and_the_newest_come_off_exactly(pictures: Any, run: Any) -> None:
    editor = load("editors", "sim-perfect")("sim-perfect")
    data, seen = encode_png(pictures["object"]), []
    for _ in range(9):
        seen.append(decode(data))
        data = run(editor, data, "Add one apple").image
        assert (np.abs(decode(data).astype(int) - seen[-1]).max(axis=2) > 30).sum() > 60
    for step in (8, 7, 6):
        data = run(editor, data, "Remove one apple").image
        np.testing.assert_array_equal(decode(data), seen[step])


def test_inpainting_leaves_what_is_outside_the_mask() -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (90, 120, 3), np.uint8)
    mask = np.zeros((90, 120), np.uint8)
    mask[20:60, 30:100] = 255
    filled = inpaint(pixels, mask)
    np.testing.assert_array_equal(filled[mask == 0], pixels[mask == 0])
    assert (filled[mask > 0] != pixels[mask > 0]).any()


def test_inpainting_everything_or_nothing_is_a_copy() -> None:
    pixels = np.full((5, 5, 3), 7, np.uint8)
    for level in (0, 255):
        np.testing.assert_array_equal(inpaint(pixels, np.full((5, 5), level, np.uint8)), pixels)


def test_nobody_wears_the_same_thing_twice(pictures: Any, run: Any) -> None:
    editor = load("editors", "sim-perfect")("sim-perfect")
    once = run(editor, pictures["face"], "add glasses").image
    twice = run(editor, once, "add glasses")
    np.testing.assert_array_equal(decode(twice.image), decode(once))
    assert "already there" in twice.reasoning


def test_clear_lenses_keep_the_eyes_when_the_frame_is_painted_over(pictures: Any, run: Any) -> None:
    editor = load("editors", "sim-perfect")("sim-perfect", **FORGETS)
    worn = run(editor, pictures["face"], "add glasses").image
    bare = decode(run(editor, worn, "remove the glasses").image)
    there = (decode(worn) != pictures["face"]).any(axis=2)
    kept = np.abs(bare.astype(int) - pictures["face"]).max(axis=2) <= 10
    assert (kept & there).sum() / there.sum() > 0.3  # at this size the frame is most of a pair of glasses
