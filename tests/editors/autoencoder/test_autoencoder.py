"""The tiny autoencoders as editors."""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from convergebench.editors.base import BaseEditor
from convergebench.editors.one_core import _use_one_core
from convergebench.errors import Prerequisite, StudyError
from convergebench.registry import load
from convergebench.types import Editor
from convergebench.weights.catalogue import find_weight
from convergebench.weights.store import search
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

NAMES = ["taesd", "taesdxl", "taesd3", "taef1", "taef2"]
PUBLISHED: dict[str, dict[int, tuple[float, float, float]]] = {
    "taesd": {1: (25.35, 0.841, 0.059), 2: (23.61, 0.806, 0.094), 3: (21.99, 0.766, 0.139), 5: (19.82, 0.697, 0.217)},
    "taesdxl": {1: (25.72, 0.842, 0.055), 2: (24.51, 0.813, 0.084), 3: (23.38, 0.782, 0.112), 5: (21.52, 0.726, 0.166)},
    "taesd3": {1: (30.39, 0.920, 0.016), 2: (28.43, 0.897, 0.032), 3: (26.71, 0.871, 0.054), 5: (24.05, 0.811, 0.115)},
    "taef1": {1: (28.69, 0.904, 0.035), 2: (26.49, 0.867, 0.064), 3: (24.94, 0.832, 0.096), 5: (22.68, 0.767, 0.159)},
    "taef2": {1: (31.18, 0.937, 0.018), 2: (27.89, 0.906, 0.042), 3: (25.42, 0.870, 0.071), 5: (21.88, 0.790, 0.136)},
}
"""PSNR, SSIM and LPIPS to the beginning, astronaut of 512 × 512 pixels, from an independent run of the networks."""
LATER: dict[str, dict[int, tuple[float, float, float]]] = {
    "taesd": {10: (16.53, 0.563, 0.397), 20: (13.29, 0.415, 0.591)},
    "taesdxl": {10: (18.37, 0.622, 0.286), 20: (14.81, 0.477, 0.464)},
    "taesd3": {10: (19.88, 0.641, 0.308), 20: (15.22, 0.339, 0.550)},
    "taef1": {10: (19.07, 0.612, 0.326), 20: (15.01, 0.390, 0.527)},
    "taef2": {10: (16.91, 0.603, 0.300), 20: (12.89, 0.383, 0.491)},
}


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


def test_without_torch_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from convergebench.editors.autoencoder import editor as module

    monkeypatch.setattr(module, "find_spec", lambda package: None if package == "torch" else object())
    lacking = load("editors", "taesd")("taesd")
    assert lacking.lacks()[0] == 'torch is not installed; type: pip install "convergebench[learned]"'


def test_importing_the_factories_does_not_import_torch() -> None:
    import subprocess

    code = "import sys; import convergebench.editors.autoencoder.family; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("size", SIZES)
def test_any_size_comes_back_at_that_size(size: tuple[int, int]) -> None:
    edited = edit(make("taesd"), photograph(*size))
    assert pixels_of(edited).shape == (*size, 3)
    assert edited.used["padding"] == {"below": -size[0] % 8, "right": -size[1] % 8}


def test_padding_leaves_what_is_far_from_it_alone() -> None:
    whole = photograph(96, 96)
    same, cut = (pixels_of(edit(make("taesd"), pixels)).astype(int) for pixels in (whole, whole[:, :93]))
    assert np.abs(same[:, :24] - cut[:, :24]).mean() < 1
    assert np.abs(same[:, :93] - cut).mean() < 4


@pytest.mark.parametrize("kind", ["grey", "alpha", "jpeg"])
def test_other_kinds_of_files_are_read(kind: str) -> None:
    picture = photograph(48, 64)
    seen = pixels_of(edit(make("taef2"), as_file(picture, kind))).astype(int)
    assert seen.shape == picture.shape
    if kind == "alpha":  # white shows through on the left
        assert seen[:, :4].mean() > 235
    else:
        expected = picture if kind == "jpeg" else np.repeat(picture.mean(axis=2, keepdims=True), 3, axis=2)
        assert np.abs(seen - expected).mean() < 16


def test_words_and_seed_change_nothing_and_the_same_image_gives_the_same_bytes() -> None:
    picture = photograph(64, 72)
    once = edit(make("taef1"), picture, "add glasses")
    assert edit(make("taef1"), picture, "remove the glasses").image == once.image
    assert once.mime == "image/png"
    assert once.model == "taef1"
    assert once.used["latent"] == [16, 8, 9]


def test_calls_at_once_give_the_bytes_of_calls_alone() -> None:
    editor = make("taesd")
    pictures = [photograph(64, 64, name) for name in ("astronaut", "coffee", "rocket", "chelsea")] * 2
    alone = [edit(editor, picture).image for picture in pictures]
    assert [edited.image for edited in edit_all(editor, pictures)] == alone


def test_the_number_of_torch_threads_matters_neither_to_it_nor_because_of_it() -> None:
    torch = pytest.importorskip("torch")
    before, picture, seen = torch.get_num_threads(), photograph(160, 160), set()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            asyncio.run(make("taef2").close())
            seen.add(edit(make("taef2"), picture).image)
            assert torch.get_num_threads() == threads
            assert _threads_of_a_new_thread(torch) == threads
    finally:
        torch.set_num_threads(before)
    assert len(seen) == 1


def test_threads_that_begin_together_leave_the_number_alone() -> None:
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        for _ in range(40):
            with ThreadPoolExecutor(4, initializer=_use_one_core) as pool:
                together = Barrier(4)
                for waiting in [pool.submit(together.wait) for _ in range(4)]:
                    waiting.result(10)
            assert _threads_of_a_new_thread(torch) == 2
    finally:
        torch.set_num_threads(before)


def _threads_of_a_new_thread(torch: Any) -> int:
    with ThreadPoolExecutor(1) as pool:
        return int(pool.submit(torch.get_num_threads).result())


def test_options_that_change_answers_are_part_of_the_identity() -> None:
    def fingerprint(**options: Any) -> str:
        return str(load("editors", "taesd")("taesd", **options).fingerprint)

    plain = fingerprint()
    assert len({plain, fingerprint(weights="float32"), fingerprint(dtype="bfloat16")}) == 3
    assert fingerprint(device="cpu") == plain
    assert fingerprint(weights="half") == plain


def test_other_weights_are_another_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    from convergebench.editors.autoencoder import editor as module

    before = load("editors", "taesd")("taesd").fingerprint
    monkeypatch.setattr(module, "identity", lambda name: "something else")
    assert load("editors", "taesd")("taesd").fingerprint != before


def test_precision_is_honoured_and_noted() -> None:
    picture = photograph(64, 64)
    plain, other = edit(make("taesd3"), picture), edit(make("taesd3", dtype="bfloat16"), picture)
    assert 0 < np.abs(pixels_of(plain).astype(int) - pixels_of(other)).mean() < 2
    assert (plain.used["dtype"], other.used["dtype"]) == ("float32", "bfloat16")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"devise": "cpu"}, "unknown key 'devise'; did you mean 'device'"),
        ({"device": "gpu"}, "device"),
        ({"dtype": "float64"}, "dtype"),
    ],
)
def test_a_wrong_option_is_one_line(options: dict[str, str], complaint: str) -> None:
    with pytest.raises(StudyError, match=complaint):
        load("editors", "taesd")("taesd", **options)


def test_a_gpu_that_is_not_there_is_lacked() -> None:
    torch = pytest.importorskip("torch")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    lacking = load("editors", "taesd")("taesd", device=f"cuda:{count}").lacks()
    assert lacking[-1].startswith(f"there is no cuda:{count} here")


def test_a_cancelled_call_leaves_the_editor_whole() -> None:
    editor, picture = make("taesd"), photograph(128, 128)
    expected = edit(editor, picture).image

    async def cancelled() -> bytes:
        calls = [asyncio.create_task(editor.edit(request(picture))) for _ in range(6)]
        await asyncio.sleep(0.01)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        assert any(call.cancelled() for call in calls)
        return (await editor.edit(request(picture))).image

    assert asyncio.run(cancelled()) == expected


def test_a_closed_editor_can_be_used_again() -> None:
    editor, picture = make("taesd"), photograph(32, 32)
    first = edit(editor, picture).image
    asyncio.run(editor.close())
    assert edit(editor, picture).image == first


def test_damaged_bytes_are_a_one_line_error() -> None:
    with pytest.raises(StudyError, match="the image given to taesd is not a readable image"):
        edit(make("taesd"), b"not an image")


def test_it_is_found_in_a_named_folder_and_nowhere_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    make("taesd")
    places = search(find_weight("taesd"))
    assert places is not None
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path))
    monkeypatch.setenv("CONVERGEBENCH_WEIGHTS", str(places.path))
    assert load("editors", "taesd")("taesd").lacks() == []


def test_one_step_loses_what_an_independent_run_lost() -> None:
    psnr, ssim, _ = PUBLISHED["taef2"][1]
    found = decay(make("taef2"), photograph(512, 512), at=(1,))
    assert found[1][0] == pytest.approx(psnr, abs=0.01)
    assert found[1][1] == pytest.approx(ssim, abs=0.001)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_chain_decays_as_in_an_independent_run(name: str) -> None:
    expected = {**PUBLISHED[name], **LATER[name]}
    found = decay(make(name), photograph(512, 512), at=tuple(expected), lpips=True)
    for step, (psnr, ssim, lpips) in expected.items():
        # small differences of rounding grow along the chain
        slack = 0.011 if step <= 5 else 0.06
        assert found[step][0] == pytest.approx(psnr, abs=slack), step
        assert found[step][1] == pytest.approx(ssim, abs=0.0021), step
        assert found[step][2] == pytest.approx(lpips, abs=0.003), step


@pytest.mark.gpu
@pytest.mark.parametrize("name", NAMES)
def test_a_gpu_gives_the_same_bytes_again_and_nearly_those_of_the_processor(name: str) -> None:
    picture = photograph(256, 256)
    there = make(name, device="cuda")
    first = edit(there, picture)
    assert first.used["device"] == "cuda"
    assert {edited.image for edited in edit_all(there, [picture] * 4)} == {first.image}
    here = pixels_of(edit(make(name, device="cpu"), picture)).astype(int)
    assert np.abs(pixels_of(first) - here).max() <= 1
