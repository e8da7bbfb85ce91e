"""The learned restorers as editors, with the weights that `make test` fetches."""

from __future__ import annotations

import asyncio
import importlib
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convergebench.editors.base import BaseEditor
from convergebench.errors import Prerequisite, StudyError
from convergebench.registry import load
from convergebench.types import Editor
from tests.editors.autoencoder.learned import (
    SIZES,
    as_file,
    decay,
    edit,
    edit_all,
    make,
    photograph,
    pixels_of,
    request,
)

QUICK = ["waifu2x-denoise", "waifu2x-denoise-3", "waifu2x-photo", "span-x2", "realesr-anime"]
NAMES = [*QUICK, "realesrgan-x4"]
PUBLISHED: dict[str, dict[int, tuple[float, float]]] = {
    "waifu2x-denoise": {1: (54.1, 0.999), 5: (41.4, 0.989), 10: (35.9, 0.972), 20: (30.2, 0.918)},
    "span-x2": {1: (47.2, 0.999), 5: (31.5, 0.967), 10: (23.6, 0.830), 20: (14.4, 0.328)},
    "realesr-anime": {1: (32.7, 0.956), 5: (20.7, 0.783), 10: (15.4, 0.645), 20: (11.5, 0.510)},
    "realesrgan-x4": {1: (23.8, 0.791), 5: (17.9, 0.563)},
}
"""PSNR and SSIM to the beginning, astronaut of 512 × 512 pixels, from an independent run of the networks."""


@pytest.mark.parametrize("name", NAMES)
def test_making_one_needs_nothing_and_says_what_it_is(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CONVERGEBENCH_WEIGHTS", "")
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path))
    editor: BaseEditor = load("editors", name)(name)
    assert isinstance(editor, Editor)
    assert editor.fingerprint.startswith(f"{name}@")
    assert editor.capabilities.deterministic
    assert not editor.capabilities.instructed
    assert not editor.capabilities.seed
    assert not editor.capabilities.simulated
    assert editor.lacks() == [f"the weights '{name}' are not here; type: cbench weights fetch {name}"]
    with pytest.raises(Prerequisite, match=f"type: cbench weights fetch {name}"):
        edit(editor, photograph(16, 16))


def test_without_ncnn_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("convergebench.editors.restorers.editor")
    monkeypatch.setattr(module, "find_spec", lambda package: None)
    lacking = load("editors", "span-x2")("span-x2")
    assert lacking.lacks()[0] == 'ncnn is not installed; type: pip install "convergebench[restorers]"'


def test_importing_the_factories_does_not_import_ncnn() -> None:
    code = "import sys; import convergebench.editors.restorers.family; print('ncnn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("name", "size"), [*product(QUICK, SIZES), ("realesrgan-x4", (1, 1)), ("realesrgan-x4", (37, 42))]
)
def test_any_size_comes_back_at_that_size_and_resembles_what_was_given(name: str, size: tuple[int, int]) -> None:
    picture = photograph(*size)
    seen = pixels_of(edit(make(name), picture))
    assert seen.shape == picture.shape
    if name in QUICK:  # the last has next to nothing to go by once so small a picture is shrunk
        assert np.abs(seen.astype(int) - picture).mean() < 24


@pytest.mark.parametrize("kind", ["grey", "alpha", "jpeg"])
def test_other_kinds_of_files_are_read(kind: str) -> None:
    picture = photograph(48, 64)
    seen = pixels_of(edit(make("span-x2"), as_file(picture, kind))).astype(int)
    assert seen.shape == picture.shape
    if kind == "alpha":  # white shows through on the left
        assert seen[:, :4].mean() > 235
    else:
        expected = picture if kind == "jpeg" else np.repeat(picture.mean(axis=2, keepdims=True), 3, axis=2)
        assert np.abs(seen - expected).mean() < 16


@pytest.mark.parametrize("name", QUICK)
def test_words_change_nothing_and_the_same_image_gives_the_same_bytes(name: str) -> None:
    picture = photograph(48, 56)
    once = edit(make(name), picture, "add glasses")
    assert edit(make(name), picture, "remove the glasses").image == once.image
    assert once.mime == "image/png"
    assert once.model == once.used["weights"] == name


@pytest.mark.parametrize("name", QUICK)
def test_calls_at_once_give_the_bytes_of_calls_alone(name: str) -> None:
    editor = make(name)
    pictures = [photograph(64, 48, one) for one in ("astronaut", "coffee", "rocket", "chelsea")] * 2
    alone = [edit(editor, picture).image for picture in pictures]
    assert [edited.image for edited in edit_all(editor, pictures)] == alone


@pytest.mark.parametrize("name", NAMES)
def test_the_number_of_threads_changes_no_byte_and_no_identity(name: str) -> None:
    picture = photograph(40, 60)
    one, two = (make(name, threads=threads) for threads in (1, 2))
    assert one.fingerprint == two.fingerprint
    assert edit(one, picture).image == edit(two, picture).image


@pytest.mark.parametrize("name", ["span-x2", "realesr-anime"])
def test_tiles_leave_no_seam_where_the_margin_reaches_as_far_as_the_network_looks(name: str) -> None:
    picture = photograph(101, 140)
    whole, tiled = (pixels_of(edit(make(name, tile=tile), picture)).astype(int) for tile in (512, 37))
    # sums in another order may tip a value that lies between two levels
    assert np.abs(whole - tiled).max() <= 1
    assert (whole != tiled).mean() < 1e-3


def test_tiles_of_a_network_that_looks_at_the_mean_are_nearly_the_same() -> None:
    picture = photograph(150, 170)
    whole, tiled = (pixels_of(edit(make("waifu2x-denoise", tile=tile), picture)).astype(int) for tile in (512, 50))
    assert 0 < np.abs(whole - tiled).mean() < 0.5


def test_detail_is_made_up_unless_the_picture_is_shrunk_afterwards() -> None:
    picture = photograph(32, 32)
    lost = {}
    for shrink in ("before", "both", "after"):
        edited = edit(make("realesrgan-x4", shrink=shrink), picture)
        assert edited.used["shrink"] == shrink
        lost[shrink] = np.abs(pixels_of(edited).astype(int) - picture).mean()
    assert lost["before"] > 1.5 * lost["after"]
    assert lost["after"] < lost["both"] < lost["before"]


def test_the_variant_for_restoring_is_the_same_network_with_less_shrinking() -> None:
    picture = photograph(21, 18)
    named = edit(make("realesrgan-restore"), picture)
    assert named.image == edit(make("realesrgan-x4", shrink="both"), picture).image
    assert make("realesrgan-restore").fingerprint == make("realesrgan-x4", shrink="both").fingerprint
    assert pixels_of(named).shape == picture.shape


def test_options_that_change_answers_are_part_of_the_identity() -> None:
    def fingerprint(**options: Any) -> str:
        return str(load("editors", "realesrgan-x4")("realesrgan-x4", **options).fingerprint)

    assert len({fingerprint(), fingerprint(tile=64), fingerprint(shrink="after")}) == 3
    assert fingerprint(shrink="before", tile=128, threads=3) == fingerprint()


def test_other_weights_are_another_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("convergebench.editors.restorers.editor")
    before = load("editors", "span-x2")("span-x2").fingerprint
    monkeypatch.setattr(module, "identity", lambda name: "something else")
    assert load("editors", "span-x2")("span-x2").fingerprint != before


@pytest.mark.parametrize(
    ("name", "options", "complaint"),
    [
        ("span-x2", {"thread": 2}, "unknown key 'thread'; did you mean 'threads'"),
        ("span-x2", {"tile": 1}, "tile"),
        ("waifu2x-denoise", {"shrink": "after"}, "unknown key 'shrink'"),
        ("realesrgan-x4", {"shrink": "never"}, "shrink"),
    ],
)
def test_a_wrong_option_is_one_line(name: str, options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(StudyError, match=complaint):
        load("editors", name)(name, **options)


def test_a_cancelled_call_leaves_the_editor_whole() -> None:
    editor, picture = make("span-x2"), photograph(96, 96)
    expected = edit(editor, picture).image

    async def cancelled() -> bytes:
        calls = [asyncio.create_task(editor.edit(request(picture))) for _ in range(4)]
        await asyncio.sleep(0.01)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        assert any(call.cancelled() for call in calls)
        return (await editor.edit(request(picture))).image

    assert asyncio.run(cancelled()) == expected


def test_a_closed_editor_can_be_used_again() -> None:
    editor, picture = make("span-x2"), photograph(32, 32)
    first = edit(editor, picture).image
    asyncio.run(editor.close())
    assert edit(editor, picture).image == first


def test_damaged_bytes_are_a_one_line_error() -> None:
    with pytest.raises(StudyError, match="the image given to span-x2 is not a readable image"):
        edit(make("span-x2"), b"not an image")


def test_files_that_ncnn_cannot_read_are_a_one_line_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("convergebench.editors.restorers.editor")
    make("span-x2")
    for file in module.find_weight("span-x2").files:
        (tmp_path / file.path).write_bytes(b"nothing of use")
    monkeypatch.setattr(module, "locate", lambda name: tmp_path)
    with pytest.raises(Prerequisite, match="is not a network that ncnn can read; fetch it again"):
        edit(load("editors", "span-x2")("span-x2"), photograph(16, 16))


@pytest.mark.parametrize("name", [name for name in QUICK if name in PUBLISHED])
def test_one_step_loses_what_an_independent_run_lost(name: str) -> None:
    psnr, ssim = PUBLISHED[name][1]
    found = decay(make(name), photograph(512, 512), at=(1,))
    assert found[1][0] == pytest.approx(psnr, abs=0.051)
    assert found[1][1] == pytest.approx(ssim, abs=0.001)


@pytest.mark.parametrize(("name", "gain"), [("waifu2x-denoise-3", 4.0), ("waifu2x-photo", 4.0)])
def test_strong_noise_is_taken_off(name: str, gain: float) -> None:
    """What a wrong margin, another channel order or a missing shift by a pixel would not do."""
    clean = photograph(128, 160)
    noise = np.random.default_rng(0).normal(0, 14, clean.shape)
    spoilt = np.clip(clean + noise, 0, 255).round().astype(np.uint8)

    def error(pixels: Any) -> float:
        return float(np.mean(np.square(pixels.astype(float) - clean)))

    assert 10 * np.log10(error(spoilt) / error(pixels_of(edit(make(name), spoilt)))) > gain


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_chain_decays_as_in_an_independent_run(name: str) -> None:
    found = decay(make(name), photograph(512, 512), at=tuple(PUBLISHED[name]))
    for step, (psnr, ssim) in PUBLISHED[name].items():
        assert found[step][0] == pytest.approx(psnr, abs=0.051), step
        assert found[step][1] == pytest.approx(ssim, abs=0.0011), step


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_picture_of_a_megapixel_fits_into_so_many_gigabytes(name: str) -> None:
    make(name)
    code = (
        "import asyncio, resource; from tests.editors.autoencoder.learned import edit, make, photograph; "
        f"edit(make('{name}'), photograph(1024, 1024)); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert int(done.stdout) < (1500 if name in QUICK else 1750)
