"""What can go wrong in a call, as one line each: a filter, a full GPU, damaged weights, an image that does not suit."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from convergebench.editors.diffusers import loading
from convergebench.editors.diffusers.calling import PipelineCaller, PipelineRequest, deterministic_kernels
from convergebench.errors import BadReply, Prerequisite, Refused, StudyError, Unavailable
from tests.editors.diffusers import tiny
from tests.editors.diffusers.calls import Make, edit, request


def copy_of(folder: Path, to: Path) -> Path:
    return Path(shutil.copytree(folder, to / folder.name))


@pytest.mark.parametrize("flags", [True, False])
def test_an_image_the_safety_checker_blanks_is_a_refusal(
    flags: bool, make: Make, checkpoint: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = copy_of(checkpoint("instruct-pix2pix"), tmp_path)
    tiny.add_safety_checker(folder, flags=flags)
    editor = make("instruct-pix2pix", path=str(folder))
    small = request(width=32, height=32)
    if not flags:
        assert edit(editor, small)[0].image
        return
    with pytest.raises(Refused, match="safety checker") as error:
        edit(editor, small)
    assert error.value.reason == "nsfw_content_detected"


def test_damaged_weights_are_one_line(make: Make, checkpoint: Callable[[str], Path], tmp_path: Path) -> None:
    folder = copy_of(checkpoint("flux-2-klein"), tmp_path)
    (folder / "transformer" / "diffusion_pytorch_model.safetensors").write_bytes(b"not weights")
    with pytest.raises(Prerequisite, match="editor 'tiny' cannot be loaded: ") as error:
        edit(make("flux-2-klein", path=str(folder)), request())
    assert "\n" not in str(error.value)


def test_a_wrong_family_is_told_when_it_is_called_too(make: Make, checkpoint: Callable[[str], Path]) -> None:
    with pytest.raises(Prerequisite, match="holds a Flux2KleinPipeline, not a Flux2Pipeline"):
        edit(make("flux-2", path=str(checkpoint("flux-2-klein"))), request())


def test_a_distilled_model_takes_no_guidance(make: Make, checkpoint: Callable[[str], Path], tmp_path: Path) -> None:
    folder = copy_of(checkpoint("flux-2-klein"), tmp_path)
    index = folder / "model_index.json"
    index.write_text(index.read_text().replace('"is_distilled": false', '"is_distilled": true'))
    with pytest.raises(StudyError, match="a distilled model has no guidance"):
        edit(make("flux-2-klein", path=str(folder), guidance=4.0), request())
    assert edit(make("flux-2-klein", path=str(folder), guidance=1.0), request())


def test_an_image_that_is_too_small_is_one_line(make: Make) -> None:
    with pytest.raises(StudyError, match="cannot edit an image of 40x64: Image too small"):
        edit(make("flux-2-klein"), request(width=40))
    assert make("flux-2-klein").capabilities.sides == (64, 16384)


def test_bytes_that_are_no_image_are_one_line(make: Make) -> None:
    from dataclasses import replace

    with pytest.raises(StudyError, match="the image to edit is not a readable image"):
        edit(make("flux-2-klein"), replace(request(), image=b"not an image"))


class Cramped:
    """The real pipeline in a GPU that holds so many samples."""

    def __init__(self, real: Any, fits: int) -> None:
        self.real = real
        self.fits = fits
        self.sizes: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def __call__(self, **arguments: Any) -> Any:
        self.sizes.append(len(arguments["prompt"]))
        if self.sizes[-1] > self.fits:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\nGPU 0 has …")
        return self.real(**arguments)


def _caller(make: Make, *, fits: int, batch_size: int) -> tuple[PipelineCaller, Cramped]:
    editor = make("flux-2-klein")
    pipeline = Cramped(loading.load("tiny", editor.model, editor.family, editor.options), fits)
    return PipelineCaller("tiny", editor.family, editor.options, pipeline, batch_size=batch_size), pipeline


def _samples(count: int) -> list[PipelineRequest]:
    pixels = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    return [PipelineRequest(pixels, "add a hat", seed) for seed in range(count)]


def test_a_full_gpu_halves_the_batch_and_goes_on(make: Make) -> None:
    caller, pipeline = _caller(make, fits=1, batch_size=4)
    answers = caller.generate(_samples(3))
    assert pipeline.sizes == [4, 2, 1, 1, 1]
    assert [answer.batch_size for answer in answers if not isinstance(answer, Exception)] == [1, 1, 1]
    assert caller.batch_size == 1  # and is not tried again


def test_a_gpu_too_small_for_one_image_ends_this_editor(make: Make) -> None:
    caller, _ = _caller(make, fits=0, batch_size=2)
    with pytest.raises(
        Unavailable, match="one image of 64x64 does not fit into GPU memory; set the option offload='model'"
    ):
        caller.generate(_samples(1))


def test_another_failure_of_the_device_ends_this_editor(make: Make) -> None:
    caller, pipeline = _caller(make, fits=1, batch_size=1)
    pipeline.fits = 1

    def broken(**_: Any) -> Any:
        raise RuntimeError("CUDA error: an illegal memory access was encountered\nSearch for …")

    pipeline.real = broken
    pipeline.real.vae_scale_factor = 4
    with pytest.raises(
        Unavailable, match=r"editor 'tiny' failed: CUDA error: an illegal memory access was encountered$"
    ):
        caller.generate(_samples(1))


def test_an_image_of_no_numbers_is_a_bad_reply(make: Make) -> None:
    caller, pipeline = _caller(make, fits=1, batch_size=1)
    with torch.no_grad():
        pipeline.vae.decoder.conv_out.bias.fill_(float("nan"))
    [answer] = caller.generate(_samples(1))
    assert isinstance(answer, BadReply)
    assert "try the option dtype='float32'" in str(answer)


def test_an_image_of_no_numbers_does_not_spoil_the_others_of_its_call(make: Make) -> None:
    caller, pipeline = _caller(make, fits=3, batch_size=3)
    real = pipeline.real

    def spoilt(**arguments: Any) -> Any:
        reply = real(**arguments)
        reply.images[1] = np.nan
        return reply

    spoilt.vae_scale_factor = real.vae_scale_factor  # type: ignore[attr-defined]
    pipeline.real = spoilt
    assert [isinstance(answer, BadReply) for answer in caller.generate(_samples(3))] == [False, True, False]


def test_settings_of_torch_are_put_back() -> None:
    before = torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark
    with deterministic_kernels(torch):
        assert torch.backends.cudnn.deterministic
        assert not torch.backends.cudnn.benchmark
    assert (torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark) == before


def test_settings_of_torch_stay_as_long_as_one_pipeline_is_at_work() -> None:
    before = torch.backends.cudnn.deterministic
    first, second = deterministic_kernels(torch), deterministic_kernels(torch)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert torch.backends.cudnn.deterministic
    second.__exit__(None, None, None)
    assert torch.backends.cudnn.deterministic == before


def test_a_broken_torchvision_is_repaired_before_loading(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(loading, "ensure_torchvision", lambda: asked.append(1))
    assert edit(make("flux-2-klein"), request())
    assert asked == [1]


def test_without_the_class_it_says_which_diffusers_there_is(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    old = ModuleType("diffusers")
    old.__version__ = "0.20.0"  # type: ignore[attr-defined]
    editor = make("flux-2-klein")
    monkeypatch.setitem(sys.modules, "diffusers", old)
    with pytest.raises(Prerequisite, match=r"diffusers 0\.20\.0 has no Flux2KleinPipeline: pip install"):
        loading._load("tiny", editor.model, editor.family, editor.options)


def test_one_refused_call_does_not_spoil_the_next(make: Make) -> None:
    editor = make("flux-2-klein")

    async def both() -> list[Any]:
        bad, good = request(width=40), request(1)
        return list(await asyncio.gather(editor.edit(bad), editor.edit(good), return_exceptions=True))

    refused, fine = asyncio.run(both())
    assert isinstance(refused, StudyError)
    assert fine == edit(make("flux-2-klein"), request(1))[0]
