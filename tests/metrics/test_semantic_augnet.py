"""AugNet: its network on small random weights, its values on the real ones where they are here."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from convergebench.errors import Prerequisite, Unmeasurable
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics.base import Item
from convergebench.metrics.place import Place, place
from convergebench.metrics.semantic._resnet50 import resnet
from convergebench.metrics.semantic.augnet import _prepared, augnet
from convergebench.weights import find_weight
from convergebench.weights.loading import torch_state
from convergebench.weights.store import search
from tests.metrics.pictures import box_blur, golden_pair, jpeg, noisy, photograph
from tests.metrics.tiny_models import save_augnet, seeded

torch: Any = pytest.importorskip("torch", reason="torch is not installed (extra learned)")

PATH = Path(__file__).parents[1] / "golden" / "semantic.csv"
ROWS = [row for row in csv.DictReader(PATH.read_text(encoding="utf-8").splitlines()) if row["metric"] == "augnet"]
QUICK = ("chelsea-tint",)
"""The other rows are left to the slow tests: the real network takes a second an image."""


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_augnet(tmp_path_factory.mktemp("augnet") / "small")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, saved: Path) -> Path:
    seeded(monkeypatch, "augnet", saved)
    return saved


@pytest.fixture
def real() -> None:
    if search(find_weight("augnet")) is None:
        pytest.skip("the weights of AugNet are not here (cbench weights fetch augnet)")


def value(subject: Pixels, reference: Pixels) -> float:
    return augnet(Item(Frame(subject), Frame(reference)))


def test_the_network_is_a_resnet_as_torch_itself_builds_it(saved: Path) -> None:
    state = {name.removeprefix("module.pre."): tensor for name, tensor in torch_state(saved / "model.pth").items()}
    x = torch.randn(2, 3, 61, 75, generator=torch.Generator().manual_seed(1))

    def layer(x: Any, name: str, norm: str, stride: int) -> Any:
        weight = state[f"{name}.weight"]
        out = torch.nn.functional.conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2)
        stats = (state[f"{norm}.{part}"] for part in ("running_mean", "running_var", "weight", "bias"))
        return torch.nn.functional.batch_norm(out, *stats)

    y = torch.nn.functional.max_pool2d(layer(x, "conv1", "bn1", 2).relu(), 3, 2, 1)
    for name, stride in (("layer1.0", 1), ("layer2.0", 2), ("layer2.1", 1), ("layer3.0", 2), ("layer4.0", 2)):
        around = layer(y, f"{name}.downsample.0", f"{name}.downsample.1", stride) if name.endswith(".0") else y
        for number, step in ((1, 1), (2, stride), (3, 1)):
            y = layer(y, f"{name}.conv{number}", f"{name}.bn{number}", step)
            y = y.relu() if number < 3 else y
        y = (y + around).relu()
    expected = y.mean(dim=(2, 3)) @ state["fc.weight"].T + state["fc.bias"]
    assert resnet(state, "cpu", torch.float32)(x).numpy() == pytest.approx(expected.numpy(), abs=1e-5)


def test_self_value_symmetry_batch_and_sizes(small: Path) -> None:
    cat, coffee = photograph("chelsea"), photograph("coffee")
    assert value(cat, cat) == 1
    assert value(cat, coffee) == pytest.approx(value(coffee, cat), abs=1e-9)
    reference = Frame(cat)
    subjects = [Frame(coffee), Frame(box_blur(cat, 9)), Frame(photograph("rocket", 301, 99)), Frame(cat)]
    readings = augnet.measure([*(Item(subject, reference) for subject in subjects), Item(reference)])
    single = [value(subject.pixels, cat) for subject in subjects]
    assert [reading.value for reading in readings[:-1]] == pytest.approx(single, abs=1e-6)
    assert readings[-1].status == "no-reference"


def test_too_small_to_recognise_anything(small: Path) -> None:
    with pytest.raises(Unmeasurable, match="has a side shorter than 16 pixels"):
        value(photograph("chelsea", 40, 15), photograph("chelsea"))


def test_a_strip_is_refused_before_it_fills_the_memory() -> None:
    strip = Frame(np.zeros((40, 3000, 3), np.uint8))
    (reading,) = augnet.measure([Item(strip, strip)])
    assert (reading.value, reading.status) == (None, "too-slender")
    assert reading.detail == "3000×40 is over 16 times as long as wide"


def test_bfloat16_stays_near_float32(small: Path) -> None:
    exact = value(photograph("coffee"), photograph("chelsea"))
    with place(Place("cpu", "bfloat16")):
        assert value(photograph("coffee"), photograph("chelsea")) == pytest.approx(exact, abs=0.03)


def test_the_shorter_side_is_350_and_the_longer_is_cut_to_a_whole_number() -> None:
    seen = [_prepared(photograph("coffee", *size)).shape for size in ((600, 400), (401, 399), (57, 200))]
    assert seen == [(350, 525, 3), (350, 351, 3), (1228, 350, 3)]


def test_a_file_that_is_not_a_network_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "model.pth").write_bytes(b"not a network at all")
    seeded(monkeypatch, "augnet", folder)
    with pytest.raises(Prerequisite, match=r"model\.pth contains more than tensors"):
        value(photograph("coffee"), photograph("chelsea"))


@pytest.mark.parametrize(
    "row", [pytest.param(r, id=r["case"], marks=() if r["case"] in QUICK else pytest.mark.slow) for r in ROWS]
)
def test_real_weights_give_the_values_of_the_authors_package(real: None, row: dict[str, str]) -> None:
    assert value(*golden_pair(row["case"])) == pytest.approx(float(row["value"]), abs=float(row["tolerance"]))


def test_real_weights_forgive_fine_damage_and_tell_pictures_apart(real: None) -> None:
    cat = photograph("chelsea")
    reference = Frame(cat)
    ladder = [cat, jpeg(cat, 15), noisy(cat, 60), photograph("coffee")]
    values = [reading.value for reading in augnet.measure([Item(Frame(one), reference) for one in ladder])]
    assert values[0] == pytest.approx(1, abs=1e-6)
    assert all(one is not None for one in values)
    assert values == sorted(values, key=lambda one: -(one or 0))
    assert (values[1] or 0) > 0.95
    assert (values[-1] or 0) < 0.5


@pytest.mark.gpu
def test_a_gpu_gives_the_same_values(small: Path) -> None:
    if not torch.cuda.is_available():
        pytest.skip("torch sees no GPU")
    pairs = [(photograph("coffee"), photograph("chelsea")), (box_blur(photograph("coffee"), 9), photograph("coffee"))]
    here = [value(*pair) for pair in pairs]
    with place(Place("cuda")):
        assert [value(*pair) for pair in pairs] == pytest.approx(here, abs=1e-5)
    with place(Place("cuda", "bfloat16")):
        assert [value(*pair) for pair in pairs] == pytest.approx(here, abs=0.03)


def test_grey_is_an_image_like_any_other(small: Path) -> None:
    grey = cv2.cvtColor(cv2.cvtColor(photograph("coffee"), cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
    assert value(np.asarray(grey, np.uint8), np.asarray(grey, np.uint8)) == 1
