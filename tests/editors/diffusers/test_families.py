"""Every family for real: a tiny checkpoint is saved, loaded through the editor's own path, and edits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from convergebench.editors.diffusers.editor import DiffusersEditor
from convergebench.editors.diffusers.families import FAMILIES, MODELS
from convergebench.images.decode import decode
from tests.editors.diffusers.calls import Make, edit, request

EVERY = list(FAMILIES)
BATCHED = [name for name, family in FAMILIES.items() if family.batching != "alone"]
"""QwenImageEditPlusPipeline takes one image at a time."""


@pytest.fixture(scope="module")
def loaded(make: Make) -> Callable[[str], DiffusersEditor]:
    made: dict[str, DiffusersEditor] = {}
    return lambda family: made.setdefault(family, make(family))


@pytest.mark.parametrize("family", EVERY)
def test_it_is_ready_and_edits(family: str, loaded: Callable[[str], DiffusersEditor]) -> None:
    editor = loaded(family)
    assert editor.lacks() == []
    [edited] = edit(editor, request(5))
    assert edited.mime == "image/png"
    assert edited.model.startswith(f"tiny-{family}@")
    assert edited.used["seed"] == 5
    assert edited.used["steps"] == editor.options.steps
    assert edited.used["dtype"] == "float32"
    assert np.ptp(decode(edited.image).pixels) > 20  # something was drawn


@pytest.mark.parametrize("family", EVERY)
def test_seed_and_image_decide_every_bit(family: str, loaded: Callable[[str], DiffusersEditor], make: Make) -> None:
    editor = loaded(family)
    first, again, other = edit(editor, request(1), request(1), request(2))
    assert first.image == again.image != other.image
    assert edit(make(family), request(1)) == [first]  # loaded a second time


@pytest.mark.parametrize("family", EVERY)
def test_words_reach_the_model(family: str, loaded: Callable[[str], DiffusersEditor]) -> None:
    hat, ball = edit(loaded(family), request(1), request(1, "remove the red ball"))
    assert hat.image != ball.image


@pytest.mark.parametrize("family", EVERY)
@pytest.mark.parametrize(("width", "height"), [(96, 64), (64, 96)])
def test_aspect_is_kept_and_the_size_is_told(
    family: str, width: int, height: int, loaded: Callable[[str], DiffusersEditor]
) -> None:
    [edited] = edit(loaded(family), request(1, width=width, height=height))
    pixels = decode(edited.image).pixels
    assert (pixels.shape[1], pixels.shape[0]) == (width, height)
    assert edited.used["size"] == edited.used["input_size"] == f"{width}x{height}"


def test_kontext_draws_at_its_own_area_in_the_aspect_of_the_input(make: Make) -> None:
    [edited] = edit(make("flux-kontext", max_area=128 * 128), request(1, width=192, height=48))
    assert edited.used["size"] == "256x64"
    assert decode(edited.image).pixels.shape == (64, 256, 3)


def test_odd_sizes_are_cut_to_whole_patches_and_never_brought_back(make: Make) -> None:
    [edited] = edit(make("flux-2-klein"), request(1, width=101, height=70))
    assert (edited.used["input_size"], edited.used["size"]) == ("101x70", "96x64")


@pytest.mark.parametrize("family", BATCHED)
def test_each_of_a_batch_gets_what_it_gets_alone(family: str, loaded: Callable[[str], DiffusersEditor]) -> None:
    """Up to the last bit of rounding: another shape is another kernel. Somebody else's image would be far off."""
    lone = loaded(family)
    shared = DiffusersEditor("tiny", lone.model, lone.options, batch_size=3)
    requests = [request(seed) for seed in range(3)]
    for alone, batch_size in zip(edit(lone, *requests), edit(shared, *requests), strict=True):
        assert (alone.used["batch"], batch_size.used["batch"]) == (1, 3)
        assert np.abs(_pixels(alone.image) - _pixels(batch_size.image)).max() <= 1


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("family", BATCHED)
def test_company_and_place_in_a_batch_change_nothing(family: str, dtype: str, make: Make) -> None:
    editor = make(family, device="cuda", dtype=dtype, batch=3)
    requests = [request(seed) for seed in range(3)]
    first = edit(editor, *requests)
    assert edit(editor, *requests[::-1])[::-1] == first
    assert [edit(editor, one)[0] for one in requests] == first
    assert {edited.used["batch"] for edited in first} == {3}


@pytest.mark.gpu
@pytest.mark.parametrize("offload", ["model", "sequential"])
def test_offloading_changes_nothing(offload: str, make: Make) -> None:
    plain, saving = (make("flux-2-klein", device="cuda", offload=where) for where in ("none", offload))
    assert edit(plain, request(1))[0].image == edit(saving, request(1))[0].image


def test_sizes_are_not_mixed(make: Make) -> None:
    lone = make("flux-2-klein")
    editor = DiffusersEditor("tiny", lone.model, lone.options, batch_size=3)
    wide, tall = request(1), request(1, width=64, height=96)
    sizes = [edited.used["size"] for edited in edit(editor, wide, tall, wide, tall)]
    assert sizes == ["96x64", "64x96", "96x64", "64x96"]


@pytest.mark.parametrize("family", ["flux-2-klein", "qwen-edit"])
def test_a_processor_draws_one_by_one_whatever_the_batch(
    family: str, make: Make, loaded: Callable[[str], DiffusersEditor]
) -> None:
    requests = [request(seed) for seed in range(3)]
    assert edit(make(family, batch=3), *requests) == [edit(loaded(family), one)[0] for one in requests]


def test_bfloat16_is_another_answer_and_another_editor(make: Make) -> None:
    exact, short = make("flux-2-klein"), make("flux-2-klein", dtype="bfloat16")
    assert exact.fingerprint != short.fingerprint
    assert edit(exact, request(1))[0].image != edit(short, request(1))[0].image


def test_a_cancelled_call_leaves_the_model_in_order(make: Make) -> None:
    editor = make("flux-2-klein")

    async def cancel_and_go_on() -> bytes:
        gone = asyncio.create_task(editor.edit(request(1)))
        await asyncio.sleep(0.01)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        kept = await editor.edit(request(2))
        await editor.close()
        return kept.image

    assert asyncio.run(cancel_and_go_on()) == edit(make("flux-2-klein"), request(2))[0].image


def test_an_editor_can_be_closed_and_used_again(make: Make) -> None:
    editor = make("flux-2-klein")
    before = edit(editor, request(1))
    asyncio.run(editor.close())
    assert edit(editor, request(1)) == before


def test_every_published_model_belongs_to_a_family() -> None:
    assert {model.family for model in MODELS.values()} == set(FAMILIES)
    for model in MODELS.values():
        assert model.hub.count("/") == 1
        assert model.noncommercial == ("Non-Commercial" in model.licence)


def test_the_same_files_in_another_folder_are_the_same_editor(
    make: Make, checkpoint: Callable[[str], Path], tmp_path: Path
) -> None:
    moved = tmp_path / "elsewhere"
    moved.symlink_to(checkpoint("flux-2-klein"))
    assert make("flux-2-klein", path=str(moved)).fingerprint == make("flux-2-klein").fingerprint


def _pixels(data: bytes) -> np.ndarray[tuple[int, ...], np.dtype[np.int16]]:
    return decode(data).pixels.astype(np.int16)
