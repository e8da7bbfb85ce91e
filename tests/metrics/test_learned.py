"""LPIPS, DISTS and ST-LPIPS: true to the originals, and the same however they are called."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

from convergebench.errors import Prerequisite
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item, Reading
from convergebench.metrics.place import Place, place
from convergebench.metrics.readiness import lacks
from tests.metrics.calibration import NAMES, calibration_pair
from tests.metrics.pictures import GOLDEN, box_blur, golden_pair, hashed, jpeg, noisy, photograph, tinted

ALL = ("lpips", "lpips-vgg", "dists", "st-lpips", "st-lpips-vgg")
QUICK = ("lpips", "st-lpips")
SMALLEST = {"lpips": 31, "lpips-vgg": 16, "dists": 16, "st-lpips": 21, "st-lpips-vgg": 34}
ROWS = list(csv.DictReader((Path(__file__).parents[1] / "golden" / "learned.csv").read_text("utf-8").splitlines()))

PUBLISHED = {
    "lpips": (0.7237, 0.2572, 0.0508, 0.0521, 0.4253),
    "lpips-vgg": (0.7614, 0.2090, 0.0544, 0.0475, 0.5971),
    "dists": (0.4742, 0.1424, 0.0683, 0.0287, 0.3123),
    "st-lpips": (0.5798, 0.3364, 0.2164, 0.0425, 0.3042),
}
"""On the calibration pairs, to four decimals: published (lpips, dists), or given by the authors' code (the others)."""


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """Tests run on all cores already."""
    if find_spec("torch") is None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@cache
def lacking(name: str) -> str:
    return "; ".join(f"{name} lacks {reason}" for reason in lacks(load_metric(name).facts))


def readings(name: str, *items: Item) -> list[Reading]:
    if lacking(name):
        pytest.skip(lacking(name))
    return load_metric(name).measure(items)


def distance(name: str, subject: Pixels, reference: Pixels | Frame) -> float:
    against = reference if isinstance(reference, Frame) else Frame(reference)
    value = readings(name, Item(Frame(subject), against))[0].value
    assert value is not None
    return value


@cache
def portrait() -> Frame:
    """Shared, so that the reference's features are worked out once here too."""
    return Frame(photograph("chelsea", 76, 68))


# True to the originals


@pytest.mark.parametrize(
    "row",
    [
        # VGG16 takes its time: one case each is enough for every day
        pytest.param(
            row,
            marks=() if row["metric"] in QUICK or row["case"] == "chelsea-tint" else pytest.mark.slow,
            id=f"{row['metric']}-{row['case']}",
        )
        for row in ROWS
    ],
)
def test_values_are_those_of_the_originals_own_code(row: dict[str, str]) -> None:
    value = distance(row["metric"], *golden_pair(row["case"]))
    assert value == pytest.approx(float(row["value"]), abs=float(row["tolerance"]))


def test_every_metric_has_golden_rows() -> None:
    assert {(row["metric"], row["case"]) for row in ROWS} == {(name, case) for name in ALL for case in GOLDEN}


@pytest.mark.parametrize(
    ("name", "image"),
    [
        pytest.param(name, image, marks=() if name in QUICK else pytest.mark.slow)
        for name in PUBLISHED
        for image in NAMES
    ],
)
def test_values_are_the_published_ones_to_four_decimals(name: str, image: str) -> None:
    reference, damaged = calibration_pair(image)
    expected = PUBLISHED[name][NAMES.index(image)]
    assert distance(name, damaged, reference) == pytest.approx(expected, abs=6e-5)


# What a distance must be


@pytest.mark.parametrize("name", ALL)
def test_equal_images_have_exactly_nothing_between_them(name: str) -> None:
    assert distance(name, portrait().pixels.copy(), portrait()) == 0.0 == load_metric(name).facts.self_value


@pytest.mark.parametrize("name", ALL)
def test_subject_and_reference_may_change_places(name: str) -> None:
    damaged = jpeg(portrait().pixels, 15)
    assert distance(name, damaged, portrait()) == pytest.approx(distance(name, portrait().pixels, damaged), rel=1e-5)


LADDERS: dict[str, list[Callable[[Pixels], Pixels]]] = {
    "jpeg": [partial(jpeg, quality=quality) for quality in (90, 40, 10)],
    "blur": [partial(box_blur, side=side) for side in (3, 7, 15)],
    "noise": [partial(noisy, sigma=sigma) for sigma in (3, 12, 40)],
    "tint": [partial(tinted, red=shift, green=0, blue=-shift) for shift in (5, 20, 60)],
}


@pytest.mark.parametrize("damage", LADDERS)
@pytest.mark.parametrize("name", ALL)
def test_more_damage_is_worse(name: str, damage: str) -> None:
    first, second, third = (distance(name, make(portrait().pixels), portrait()) for make in LADDERS[damage])
    assert 0 < first < second < third


@pytest.mark.parametrize("name", ALL)
def test_values_stay_in_the_stated_range(name: str) -> None:
    low, high = load_metric(name).facts.range
    x = portrait().pixels
    for y in (255 - x, np.zeros_like(x), np.full_like(x, 255), hashed(x, 255)):
        assert low < distance(name, y, portrait()) < high


def test_levels_are_those_of_the_definitions() -> None:
    levels = {name: (load_metric(name).facts.noticeable, load_metric(name).facts.half) for name in ALL}
    assert levels == {
        "lpips": (0.10, 0.50),
        "lpips-vgg": (0.10, 0.50),
        "dists": (None, None),
        "st-lpips": (None, None),
        "st-lpips-vgg": (None, None),
    }


@pytest.mark.parametrize(("plain", "tolerant"), [("lpips", "st-lpips"), ("lpips-vgg", "st-lpips-vgg")])
def test_a_shift_by_one_pixel_counts_for_less_where_shifts_are_tolerated(plain: str, tolerant: str) -> None:
    whole = photograph("astronaut", 77, 69)
    reference, moved, blurred = whole[:-1, :-1], whole[1:, 1:], box_blur(whole, 5)[:-1, :-1]

    def share(name: str) -> float:
        return distance(name, moved, reference) / distance(name, blurred, reference)

    assert share(tolerant) < 0.8 * share(plain)


# What goes in


@pytest.mark.parametrize("name", ALL)
def test_the_smallest_size_works_and_the_one_below_says_too_small(name: str) -> None:
    side = SMALLEST[name]
    picture = photograph("astronaut")[:side, : side + 3]
    assert 0 < distance(name, tinted(picture, 30, 3, 1), picture) < 1
    below = photograph("astronaut")[: side - 1, :]
    (reading,) = readings(name, Item(Frame(below), Frame(below)))
    assert (reading.value, reading.status) == (None, "too-small")


@pytest.mark.parametrize("name", ALL)
def test_sizes_are_never_fixed_quietly(name: str) -> None:
    blank = np.zeros((64, 65, 3), np.uint8)
    (reading,) = readings(name, Item(Frame(blank[:, :64]), Frame(blank)))
    assert (reading.value, reading.status, reading.detail) == (None, "size", "64×64 vs 65×64")


@pytest.mark.parametrize("name", ALL)
def test_grey_is_measured_as_it_is(name: str) -> None:
    grey = np.repeat(portrait().pixels[..., :1], 3, axis=2)
    assert 0 < distance(name, jpeg(grey, 20), grey) < 1
    even = np.full_like(grey, 128)
    assert distance(name, even.copy(), even) == 0


@pytest.mark.parametrize("name", QUICK)
def test_pixels_may_lie_in_memory_as_they_like(name: str) -> None:
    x, y = photograph("coffee", 90, 77), jpeg(photograph("coffee", 90, 77), 30)
    turned = np.asfortranarray(y[::-1])[::-1]
    assert distance(name, turned, x) == distance(name, y, x)


# However it is called


@pytest.mark.parametrize("name", ALL)
def test_a_batch_of_all_sorts_gives_each_item_its_own_value(name: str) -> None:
    wide, tall = Frame(photograph("astronaut", 51, 37)), Frame(photograph("coffee", 37, 51))
    items = [
        Item(Frame(jpeg(wide.pixels, 40)), wide),
        Item(Frame(tall.pixels)),
        Item(Frame(jpeg(tall.pixels, 10)), tall),
        Item(Frame(tall.pixels), wide),
        Item(Frame(jpeg(wide.pixels, 10)), wide),
        Item(Frame(wide.pixels), Frame(jpeg(wide.pixels, 10))),
    ]
    together = readings(name, *items)
    assert [reading.status for reading in together] == ["ok", "no-reference", "ok", "size", "ok", "ok"]
    for item, reading in zip(items, together, strict=True):
        (alone,) = readings(name, item)
        assert alone.status == reading.status
        if reading.value is not None:
            assert alone.value == pytest.approx(reading.value, rel=1e-6)
    assert readings(name) == []


@pytest.mark.parametrize("name", QUICK)
def test_the_same_call_gives_the_same_digits(name: str) -> None:
    x, y = portrait().pixels, jpeg(portrait().pixels, 25)
    assert distance(name, y, Frame(x)) == distance(name, y, Frame(x))


def test_a_reference_is_worked_out_once_and_a_subject_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from convergebench.metrics.full_reference import _networks

    seen: list[Frame] = []
    keep = _networks.FeatureNetwork.keep

    def counted(self: Any, frame: Frame) -> Any:
        seen.append(frame)
        return keep(self, frame)

    monkeypatch.setattr(_networks.FeatureNetwork, "keep", counted)
    reference = Frame(photograph("coffee", 80, 70))
    subjects = [Frame(jpeg(reference.pixels, quality)) for quality in (80, 50, 20)]
    readings("lpips", *(Item(subject, reference) for subject in subjects[:2]))
    readings("lpips", Item(subjects[2], reference))
    assert seen == [reference]
    assert [subject._derived for subject in subjects] == [{}, {}, {}]


@pytest.mark.parametrize("name", ALL)
def test_bfloat16_is_off_by_less_than_stated(name: str) -> None:
    subjects = [jpeg(portrait().pixels, 30), noisy(portrait().pixels, 10), box_blur(portrait().pixels, 5)]
    full = [distance(name, subject, portrait()) for subject in subjects]
    with place(Place("cpu", "bfloat16")):
        half = [distance(name, subject, portrait()) for subject in subjects]
        assert distance(name, portrait().pixels.copy(), portrait()) == 0
    assert 0 < np.abs(np.subtract(full, half)).max() < 3e-3


def test_what_a_program_set_for_its_own_networks_is_left_as_it_was() -> None:
    torch = pytest.importorskip("torch")
    from convergebench.metrics._torch import full_precision

    before = torch.backends.cudnn.conv.fp32_precision
    with full_precision():
        assert torch.backends.cudnn.conv.fp32_precision == "ieee"
        assert torch.is_inference_mode_enabled()
    assert torch.backends.cudnn.conv.fp32_precision == before
    assert not torch.is_inference_mode_enabled()


def test_a_thread_that_is_done_does_not_take_the_precision_from_another() -> None:
    torch = pytest.importorskip("torch")
    from convergebench.metrics._torch import full_precision

    before, seen = torch.backends.cudnn.conv.fp32_precision, []
    inside, go_on = Event(), Event()

    def second() -> None:
        with full_precision():
            inside.set()
            go_on.wait(10)
            seen.append(torch.backends.cudnn.conv.fp32_precision)

    with full_precision():
        thread = Thread(target=second)
        thread.start()
        inside.wait(0.2)
    go_on.set()
    thread.join()
    assert seen == ["ieee"]
    assert torch.backends.cudnn.conv.fp32_precision == before


# The formulas, on numbers out of the air


def test_the_two_measures_are_the_published_formulas() -> None:
    torch = pytest.importorskip("torch")
    from convergebench.metrics.full_reference._heads import MeanAndStructure, UnitLength

    generator = torch.Generator().manual_seed(5)
    # more rows than fit into one band
    x, y = (torch.rand(1, 7, 301, 97, generator=generator).square() for _ in range(2))
    alpha, beta = torch.rand(2, 7, generator=generator).double()

    lpips = UnitLength(alpha)
    unit = [value.double() / value.double().square().sum(1, keepdim=True).sqrt() for value in (x, y)]
    expected = ((unit[0] - unit[1]).square() * alpha[:, None, None]).sum(1).mean()
    assert lpips.distances(x, [lpips.keep(y)]).item() == pytest.approx(expected.item(), rel=1e-6)

    dists = MeanAndStructure(alpha, beta)
    a, b = (value.double()[0].flatten(1) for value in (x, y))
    means = (2 * a.mean(1) * b.mean(1) + 1e-6) / (a.mean(1) ** 2 + b.mean(1) ** 2 + 1e-6)
    covariance = (a * b).mean(1) - a.mean(1) * b.mean(1)
    structures = (2 * covariance + 1e-6) / (a.var(1, correction=0) + b.var(1, correction=0) + 1e-6)
    expected = (alpha * (1 - means) + beta * (1 - structures)).sum()
    assert dists.distances(x, [dists.keep(y)]).item() == pytest.approx(expected.item(), rel=1e-6)


# Without the extra or the weights


def test_facts_are_read_without_torch() -> None:
    imports = "; ".join(f"import convergebench.metrics.full_reference.{name.replace('-', '_')}" for name in ALL)
    code = f"{imports}; import sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


@pytest.mark.parametrize("name", ALL)
def test_missing_weights_are_asked_for_and_never_made_up(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    from convergebench.metrics.full_reference import _networks
    from convergebench.weights import store

    monkeypatch.setenv("CONVERGEBENCH_CACHE", os.fspath(tmp_path))
    monkeypatch.setenv("CONVERGEBENCH_WEIGHTS", "")
    monkeypatch.setattr(store, "_in_packages", lambda weight: None)
    monkeypatch.setattr(_networks, "network", _networks.network.__wrapped__)
    blank = Frame(np.zeros((64, 64, 3), np.uint8))
    with pytest.raises(Prerequisite, match="are not here; type: cbench weights fetch"):
        load_metric(name).measure([Item(blank, blank)])


def test_without_torch_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    blank = Frame(np.zeros((64, 64, 3), np.uint8))
    with pytest.raises(Prerequisite, match=r'this metric needs torch: pip install "convergebench\[learned\]"'):
        load_metric("lpips").measure([Item(blank, blank)])


@pytest.mark.gpu
@pytest.mark.parametrize("name", ALL)
def test_a_gpu_gives_the_processors_values(name: str) -> None:
    subjects = [jpeg(portrait().pixels, 30), noisy(portrait().pixels, 10), box_blur(portrait().pixels, 5)]
    here = [distance(name, subject, portrait()) for subject in subjects]
    with place(Place("cuda")):
        there = readings(name, *(Item(Frame(subject), portrait()) for subject in subjects))
        assert distance(name, portrait().pixels.copy(), portrait()) == 0
    # TF32 would be off by 1e-4 and more
    assert [reading.value for reading in there] == pytest.approx(here, abs=5e-6)
