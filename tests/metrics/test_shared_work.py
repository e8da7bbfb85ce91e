"""Metrics share work: what one has computed serves the others, and no value depends on what else was asked for."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from convergebench.ids import image_id
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Frame, Pixels
from convergebench.measuring import decoded as decoded_images
from convergebench.measuring import worker
from convergebench.measuring.task import Comparison, MeasuringTask
from convergebench.metrics import SETS, load_metric
from convergebench.metrics._planes import planes
from convergebench.metrics.base import Item
from convergebench.metrics.full_reference import _structure
from tests.metrics import peers
from tests.metrics.pictures import box_blur, jpeg, measured, noisy, photograph

SHARING = ("psnr", "ssim", "ms-ssim", "gmsd")


def values(names: tuple[str, ...], item: Item) -> dict[str, float | None]:
    return {name: load_metric(name).measure([item])[0].value for name in names}


def test_a_value_is_the_same_to_the_last_bit_alone_and_after_any_other_metric() -> None:
    reference = photograph("astronaut", 200, 181)
    subject = jpeg(reference, 30)
    alone = {name: measured(name, subject, reference) for name in SHARING}
    assert None not in alone.values()
    for order in permutations(SHARING):
        assert values(order, Item(Frame(subject), Frame(reference))) == alone


def test_a_value_is_the_same_to_the_last_bit_after_other_images_of_the_chain() -> None:
    pixels = photograph("coffee", 180, 170)
    reference = Frame(pixels)
    rounds = [jpeg(pixels, 60), noisy(pixels, 8), pixels.copy(), box_blur(pixels, 5)]
    frames = [Frame(one) for one in rounds]
    for before, frame in zip([reference, *frames], frames, strict=False):
        # the image before is compared with as well, as `lag` does, so each is subject and reference
        for beside in (reference, before):
            fresh = Item(Frame(frame.pixels), Frame(beside.pixels))
            assert values(SHARING, Item(frame, beside)) == values(SHARING, fresh)


@pytest.mark.parametrize(
    "size", [(11, 13), (40, 11), (255, 60), (256, 61), (257, 62), (503, 30), (700, 520), (13, 1100)]
)
def test_ssim_is_that_of_scikit_image_however_the_image_is_cut_for_the_work(size: tuple[int, int]) -> None:
    height, width = size
    pixels = np.resize(photograph("astronaut", 512, 512), (700, 1100, 3))
    reference = np.ascontiguousarray(pixels[:height, :width])
    subject = noisy(reference, 9)
    assert measured("ssim", subject, reference) == pytest.approx(peers.ssim_published(reference, subject), abs=2e-6)
    assert measured("ssim", reference.copy(), reference) == 1.0


def test_channels_together_and_one_by_one_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = photograph("astronaut", 170, 300)
    subject = jpeg(reference, 20)
    together = {name: measured(name, subject, reference) for name in ("ssim", "ms-ssim")}
    monkeypatch.setattr(_structure, "_SMALL", 0)
    assert {name: measured(name, subject, reference) for name in together} == together


def test_an_image_that_is_brighter_everywhere_keeps_all_contrast_and_no_more() -> None:
    for shift in (1, 7, 30, 90):  # 30 is rounded to more than 1 if nothing is done about it
        reference = np.full((40, 50, 3), 160, np.uint8)
        found = _structure.structure(Frame(reference + np.uint8(shift)), Frame(reference))
        assert all(0.9999 < one <= 1.0 for one in found.contrast)
        assert all(kept < 1.0 for kept in found.ssim)


@pytest.mark.parametrize("size", [(64, 48), (65, 48), (64, 47), (33, 21)])
def test_planes_are_halved_without_rounding(size: tuple[int, int]) -> None:
    width, height = size
    frame = Frame(photograph("coffee", width, height))
    assert (planes(frame) == frame.pixels.transpose(2, 0, 1)).all()
    exact = frame.pixels.transpose(2, 0, 1).astype(np.float64)
    for level in (1, 2, 3):
        if exact.shape[1] % 2 or exact.shape[2] % 2:
            exact = np.pad(exact, ((0, 0), (1, 0), (1, 0)), mode="edge")
            exact = exact[:, : exact.shape[1] // 2 * 2, : exact.shape[2] // 2 * 2]
        exact = (exact[:, ::2, ::2] + exact[:, 1::2, ::2] + exact[:, ::2, 1::2] + exact[:, 1::2, 1::2]) / 4
        assert (planes(frame, level) == exact).all()


def test_the_references_part_is_worked_out_once_for_a_whole_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    done: Counter[tuple[str, int]] = Counter()
    real = _structure._local

    def counted(frame: Frame, level: int) -> Any:
        done[frame.id, level] += 1
        return real(frame, level)

    monkeypatch.setattr(_structure, "_local", counted)
    pixels = photograph("astronaut", 170, 165)
    reference = Frame(pixels, "source")
    for strength in (2, 5, 9, 14):
        values(SHARING, Item(Frame(noisy(pixels, strength), f"round {strength}"), reference))
    assert done == {("source", level): 1 for level in range(5)}


class Images:
    """Files of a run, kept in memory."""

    def __init__(self, pictures: list[Pixels]) -> None:
        self.files = {image_id(data): data for data in map(encode_png, pictures)}

    def read(self, file: str, identity: str | None = None) -> bytes:
        return self.files[file]


def test_a_chain_decodes_every_image_once_for_the_whole_default_set(monkeypatch: pytest.MonkeyPatch) -> None:
    worker.forget()
    decoded: list[str] = []

    def counted(data: bytes, *, what: str, **options: Any) -> Frame:
        decoded.append(what)
        return decode(data, what=what, **options)

    monkeypatch.setattr(decoded_images, "decode", counted)
    source = photograph("astronaut", 200, 176)
    images = Images([source, *(jpeg(source, quality) for quality in (90, 70, 50, 35, 25, 15))])
    names = list(images.files)
    metrics = SETS["default"]
    rows = []
    for place in range(2, len(names), 2):
        step = {"operation": "add", "instruction": "add a ball", "before": "", "after": ""}
        made, back, start = names[place - 1], names[place], names[place - 2]
        for role, subject, reference, via in (
            ("step", made, start, None),
            ("step", back, made, None),
            ("return", back, names[0], made),
            ("lag", back, start, None),
        ):
            wanted = tuple(name for name in metrics if role in load_metric(name).facts.roles)
            rows.append(Comparison(f"{place} {role} {subject}", role, subject, reference, via, **step, metrics=wanted))
    files = {name: name for name in names}
    task = MeasuringTask(images, "strict", names[0], tuple(rows), files)
    measured_rows = worker.measure_task(task).values
    assert len(measured_rows) == sum(len(row.metrics) for row in rows) > 100
    assert {reading.status for _, _, reading in measured_rows} <= {"ok", "no-change"}
    assert sorted(decoded) == sorted(names)  # two new images a round, so two decodes
