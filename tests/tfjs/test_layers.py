"""The layers of the detectors by TensorFlow's rules, against plain numpy and OpenCV."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import torch

from convergebench.errors import StudyError
from convergebench.tfjs.graph import read_graph
from convergebench.tfjs.program import Program
from tests.tfjs.test_operations import convolved, same
from tests.tfjs.tiny import PICTURE, Array, TinyModel

GENERATOR = np.random.default_rng(6)
PLAIN: dict[str, Any] = {"padding": "SAME", "strides": [1, 1, 1, 1]}


@pytest.mark.parametrize("multiple", [1, 2])
@pytest.mark.parametrize("stride", [1, 2])
def test_a_kernel_for_each_channel(
    model: TinyModel, picture: Array, tmp_path: Path, multiple: int, stride: int
) -> None:
    kernel = GENERATOR.normal(size=(3, 3, 4, multiple)).astype(np.float32)
    steps: dict[str, Any] = {"padding": "VALID", "strides": [1, stride, stride, 1]}
    out = model.node("DepthwiseConv2dNative", PICTURE, model.constant(kernel), **steps)
    by_channel = [
        convolved(picture[..., [channel]], kernel[:, :, [channel]], stride, (0, 0, 0, 0)) for channel in range(4)
    ]
    same(model.run(tmp_path, out, picture), np.concatenate(by_channel, -1))


@pytest.mark.parametrize("op", ["_FusedConv2D", "FusedDepthwiseConv2dNative"])
@pytest.mark.parametrize("activation", ["", "Relu", "Relu6", "Prelu"])
def test_what_a_converter_merged(model: TinyModel, picture: Array, tmp_path: Path, op: str, activation: str) -> None:
    size = (3, 3, 4, 5) if op == "_FusedConv2D" else (3, 3, 4, 1)
    kernel = 3 * GENERATOR.normal(size=size).astype(np.float32)
    channels = 5 if op == "_FusedConv2D" else 4
    bias, slope = GENERATOR.normal(size=(2, channels)).astype(np.float32)
    inputs = [model.constant(kernel), model.constant(bias)]
    inputs += [model.constant(slope)] if activation == "Prelu" else []
    out = model.node(op, PICTURE, *inputs, fused_ops=["BiasAdd", activation] if activation else ["BiasAdd"], **PLAIN)
    if op == "_FusedConv2D":
        plain = convolved(picture, kernel, 1, (1, 1, 1, 1))
    else:
        plain = np.concatenate(
            [convolved(picture[..., [one]], kernel[:, :, [one]], 1, (1, 1, 1, 1)) for one in range(4)], -1
        )
    plain = plain + bias
    expected = {
        "": plain,
        "Relu": np.maximum(plain, 0),
        "Relu6": np.clip(plain, 0, 6),
        "Prelu": np.where(plain < 0, plain * slope, plain),
    }[activation]
    same(model.run(tmp_path, out, picture), expected)


def test_an_activation_that_is_not_known_is_named(model: TinyModel, picture: Array, tmp_path: Path) -> None:
    kernel, bias = model.constant(np.ones((1, 1, 4, 4), np.float32)), model.constant(np.ones(4, np.float32))
    out = model.node("_FusedConv2D", PICTURE, kernel, bias, fused_ops=["BiasAdd", "Elu"], **PLAIN)
    with pytest.raises(StudyError, match="ends in Elu, which is not supported"):
        model.run(tmp_path, out, picture)


@pytest.mark.parametrize(
    ("op", "by_hand"),
    [
        ("Relu", lambda x: np.maximum(x, 0)),
        ("Relu6", lambda x: np.clip(x, 0, 6)),
        ("Sigmoid", lambda x: 1 / (1 + np.exp(-x))),
    ],
)
def test_activations(model: TinyModel, picture: Array, tmp_path: Path, op: str, by_hand: Any) -> None:
    same(model.run(tmp_path, model.node(op, PICTURE), picture * 5), by_hand(picture * 5))


def test_slopes_below_zero(model: TinyModel, picture: Array, tmp_path: Path) -> None:
    slope = np.asarray([0.1, 0.5, 0, 2], np.float32)
    bent = model.node("Prelu", PICTURE, model.constant(slope))
    same(model.run(tmp_path, bent, picture), np.where(picture < 0, picture * slope, picture))


@pytest.mark.parametrize(("padding", "sizes"), [("VALID", (3, 3)), ("SAME", (4, 3))])
def test_the_largest_of_each_window(
    model: TinyModel, picture: Array, tmp_path: Path, padding: str, sizes: tuple[int, int]
) -> None:
    below = picture - 10  # a padding of zeros would win
    out = model.node("MaxPool", PICTURE, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding=padding)
    rows, columns = sizes
    expected = [
        [below[:, 2 * r : 2 * r + 2, 2 * c : 2 * c + 2].max((1, 2)) for c in range(columns)] for r in range(rows)
    ]
    same(model.run(tmp_path, out, below), np.moveaxis(np.asarray(expected), 2, 0))


def test_the_mean_of_each_window(model: TinyModel, picture: Array, tmp_path: Path) -> None:
    out = model.node("AvgPool", PICTURE, ksize=[1, 7, 3, 1], strides=[1, 7, 3, 1], padding="VALID")
    expected = np.stack([picture[:, :, :3].mean((1, 2)), picture[:, :, 3:].mean((1, 2))], 1)[:, None]
    same(model.run(tmp_path, out, picture), expected)


def test_means_do_not_count_what_is_beyond_the_sides(model: TinyModel, picture: Array, tmp_path: Path) -> None:
    out = model.node("AvgPool", PICTURE, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    expected = [[picture[:, 2 * r : 2 * r + 2, 2 * c : 2 * c + 2].mean((1, 2)) for c in range(3)] for r in range(4)]
    same(model.run(tmp_path, out, picture), np.moveaxis(np.asarray(expected), 2, 0))


@pytest.mark.parametrize("keep", [True, False])
def test_means_along_axes(model: TinyModel, picture: Array, tmp_path: Path, keep: bool) -> None:
    out = model.node("Mean", PICTURE, model.constant([1, 2]), keep_dims=keep)
    same(model.run(tmp_path, out, picture), picture.mean((1, 2), keepdims=keep))


@pytest.mark.parametrize("sizes", [(14, 12), (3, 20), (7, 6)], ids=str)
def test_resizing_by_the_middles_of_pixels(
    model: TinyModel, picture: Array, tmp_path: Path, sizes: tuple[int, int]
) -> None:
    out = model.node("ResizeBilinear", PICTURE, model.constant(list(sizes)), half_pixel_centers=True)
    expected = cv2.resize(picture[0], sizes[::-1], interpolation=cv2.INTER_LINEAR)[None]
    same(model.run(tmp_path, out, picture), expected)


def test_resizing_by_the_corners_of_pixels(model: TinyModel, tmp_path: Path) -> None:
    """The older rule: pixel 2n is pixel n, and the last one has nothing beside it."""
    row = np.asarray([0, 4, 10], np.float32).reshape(1, 1, 3, 1)
    out = model.node("ResizeBilinear", PICTURE, model.constant([1, 6]), half_pixel_centers=False)
    found = model.run(tmp_path, out, row)
    np.testing.assert_allclose(found.ravel(), [0, 2, 4, 7, 10, 10])
    with pytest.raises(StudyError, match="meets the corners"):
        model.run(tmp_path, model.node("ResizeBilinear", PICTURE, model.constant([1, 6]), align_corners=True), row)


def test_padding(model: TinyModel, picture: Array, tmp_path: Path) -> None:
    widths = [[0, 0], [1, 2], [3, 0], [0, 1]]
    zeros = model.node("Pad", PICTURE, model.constant(widths))
    same(model.run(tmp_path, zeros, picture), np.pad(picture, widths))


def test_the_largest_numbers_and_their_places(model: TinyModel, picture: Array, tmp_path: Path) -> None:
    flat = model.node("Reshape", PICTURE, model.constant([1, -1]))
    top = model.node("TopKV2", flat, model.constant(5), sorted=True)
    program = Program(read_graph(model.write(tmp_path, f"{top}:0", f"{top}:1")))
    found = program.run(torch.from_numpy(picture))
    order = np.argsort(-picture.ravel())[:5]
    np.testing.assert_array_equal(found["out"][0], picture.ravel()[order])
    np.testing.assert_array_equal(found["out-1"][0], order)


def test_a_sum_of_several(model: TinyModel, picture: Array, tmp_path: Path) -> None:
    out = model.node("AddN", PICTURE, model.constant([1.0, 2.0, 3.0, 4.0]), PICTURE)
    same(model.run(tmp_path, out, picture), picture * 2 + np.asarray([1, 2, 3, 4], np.float32))


def test_equality_as_a_number(model: TinyModel, tmp_path: Path) -> None:
    row = np.asarray([1, 2, 1], np.float32).reshape(1, 1, 3, 1)
    out = model.node("Cast", model.node("Equal", PICTURE, model.constant(1.0)), DstT="DT_FLOAT")
    np.testing.assert_array_equal(model.run(tmp_path, out, row).ravel(), [1, 0, 1])
