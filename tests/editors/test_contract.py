"""What every simulated editor has to do; what every editor has to do stands in `test_every_editor`."""

from __future__ import annotations

import struct
from typing import Any

import cv2
import numpy as np
import pytest

from convergebench.editors.simulated.family import MODELS
from convergebench.editors.simulated.pixels import decode
from convergebench.editors.simulated.truth import TRUTHS
from convergebench.errors import StudyError
from convergebench.registry import load
from convergebench.types import Editor

NAMES = list(MODELS)
WORDS = {
    "flip-horizontal": "flip horizontally",
    "flip-vertical": "flip the image vertically",
    "rotate-90": "rotate 90° clockwise",
    "rotate-180": "rotate the image by 180 degrees",
    "rotate-270": "rotate 90° counter-clockwise",
    "add": "add a red ball",
    "remove": "remove the red ball",
    "change": "make the image grayscale",
    "replicate": "Produce an exact replica of the provided image, with no alterations.",
    "unknown": "ponder the meaning of it all",
}
MAGIC = {"image/png": b"\x89PNG", "image/jpeg": b"\xff\xd8"}


def make(name: str, **options: Any) -> Editor:
    """The editor, with the moods of the flaky, the forgetful and the turnless one switched off."""
    calm = {
        "sim-flaky": {"transient": 0, "refused": 0},
        "sim-forgetful": {"ignores": 0},
        "sim-turnless": {"unturned": 0, "wrong_turn": 0},
    }.get(name, {})
    editor: Editor = load("editors", name)(name, **{**calm, **options})
    return editor


@pytest.mark.parametrize("name", NAMES)
def test_editor_follows_the_protocol(name: str) -> None:
    editor = make(name)
    assert isinstance(editor, Editor)
    assert editor.name == name
    assert editor.fingerprint.startswith(f"{name}@")
    assert editor.capabilities.simulated
    assert editor.capabilities.seed


@pytest.mark.parametrize("operation", WORDS)
@pytest.mark.parametrize("name", NAMES)
def test_answer_is_an_image_of_the_declared_type(name: str, operation: str, pictures: Any, run: Any) -> None:
    edited = run(make(name), pictures["scene"], WORDS[operation])
    assert edited.image.startswith(MAGIC[edited.mime])
    assert decode(edited.image).shape == pictures["scene"].shape
    assert edited.reasoning
    assert edited.dollars == 0


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_gives_the_same_bytes(name: str, pictures: Any, run: Any) -> None:
    first = run(make(name), pictures["face"], "add glasses", seed=5)
    assert run(make(name), pictures["face"], "add glasses", seed=5) == first


@pytest.mark.parametrize("name", NAMES)
def test_seed_matters_exactly_for_random_editors(name: str, pictures: Any, run: Any) -> None:
    editor: Editor = load("editors", name)(name) if name in ("sim-forgetful", "sim-turnless") else make(name)
    answers = {run(editor, pictures["face"], "flip horizontally", seed=seed).image for seed in range(12)}
    assert (len(answers) > 1) == TRUTHS[name].random


@pytest.mark.parametrize("name", NAMES)
def test_input_bytes_are_left_alone(name: str, pictures: Any, run: Any) -> None:
    before = pictures["object"].copy()
    run(make(name), pictures["object"], "add a potted plant")
    np.testing.assert_array_equal(pictures["object"], before)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (3, 2), (48, 200), (200, 48)])
def test_any_size_is_edited_and_undone(name: str, shape: tuple[int, int], run: Any) -> None:
    image: Any = np.random.default_rng(0).integers(0, 256, (*shape, 3), np.uint8)
    for words in (
        "add glasses",
        "remove the glasses",
        "add a chair on the left",
        "make the main object green",
        "smile",
    ):
        image = run(make(name), image, words).image
    assert decode(image).size


@pytest.mark.parametrize("name", NAMES)
def test_grey_pictures_and_grey_files_are_edited(name: str, pictures: Any, run: Any) -> None:
    grey = cv2.cvtColor(pictures["face"], cv2.COLOR_RGB2GRAY)
    data = bytes(cv2.imencode(".png", grey)[1])
    edited = decode(run(make(name), data, "add a hat").image)
    assert edited.shape == pictures["face"].shape
    assert np.abs(edited.astype(int) - grey[..., None]).max() > 20


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("operation", [key for key in WORDS if key.startswith(("flip", "rotate"))])
def test_geometry_is_really_done(name: str, operation: str, pictures: Any, run: Any) -> None:
    edited = decode(run(make(name), pictures["face"], WORDS[operation]).image).astype(int)
    exact = {
        "flip-horizontal": lambda pixels: pixels[:, ::-1],
        "flip-vertical": lambda pixels: pixels[::-1],
        "rotate-90": lambda pixels: np.rot90(pixels, -1),
        "rotate-180": lambda pixels: np.rot90(pixels, 2),
        "rotate-270": lambda pixels: np.rot90(pixels, 1),
    }[operation](pictures["face"])
    if name == "sim-cycle":
        exact = exact[..., [2, 0, 1]]
    assert np.abs(edited - exact).mean() < 8
    assert np.abs(edited - pictures["face"]).mean() > 10


@pytest.mark.parametrize("name", NAMES)
def test_thing_appears_and_goes_again(name: str, plain: Any, run: Any) -> None:
    editor = make(name)
    added = run(editor, plain, "add a red ball in the foreground")
    bare = run(editor, plain, WORDS["replicate"])
    removed = run(editor, added.image, "remove the red ball", seed=2)
    bare_twice = run(editor, bare.image, WORDS["replicate"], seed=2)
    appeared = np.abs(decode(added.image).astype(int) - decode(bare.image)).max(axis=2) > 40
    left = np.abs(decode(removed.image).astype(int) - decode(bare_twice.image)).max(axis=2) > 40
    assert appeared.sum() > 300
    assert left.sum() < 0.02 * appeared.sum()


@pytest.mark.parametrize("name", NAMES)
def test_unknown_words_change_nothing_more_than_a_replica_does(name: str, pictures: Any, run: Any) -> None:
    editor = make(name)
    lost, copied = (run(editor, pictures["object"], WORDS[key]) for key in ("unknown", "replicate"))
    np.testing.assert_array_equal(decode(lost.image), decode(copied.image))
    assert "not understand" in lost.reasoning


@pytest.mark.parametrize("name", NAMES)
def test_options_are_part_of_the_identity(name: str) -> None:
    other = "inpaint" if make(name).fingerprint == make(name, remove="remember").fingerprint else "remember"
    assert make(name).fingerprint != make(name, remove=other).fingerprint
    assert make(name).fingerprint == make(name).fingerprint


@pytest.mark.parametrize("name", NAMES)
def test_unknown_option_is_refused_with_a_suggestion(name: str) -> None:
    with pytest.raises(StudyError, match="did you mean 'remove'"):
        make(name, remov="inpaint")


@pytest.mark.parametrize("name", NAMES)
def test_name_must_show_that_it_is_simulated(name: str) -> None:
    with pytest.raises(StudyError, match="starts with 'sim-'"):
        load("editors", name)("nano-banana")


def test_broken_image_is_a_one_line_error(run: Any) -> None:
    with pytest.raises(StudyError, match="is not a readable image"):
        run(make("sim-perfect"), b"not an image", "add a hat")


def test_chunk_is_private_ancillary_and_unsafe_to_copy(pictures: Any, run: Any) -> None:
    data = run(make("sim-perfect"), pictures["face"], "add a hat").image
    at, kinds = 8, []
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kinds.append(data[at + 4 : at + 8])
        at += 12 + length
    assert kinds[-2:] == [b"cbMM", b"IEND"]
