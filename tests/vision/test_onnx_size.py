"""A network that was exported for one size runs at another, with the same layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from convergebench.errors import Prerequisite
from convergebench.vision.onnx_size import BYTES, NUMBER, MessageField, _as_number, _encoded, with_input_size

onnxruntime: Any = pytest.importorskip("onnxruntime")


def message(*fields: tuple[int, int | str | bytes]) -> bytes:
    """Numbers as numbers, texts and bytes as bytes."""
    found = []
    for number, value in fields:
        if isinstance(value, int):
            found.append(MessageField(number, NUMBER, _as_number(value)))
        else:
            found.append(MessageField(number, BYTES, value.encode() if isinstance(value, str) else value))
    return _encoded(found)


def value(name: str, *sizes: int) -> bytes:
    """The declaration of a float tensor."""
    shape = message(*((1, message((1, size))) for size in sizes))
    return message((1, name), (2, message((1, message((1, 1), (2, shape))))))


def network(side: int) -> bytes:
    """Halves the picture (the largest of 2 × 2), enlarges it again; the half is another output."""
    pool = message(
        *((1, "in"), (2, "half"), (4, "MaxPool")),
        *((5, message((1, name), (8, 2), (8, 2), (20, 7))) for name in ("kernel_shape", "strides")),
    )
    mode = message((1, "mode"), (4, "nearest"), (20, 3))
    resize = message((1, "half"), (1, ""), (1, ""), (1, "sizes"), (2, "out"), (4, "Resize"), (5, mode))
    sizes = message((1, 4), (2, 7), (8, "sizes"), (9, np.asarray([1, 1, side, side], "<i8").tobytes()))
    other = message((1, 4), (2, 7), (8, "not sizes"), (9, np.asarray([1, 1, side, side], "<i8").tobytes()))
    half = value("half", 1, 1, side // 2, side // 2)
    graph = message(
        *((1, pool), (1, resize), (2, "net"), (5, sizes), (5, other)),
        *((11, value("in", 1, 1, side, side)), (12, value("out", 1, 1, side, side)), (12, half), (13, half)),
    )
    return message((1, 8), (7, graph), (8, message((1, ""), (2, 15))))


def run(model: bytes, side: int) -> tuple[list[str], np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    picture = np.arange(side * side, dtype=np.float32).reshape(1, 1, side, side)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    assert session.get_inputs()[0].shape == [1, 1, side, side]
    return [one.name for one in session.get_outputs()], session.run(["out"], {"in": picture})[0][0, 0]


def expected(side: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    picture = np.arange(side * side, dtype=np.float32).reshape(side, side)
    return np.kron(picture[1::2, 1::2], np.ones((2, 2), np.float32))


def test_it_runs_at_another_size_with_its_first_output() -> None:
    assert run(network(256), 256)[0] == ["out", "half"]
    for side in (128, 512):
        names, found = run(with_input_size(network(256), side), side)
        assert names == ["out"]
        np.testing.assert_array_equal(found, expected(side))


def test_only_the_sizes_of_enlargements_are_changed_and_those_in_between_are_not_declared() -> None:
    changed = with_input_size(network(256), 128)
    assert network(256).count(value("half", 1, 1, 128, 128)) == 2
    assert value("half", 1, 1, 128, 128) not in changed
    assert changed.count(np.asarray([1, 1, 128, 128], "<i8").tobytes()) == 1
    assert changed.count(np.asarray([1, 1, 256, 256], "<i8").tobytes()) == 1


@pytest.mark.parametrize("damage", [lambda model: model[:-3], lambda model: model[:40], lambda model: b"\x0b" + model])
def test_a_damaged_file_is_one_line(damage: object) -> None:
    with pytest.raises(Prerequisite, match=r"the network's file is damaged .*; fetch it again"):
        with_input_size(damage(network(256)), 128)  # type: ignore[operator]
