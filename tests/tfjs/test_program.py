"""Joined nodes give what the single ones gave, and memory is let go of after its last use."""

from __future__ import annotations

import math
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from convergebench.errors import StudyError
from convergebench.tfjs import program as room
from convergebench.tfjs.fusing import fuse
from convergebench.tfjs.graph import Graph, NodeOutput, read_graph
from convergebench.tfjs.operations import CONVOLUTION, GELU, LAYER_NORM, LINEAR
from convergebench.tfjs.program import SHAPES_KEPT, Program
from tests.tfjs.tiny import PICTURE, Array, TinyModel

GENERATOR = np.random.default_rng(3)


def gelu(model: TinyModel, value: str, *, cube: float = 0.044715, half: float = 0.5) -> str:
    """As the exporter spells it out."""
    third = model.node("Mul", model.node("Mul", model.constant(cube), value), model.node("Square", value))
    inside = model.node("Mul", model.constant(math.sqrt(2 / math.pi)), model.node("AddV2", value, third))
    bent = model.node("AddV2", model.constant(1.0), model.node("Tanh", inside))
    return model.node("Mul", model.node("Mul", model.constant(half), value), bent)


def layer_norm(model: TinyModel, value: str, scale: Array, bias: Array, *, axis: int = 3, count: float = 4) -> str:
    """As the exporter spells it out: the mean of the squares less the square of the mean."""

    def mean(of: str) -> str:
        return model.node("Mul", model.node("Sum", of, model.constant([axis])), model.constant(1 / count))

    sizes = model.constant([1, 7, 6, 1])
    middle = mean(value)
    spread = model.node("Sub", mean(model.node("Square", value)), model.node("Square", middle))
    spread = model.node("Reshape", model.node("Maximum", model.constant(0.0), spread), sizes)
    inverse = model.node("Rsqrt", model.node("AddV2", spread, model.constant(1e-6)))
    factor = model.node("Mul", inverse, model.constant(scale))
    centred = model.node("Sub", value, model.node("Reshape", middle, sizes))
    return model.node("AddV2", model.node("Mul", centred, factor), model.constant(bias))


def kinds(graph: Graph) -> list[str]:
    return [node.op for node in fuse(graph).order() if node.op not in ("Const", "Placeholder")]


def unfused(graph: Graph, picture: Array, monkeypatch: pytest.MonkeyPatch) -> Array:
    monkeypatch.setattr(room, "fuse", lambda one: one)
    return np.asarray(Program(graph)(torch.from_numpy(picture)).numpy())


def check(graph: Graph, picture: Array, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert kinds(graph) == expected
    found = Program(graph)(torch.from_numpy(picture)).numpy()
    np.testing.assert_allclose(found, unfused(graph, picture, monkeypatch), rtol=1e-4, atol=1e-5)


def test_gelu_is_one_node(model: TinyModel, picture: Array, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = read_graph(model.write(tmp_path, gelu(model, PICTURE)))
    check(graph, picture, [GELU], monkeypatch)


@pytest.mark.parametrize("other", [{"cube": 0.05}, {"half": 0.4}], ids=str)
def test_what_only_looks_like_gelu_is_left_alone(
    model: TinyModel, picture: Array, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: dict[str, float]
) -> None:
    graph = read_graph(model.write(tmp_path, gelu(model, PICTURE, **other)))
    assert GELU not in kinds(graph)
    found = Program(graph)(torch.from_numpy(picture)).numpy()
    np.testing.assert_array_equal(found, unfused(graph, picture, monkeypatch))


def test_layer_norm_is_one_node(
    model: TinyModel, picture: Array, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scale, bias = GENERATOR.normal(size=(2, 1, 1, 1, 4)).astype(np.float32)
    graph = read_graph(model.write(tmp_path, layer_norm(model, PICTURE, scale, bias)))
    check(graph, picture, [LAYER_NORM], monkeypatch)
    centred = picture - picture.mean(-1, keepdims=True)
    expected = centred / np.sqrt(picture.var(-1, keepdims=True) + 1e-6) * scale + bias
    np.testing.assert_allclose(Program(graph)(torch.from_numpy(picture)).numpy(), expected, rtol=1e-3, atol=1e-4)


def test_what_only_looks_like_layer_norm_is_left_alone(model: TinyModel, tmp_path: Path) -> None:
    scale = bias = np.ones((1, 1, 1, 4), np.float32)
    graph = read_graph(model.write(tmp_path, layer_norm(model, PICTURE, scale, bias, count=5)))
    assert LAYER_NORM not in kinds(graph)


def test_layers_take_their_bias_in(
    model: TinyModel, picture: Array, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bias = GENERATOR.normal(size=(1, 1, 1, 4)).astype(np.float32)
    matrix, point, kernel = (GENERATOR.normal(size=size) for size in ((4, 4), (1, 1, 4, 4), (3, 3, 4, 4)))
    dense = model.node("Einsum", PICTURE, model.constant(matrix), equation="abcg,gf->abcf")
    dense = model.node("AddV2", dense, model.constant(bias))
    step: dict[str, Any] = {"padding": "SAME", "strides": [1, 1, 1, 1]}
    pointed = model.node("AddV2", model.node("Conv2D", dense, model.constant(point), **step), model.constant(bias))
    out = model.node("AddV2", model.constant(bias), model.node("Conv2D", pointed, model.constant(kernel), **step))
    graph = read_graph(model.write(tmp_path, out))
    check(graph, picture, [LINEAR, LINEAR, CONVOLUTION], monkeypatch)


def test_a_product_that_others_need_keeps_its_own_node(
    model: TinyModel, picture: Array, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix, bias = GENERATOR.normal(size=(4, 4)), GENERATOR.normal(size=(1, 1, 1, 4)).astype(np.float32)
    dense = model.node("Einsum", PICTURE, model.constant(matrix), equation="abcg,gf->abcf")
    out = model.node("Mul", model.node("AddV2", dense, model.constant(bias)), dense)
    graph = read_graph(model.write(tmp_path, out))
    check(graph, picture, [LINEAR, "AddV2", "Mul"], monkeypatch)


def test_memory_is_let_go_of_after_its_last_use(
    model: TinyModel, picture: Array, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = PICTURE
    for _ in range(20):
        value = model.node("Neg", value)
    alive: list[weakref.ref[torch.Tensor]] = []
    most = 0
    carry_out = room._run_node

    def watched(node: object, run: object, inputs: object) -> dict[NodeOutput, torch.Tensor]:
        nonlocal most
        answer = carry_out(node, run, inputs)  # type: ignore[arg-type]
        alive.extend(weakref.ref(one) for one in answer.values())
        most = max(most, sum(one() is not None for one in alive))
        return answer

    program = Program(read_graph(model.write(tmp_path, value)))
    monkeypatch.setattr(room, "_run_node", watched)
    np.testing.assert_array_equal(program(torch.from_numpy(picture)).numpy(), picture)
    assert len(alive) == 20
    assert most == 2


def test_several_outputs_are_given_by_name(model: TinyModel, picture: Array, tmp_path: Path) -> None:
    top = model.node("TopKV2", PICTURE, model.constant(2), sorted=True)
    doubled = model.node("AddV2", f"{top}:1", f"{top}:1")
    program = Program(read_graph(model.write(tmp_path, f"{top}:0", doubled)))
    found = program.run(torch.from_numpy(picture))
    np.testing.assert_array_equal(found["out"], -np.sort(-picture)[..., :2])
    np.testing.assert_array_equal(found["out-1"], np.argsort(-picture)[..., :2] * 2)
    with pytest.raises(StudyError, match="the graph has 2 outputs: out, out-1"):
        program(torch.from_numpy(picture))


def test_threads_may_share_a_program(model: TinyModel, tmp_path: Path) -> None:
    program = Program(read_graph(model.write(tmp_path, model.node("Neg", PICTURE))))
    pictures = [torch.full((1, 1 + number % 7, 2, 3), float(number)) for number in range(70)]
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(program, pictures))
    assert all(torch.equal(answer, -picture) for answer, picture in zip(answers, pictures, strict=True))


def test_steps_are_kept_for_a_few_sizes_only(model: TinyModel, tmp_path: Path) -> None:
    program = Program(read_graph(model.write(tmp_path, model.node("Neg", PICTURE))))
    for side in range(1, SHAPES_KEPT + 4):
        program(torch.ones(1, side, side, 3))
        program(torch.ones(1, 1, 1, 3))
    assert len(program._steps) == SHAPES_KEPT
    assert (1, 1, 1, 3) in program._steps


def test_what_cannot_be_known_beforehand_is_refused(model: TinyModel, picture: Array, tmp_path: Path) -> None:
    shape = model.node("Shape", model.node("Neg", PICTURE, name="middle"))
    with pytest.raises(StudyError, match="asks for the size of 'middle' at run time"):
        model.run(tmp_path, model.node("Reshape", PICTURE, shape), picture)
    other = TinyModel()
    with pytest.raises(StudyError, match="takes output 1 of 'picture'"):
        other.run(tmp_path, other.node("Neg", f"{PICTURE}:1"), picture)


def test_everything_lies_on_the_device_that_was_asked_for(model: TinyModel, picture: Array, tmp_path: Path) -> None:
    """The device `meta` has sizes and no numbers: torch refuses to mix it with another, as it does with a GPU."""
    scale, bias = np.ones((2, 1, 1, 1, 4), np.float32)
    normed = layer_norm(model, PICTURE, scale, bias)
    kernel = model.constant(np.ones((3, 3, 4, 4), np.float32))
    wide = gelu(model, model.node("Conv2D", normed, kernel, padding="SAME", strides=[1, 2, 2, 1]))
    taken = model.node("GatherV2", wide, model.constant([2, 1, 0]), model.constant(3))
    part = model.node("StridedSlice", taken, *map(model.constant, ([0, 1], [1, 3], [1, 1])))
    out = model.node("SelectV2", model.node("Greater", part, model.constant(0.0)), part, model.constant([1.0, 2, 3]))
    answer = Program(read_graph(model.write(tmp_path, out)), "meta")(torch.from_numpy(picture))
    assert answer.device.type == "meta"
    assert answer.shape == (1, 2, 3, 3)
