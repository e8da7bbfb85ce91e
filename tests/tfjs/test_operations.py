"""Every group of operations by TensorFlow's rules, through the reader and the program, against plain numpy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from convergebench.errors import StudyError
from convergebench.tfjs.graph import read_graph
from convergebench.tfjs.operations import OPERATIONS
from convergebench.tfjs.program import Program
from tests.tfjs.tiny import PICTURE, Array, TinyModel

GENERATOR = np.random.default_rng(2)


def same(found: Array, expected: Array) -> None:
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)


def convolved(picture: Array, kernel: Array, stride: int, pads: tuple[int, int, int, int]) -> Array:
    """A convolution as its definition has it: pixel by pixel."""
    top, bottom, left, right = pads
    padded = np.pad(picture, ((0, 0), (top, bottom), (left, right), (0, 0)))
    height, width = kernel.shape[:2]
    rows = range(0, padded.shape[1] - height + 1, stride)
    columns = range(0, padded.shape[2] - width + 1, stride)
    out = [
        [np.einsum("nhwi,hwio->no", padded[:, r : r + height, c : c + width], kernel) for c in columns] for r in rows
    ]
    return np.moveaxis(np.asarray(out), 2, 0)


@pytest.mark.parametrize(
    ("size", "stride", "padding", "pads"),
    [
        (3, 1, "SAME", (1, 1, 1, 1)),
        (3, 2, "SAME", (1, 1, 0, 1)),  # 7 rows, 6 columns: what is odd goes to the end
        (2, 1, "SAME", (0, 1, 0, 1)),
        (3, 2, "VALID", (0, 0, 0, 0)),
        (1, 1, "VALID", (0, 0, 0, 0)),
        (1, 1, "SAME", (0, 0, 0, 0)),
        (1, 2, "VALID", (0, 0, 0, 0)),
    ],
)
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
def test_convolution(
    model: TinyModel,
    picture: Array,
    tmp_path: Path,
    size: int,
    stride: int,
    padding: str,
    pads: tuple[int, int, int, int],
    bias: bool,
) -> None:
    kernel, added = GENERATOR.normal(size=(size, size, 4, 5)).astype(np.float32), GENERATOR.normal(size=(1, 1, 1, 5))
    steps: dict[str, Any] = {"strides": [1, stride, stride, 1], "dilations": [1, 1, 1, 1]}
    out = model.node("Conv2D", PICTURE, model.constant(kernel), padding=padding, data_format="NHWC", **steps)
    if bias:
        out = model.node("AddV2", out, model.constant(added))
    expected = convolved(picture, kernel, stride, pads) + (added if bias else 0)
    same(model.run(tmp_path, out, picture), expected)


@pytest.mark.parametrize("sizes", [(14, 12), (15, 13)], ids=["even", "odd"])
def test_transposed_convolution_is_the_way_back(
    model: TinyModel, picture: Array, tmp_path: Path, sizes: tuple[int, int]
) -> None:
    """Its defining property: what a convolution takes, weighed by its output, is what the way back gives."""
    kernel = GENERATOR.normal(size=(2, 2, 5, 4)).astype(np.float32)
    out = model.node(
        *("Conv2DBackpropInput", model.constant([1, *sizes, 5]), model.constant(kernel), PICTURE),
        padding="VALID",
        strides=[1, 2, 2, 1],
    )
    found = model.run(tmp_path, out, picture)
    assert found.shape == (1, *sizes, 5)
    forward = TinyModel()
    probe = GENERATOR.normal(size=(1, *sizes, 5)).astype(np.float32)
    there = forward.node("Conv2D", PICTURE, forward.constant(kernel), padding="VALID", strides=[1, 2, 2, 1])
    answer = forward.run(tmp_path, there, probe)
    assert float((answer * picture).sum()) == pytest.approx(float((probe * found).sum()), rel=1e-3)


@pytest.mark.parametrize("equation", ["abcg,gf->abcf", "abgd,gf->abdf", "agcd,gf->afcd"])
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
def test_einsum(model: TinyModel, picture: Array, tmp_path: Path, equation: str, bias: bool) -> None:
    axis = equation.partition(",")[0].index("g")
    matrix = GENERATOR.normal(size=(picture.shape[axis], 4)).astype(np.float32)
    out = model.node("Einsum", PICTURE, model.constant(matrix), equation=equation)
    expected = np.einsum(equation, picture, matrix)
    if bias and axis == 3:
        added = GENERATOR.normal(size=(1, 1, 1, 4))
        out, expected = model.node("AddV2", model.constant(added), out), expected + added
    same(model.run(tmp_path, out, picture), expected)


@pytest.mark.parametrize(
    ("begin", "end", "shrink", "key"),
    [
        ([0, 1, 2, 0], [1, 5, 6, 4], 0, np.s_[:, 1:5, 2:6]),
        ([0, 0, -2, 0], [1, 7, 99, 4], 0, np.s_[:, :, -2:]),
        ([0, 3, 1, 0], [1, 4, 3, 4], 0b10, np.s_[:, 3, 1:3]),
        ([0, -1], [1, 0], 0b11, np.s_[0, -1]),
        ([0, 5], [1, 2], 0, np.s_[:, 5:2]),
    ],
)
def test_parts_of_a_tensor(
    model: TinyModel,
    picture: Array,
    tmp_path: Path,
    begin: list[int],
    end: list[int],
    shrink: int,
    key: Any,
) -> None:
    places = [model.constant(np.asarray(one)) for one in (begin, end, [1] * len(begin))]
    out = model.node("StridedSlice", PICTURE, *places, shrink_axis_mask=shrink)
    same(model.run(tmp_path, out, picture), picture[key])


@pytest.mark.parametrize(
    ("masks", "key"),
    [
        ({"begin_mask": 0b10, "end_mask": 0b10}, np.s_[0:1, :]),
        ({"begin_mask": 0b10}, np.s_[0:1, :5]),
        ({"end_mask": 0b10}, np.s_[0:1, 2:]),
        ({"end_mask": 0b10, "shrink_axis_mask": 0b01}, np.s_[0, 2:]),
    ],
    ids=str,
)
def test_an_open_end_of_a_part(
    model: TinyModel, picture: Array, tmp_path: Path, masks: dict[str, Any], key: Any
) -> None:
    places = [model.constant(one) for one in ([0, 2], [1, 5], [1, 1])]
    same(model.run(tmp_path, model.node("StridedSlice", PICTURE, *places, **masks), picture), picture[key])


def test_order_and_sizes(model: TinyModel, picture: Array, tmp_path: Path) -> None:
    turned = model.node("Transpose", PICTURE, model.constant([0, 3, 1, 2]))
    wider = model.node("ExpandDims", turned, model.constant(-1))
    back = model.node("Squeeze", wider, squeeze_dims=[-1])
    taken = model.node("GatherV2", back, model.constant([2, 0]), model.constant(1), batch_dims=0)
    both = model.node("ConcatV2", taken, taken, model.constant(1))
    out = model.node("BroadcastTo", both, model.constant([2, 4, 7, 6]))
    moved = np.transpose(picture, (0, 3, 1, 2))[:, [2, 0, 2, 0]]
    same(model.run(tmp_path, out, picture), np.broadcast_to(moved, (2, 4, 7, 6)))


def test_sizes_are_worked_out_from_the_picture_s(model: TinyModel, tmp_path: Path) -> None:
    """Blocks of two by two pixels, whatever the size: what these graphs are full of."""
    shape = model.node("Shape", PICTURE, out_type="DT_INT32")
    one = model.constant([1])
    sides = [
        model.node("StridedSlice", shape, model.constant([axis]), model.constant([axis + 1]), one, shrink_axis_mask=1)
        for axis in (0, 1, 2)
    ]
    halves = [model.node("FloorDiv", side, model.constant(2)) for side in sides[1:]]
    two, three = model.constant(2), model.constant(3)
    blocks = model.node("Pack", sides[0], halves[0], two, halves[1], two, three, axis=0)
    split = model.node("Reshape", PICTURE, blocks)
    turned = model.node("Transpose", split, model.constant([0, 1, 3, 2, 4, 5]))
    count = model.node("Mul", halves[0], halves[1])
    out = model.node("Reshape", turned, model.node("Pack", sides[0], count, model.constant(4), three, axis=0))
    program = Program(read_graph(model.write(tmp_path, out)))
    for height, width in ((4, 6), (2, 2), (8, 4), (6, 6), (4, 4), (2, 8), (4, 6)):
        picture = GENERATOR.normal(size=(2, height, width, 3)).astype(np.float32)
        parts = picture.reshape(2, height // 2, 2, width // 2, 2, 3).transpose(0, 1, 3, 2, 4, 5)
        same(program(torch.from_numpy(picture)).numpy(), parts.reshape(2, -1, 4, 3))


def test_counting_and_choosing_on_sizes(model: TinyModel, picture: Array, tmp_path: Path) -> None:
    """Whole numbers divide downwards, truths choose, and casts cut off."""
    places = model.node("Range", model.constant(-3), model.constant(4), model.constant(1))
    odd = model.node("NotEqual", model.node("FloorMod", places, model.constant(2)), model.constant(0))
    low = model.node("Less", places, model.constant(0))
    both = model.node("LogicalAnd", odd, low)
    halves = model.node("FloorDiv", places, model.constant(2))
    chosen = model.node("SelectV2", both, halves, places)
    cut = model.node("Cast", model.constant([-1.7, 1.7, 0, 0, 0, 0, 0]), DstT="DT_INT32")
    total = model.node("Cast", model.node("AddV2", chosen, cut), DstT="DT_FLOAT")
    column = model.node("Reshape", total, model.constant([7, 1, 1]))
    out = model.node("Mul", PICTURE, column)
    numbers = np.arange(-3, 4)
    expected = np.where((numbers % 2 != 0) & (numbers < 0), numbers // 2, numbers) + np.asarray([-1, 1, 0, 0, 0, 0, 0])
    same(model.run(tmp_path, out, picture), picture * expected[:, None, None])


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("axes", [[1, 2], [3], [-1], 2, []])
def test_sums_along_axes(model: TinyModel, picture: Array, tmp_path: Path, axes: Any, keep: bool) -> None:
    out = model.node("Sum", PICTURE, model.constant(np.asarray(axes, np.int32)), keep_dims=keep)
    axis = tuple(axes) if isinstance(axes, list) else axes
    same(model.run(tmp_path, out, picture), np.sum(picture, axis=axis, keepdims=keep))


POINTWISE: dict[str, Callable[[Array], Array]] = {
    "Abs": np.abs,
    "Exp": np.exp,
    "Floor": np.floor,
    "Neg": np.negative,
    "Reciprocal": np.reciprocal,
    "Sign": np.sign,
    "Square": np.square,
    "Tanh": np.tanh,
}


@pytest.mark.parametrize("op", POINTWISE)
def test_one_number_at_a_time(model: TinyModel, picture: Array, tmp_path: Path, op: str) -> None:
    out = model.node(op, PICTURE)
    same(model.run(tmp_path, out, picture), POINTWISE[op](picture).astype(np.float32))


@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("AddV2", np.add),
        ("Sub", np.subtract),
        ("Mul", np.multiply),
        ("RealDiv", np.divide),
        ("Maximum", np.maximum),
        ("Minimum", np.minimum),
    ],
)
def test_two_numbers_at_a_time(
    model: TinyModel, picture: Array, tmp_path: Path, op: str, function: Callable[..., Array]
) -> None:
    other = GENERATOR.normal(size=(6, 1)).astype(np.float32)
    same(model.run(tmp_path, model.node(op, PICTURE, model.constant(other)), picture), function(picture, other))


@pytest.mark.parametrize(
    ("op", "function"),
    [
        *(("Greater", np.greater), ("GreaterEqual", np.greater_equal), ("Less", np.less), ("LessEqual", np.less_equal)),
        ("NotEqual", np.not_equal),
    ],
)
def test_comparisons_choose(
    model: TinyModel, picture: Array, tmp_path: Path, op: str, function: Callable[..., Array]
) -> None:
    picture = np.round(picture)
    zero = model.constant(0.0)
    out = model.node("SelectV2", model.node(op, PICTURE, zero), PICTURE, model.constant(9.0))
    same(model.run(tmp_path, out, picture), np.where(function(picture, 0), picture, 9).astype(np.float32))


@pytest.mark.parametrize(
    ("op", "attributes", "why"),
    [
        ("Conv2D", {"data_format": "NCHW", "padding": "SAME", "strides": [1, 1, 1, 1]}, "data format NCHW"),
        ("Conv2D", {"padding": "SAME", "strides": [1, 1, 1, 1], "dilations": [1, 2, 2, 1]}, "is dilated"),
        ("Conv2D", {"padding": "EXPLICIT", "strides": [1, 1, 1, 1]}, "has the padding EXPLICIT"),
        ("Cast", {"DstT": "DT_COMPLEX64"}, "is of type DT_COMPLEX64"),
        ("GatherV2", {"batch_dims": 1}, "gathers by batch"),
        ("StridedSlice", {"ellipsis_mask": 1}, "has an ellipsis or a new axis"),
        ("StridedSlice", {"new_axis_mask": 1}, "has an ellipsis or a new axis"),
    ],
)
def test_what_is_not_supported_is_named(
    model: TinyModel, picture: Array, tmp_path: Path, op: str, attributes: dict[str, Any], why: str
) -> None:
    inputs = {
        "Cast": [],
        "GatherV2": [model.constant([0]), model.constant(1)],
        "StridedSlice": [model.constant([0]), model.constant([1]), model.constant([1])],
    }.get(op) or ([] if op == "Cast" else [model.constant(np.ones((3, 3, 4, 4), np.float32))])
    out = model.node(op, PICTURE, *inputs, name="the-one", **attributes)
    with pytest.raises(StudyError, match=rf"node 'the-one' \(.*\) .*{why}") as caught:
        model.run(tmp_path, out, picture)
    assert "\n" not in str(caught.value)


def test_an_unknown_operation_is_named_before_anything_runs(model: TinyModel, tmp_path: Path) -> None:
    out = model.node("FractionalMaxPool", PICTURE, name="odd")
    graph = read_graph(model.write(tmp_path, out))
    with pytest.raises(
        StudyError, match=r"^the graph has an operation 'FractionalMaxPool' \(node 'odd'\), which is not"
    ):
        Program(graph)
    assert "FractionalMaxPool" not in OPERATIONS


def test_sizes_that_do_not_fit_are_one_line(model: TinyModel, picture: Array, tmp_path: Path) -> None:
    out = model.node("Reshape", PICTURE, model.constant([5, 5]), name="wrong")
    with pytest.raises(StudyError, match=r"node 'wrong' \(Reshape\) cannot be run: shape") as caught:
        model.run(tmp_path, out, picture)
    assert "\n" not in str(caught.value)
