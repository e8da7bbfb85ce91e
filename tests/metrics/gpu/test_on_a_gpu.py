"""On a GPU: the same values as on the processor. Run with -m gpu on a machine that has one."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pytest

from convergebench.images.frame import Frame
from convergebench.metrics.base import Item
from convergebench.metrics.full_reference.delta_e import delta_e
from convergebench.metrics.full_reference.gmsd import gmsd
from convergebench.metrics.full_reference.ms_ssim import ms_ssim
from convergebench.metrics.full_reference.psnr import psnr
from convergebench.metrics.full_reference.rmse import rmse
from convergebench.metrics.full_reference.ssim import ssim
from convergebench.metrics.place import PROCESSOR, Place, place

pytestmark = pytest.mark.gpu
GPU = Place("cuda")
TOLERANCE = {"psnr": 1e-9, "rmse": 1e-12, "ssim": 2e-6, "ms-ssim": 2e-6, "gmsd": 2e-6, "delta-e": 1e-4}
METRICS = (psnr, rmse, ssim, ms_ssim, gmsd, delta_e)


@pytest.fixture(autouse=True, scope="module")
def _gpu() -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU here")


def picture(height: int, width: int, seed: int = 0) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Smooth shapes with noise: neither flat nor pure noise."""
    generator = np.random.default_rng(seed)
    rows, columns = np.mgrid[:height, :width]
    waves = [90 * np.sin(rows / (7 + c)) + 90 * np.cos(columns / (11 + c)) + 128 for c in range(3)]
    noisy = np.stack(waves, axis=2) + generator.normal(0, 15, (height, width, 3))
    return np.clip(noisy, 0, 255).astype(np.uint8)


def values(metric: Any, items: list[Item], where: Place) -> list[float | None]:
    with place(where):
        return [reading.value for reading in metric.measure(items)]


@pytest.mark.parametrize("metric", METRICS, ids=lambda one: one.facts.name)
@pytest.mark.parametrize("size", [(512, 512), (161, 163), (175, 240), (240, 175), (1024, 200), (161, 2000)])
def test_the_value_is_that_of_the_processor(metric: Any, size: tuple[int, int]) -> None:
    reference = picture(*size)
    subjects = [
        picture(*size, seed=1),
        np.roll(reference, 1, 0),
        reference // 2,
        reference // 2 + 60,
        255 - reference,
    ]
    items = [Item(Frame(subject), Frame(reference)) for subject in subjects]
    expected = values(metric, [Item(Frame(one.subject.pixels), Frame(reference)) for one in items], PROCESSOR)
    assert values(metric, items, GPU) == pytest.approx(expected, abs=TOLERANCE[metric.facts.name], rel=1e-5)


def test_what_has_no_structure_left_is_close_too() -> None:
    # SSIM of a black image is some 1e-6, and MS-SSIM takes its seventh root
    reference = picture(240, 175)
    black = [Item(Frame(np.zeros_like(reference)), Frame(reference))]
    assert values(ms_ssim, black, GPU) == pytest.approx(values(ms_ssim, black, PROCESSOR), abs=2e-4)


@pytest.mark.parametrize("metric", METRICS, ids=lambda one: one.facts.name)
def test_an_image_against_itself_has_exactly_the_best_value(metric: Any) -> None:
    frame = Frame(picture(256, 256))
    (value,) = values(metric, [Item(Frame(frame.pixels), frame)], GPU)
    assert value == (inf if metric is psnr else metric.facts.self_value)


@pytest.mark.parametrize("metric", METRICS, ids=lambda one: one.facts.name)
def test_neither_batch_nor_order_nor_neighbours_change_a_bit(metric: Any) -> None:
    pictures = [picture(200, 200, seed) for seed in range(5)]
    source = picture(200, 200, 9)
    alone = [values(metric, [Item(Frame(one), Frame(source))], GPU)[0] for one in pictures]
    shared = Frame(source)
    together = values(metric, [Item(Frame(one), shared) for one in reversed(pictures)], GPU)
    assert together == alone[::-1]
    many = values(metric, [Item(Frame(pictures[place % 5]), shared) for place in range(70)], GPU)
    assert many == [alone[place % 5] for place in range(70)]


def test_a_batch_of_many_sizes_and_faults_keeps_its_order() -> None:
    fits, small = picture(200, 180), picture(8, 8)
    items = [
        Item(Frame(fits), Frame(fits)), Item(Frame(small), Frame(small)), Item(Frame(fits)),
        Item(Frame(small), Frame(fits)), Item(Frame(picture(161, 161)), Frame(picture(161, 161, 1))),
    ]  # fmt: skip
    with place(GPU):
        readings = ms_ssim.measure(items)
    assert [reading.status for reading in readings] == ["ok", "too-small", "no-reference", "size", "ok"]
    assert readings[0].value == 1.0


def test_two_references_for_one_subject_are_not_confused() -> None:
    subject = Frame(picture(180, 180))
    first, second = Frame(picture(180, 180, 1)), Frame(picture(180, 180, 2))
    with place(GPU):
        one = ssim.measure([Item(subject, first)])[0].value
        two = ssim.measure([Item(subject, second)])[0].value
        again = ssim.measure([Item(subject, second), Item(subject, first)])
    assert one != two
    assert [reading.value for reading in again] == [two, one]


@pytest.mark.parametrize("name", ["lpips", "lpips-vgg", "st-lpips", "st-lpips-vgg", "dists"])
def test_networks_give_the_value_of_the_processor(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import gpu_random
    from convergebench.metrics.full_reference import _networks
    from convergebench.metrics.full_reference._learned import measured

    monkeypatch.setattr(_networks, "locate", str)
    monkeypatch.setattr(_networks, "numpy_pickle", gpu_random.numpy_pickle)
    monkeypatch.setattr(_networks, "torch_state", gpu_random.torch_state)
    _networks.network.cache_clear()
    reference = picture(147, 130)
    subjects = [picture(147, 130, 1), np.roll(reference, 2, 1), reference]

    def found(where: Place) -> list[float]:
        shared = Frame(reference)
        with place(where):
            return measured([(Frame(subject), shared) for subject in subjects], name)

    expected = found(PROCESSOR)
    assert found(GPU) == pytest.approx(expected, rel=2e-5, abs=1e-7)
    assert found(Place("cuda", "bfloat16")) == pytest.approx(expected, rel=0.03, abs=2e-3)
    _networks.network.cache_clear()


def test_a_frame_can_be_unmeasurable_on_the_gpu_too() -> None:
    with place(GPU):
        (reading,) = ssim.measure([Item(Frame(picture(5, 5)), Frame(picture(5, 5)))])
    assert (reading.value, reading.status) == (None, "too-small")
