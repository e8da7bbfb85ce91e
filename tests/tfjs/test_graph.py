"""Reading a graph: whole, or one line that says what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convergebench.errors import StudyError
from convergebench.tfjs.graph import NodeOutput, read_graph
from tests.tfjs.tiny import PICTURE, TinyModel

Content = dict[str, Any]


@pytest.fixture
def written(model: TinyModel, tmp_path: Path) -> Path:
    """A model with constants of every type, cut into three shards in the middle of them."""
    numbers = model.constant(np.arange(5, dtype=np.float32))
    model.constant(np.asarray([[1, -2], [3, 4]]))
    model.constant(np.asarray([True, False, True]))
    model.constant(7.5)
    out = model.node("AddV2", PICTURE, numbers, name="out", alpha=0.5, words="SAME", list=[1, 2], type="DT_INT32")
    return model.write(tmp_path, out, shards=3)


def test_constants_come_out_as_they_went_in(written: Path, model: TinyModel) -> None:
    graph = read_graph(written)
    assert graph.input == PICTURE
    assert graph.outputs == {"out": NodeOutput("out")}
    for name, array in model.weights:
        assert graph.constants[name].dtype == array.dtype
        np.testing.assert_array_equal(graph.constants[name], array)
    expected = {"alpha": 0.5, "words": "SAME", "list": [1, 2], "type": "DT_INT32"}
    assert graph.nodes["out"].attributes == expected


def test_halves_come_out_as_floats(model: TinyModel, tmp_path: Path) -> None:
    values = np.asarray([0.1, -2.5, 65504], np.float16)
    name = model.constant(values, np.float16)
    other = model.constant(np.asarray([1.5, 2.5], np.float32))
    constants = read_graph(model.write(tmp_path, model.node("AddV2", PICTURE, name))).constants
    assert constants[name].dtype == np.float32
    np.testing.assert_array_equal(constants[name], values.astype(np.float32))
    np.testing.assert_array_equal(constants[other], [1.5, 2.5])  # begins after half as many bytes


def test_a_model_may_have_another_name_and_several_outputs(model: TinyModel, tmp_path: Path) -> None:
    model.write(tmp_path, model.node("Neg", PICTURE, name="first"), f"{model.node('Abs', PICTURE, name='second')}:0")
    (tmp_path / "model.json").rename(tmp_path / "net.json")
    graph = read_graph(tmp_path, "net.json")
    assert graph.outputs == {"out": NodeOutput("first"), "out-1": NodeOutput("second")}
    assert {node.name for node in graph.order()} == {PICTURE, "first", "second"}


def test_a_signature_may_stand_among_the_metadata(written: Path) -> None:
    path = written / "model.json"
    content = json.loads(path.read_text())
    content["userDefinedMetadata"] = {"signature": content.pop("signature")}
    path.write_text(json.dumps(content))
    assert read_graph(written).outputs == {"out": NodeOutput("out")}


def test_order_puts_every_node_after_what_it_needs(written: Path, model: TinyModel, tmp_path: Path) -> None:
    first = model.node("Neg", "later:0")
    model.node("Abs", PICTURE, f"^{first}", name="later")  # only says what has to be finished before
    model.node("Exp", PICTURE, name="nobody's")
    graph = read_graph(model.write(tmp_path, first))
    assert [node.name for node in graph.order()] == [PICTURE, "later", first]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda data: data[:-1], "its shards end before Const-4 does"),
        (lambda data: data + b"!", "its shards hold 44 bytes where 43 are declared"),
        (lambda data: b"", "its shards end before"),
    ],
    ids=["cut short", "too long", "empty"],
)
def test_a_damaged_shard_is_said_so(written: Path, change: Callable[[bytes], bytes], why: str) -> None:
    path = written / "group1-shard3of3.bin"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(StudyError, match=rf"model\.json is not a TensorFlow\.js graph model \({why}"):
        read_graph(written)


def test_a_missing_file_is_named(written: Path, tmp_path: Path) -> None:
    (written / "group1-shard2of3.bin").unlink()
    with pytest.raises(StudyError, match=r"cannot read .*group1-shard2of3\.bin: No such file"):
        read_graph(written)
    with pytest.raises(StudyError, match=r"cannot read .*model\.json: No such file"):
        read_graph(tmp_path / "nowhere")


def _set(*keys: Any, value: Any) -> Callable[[Content], None]:
    def change(content: Content) -> None:
        for key in keys[:-1]:
            content = content[key]
        content[keys[-1]] = value

    return change


def _without(*keys: Any) -> Callable[[Content], None]:
    def change(content: Content) -> None:
        for key in keys[:-1]:
            content = content[key]
        del content[keys[-1]]

    return change


GROUP = ("weightsManifest", 0)
NODES = ("modelTopology", "node")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_without("modelTopology"), "it has no 'modelTopology'"),
        (_set("modelTopology", value=[]), "is not a TensorFlow.js graph model"),
        (_set(*GROUP, "paths", value=["../../secret.bin"]), "a shard called ../../secret.bin"),
        (
            _set(*GROUP, "weights", 0, "quantization", value={"dtype": "uint8"}),
            "is quantised as uint8, which is not supported",
        ),
        (_set(*GROUP, "weights", 0, "dtype", value="string"), "is of type string, which is not supported"),
        (_without(*GROUP, "weights", 3), "bytes where"),
        (_set(*NODES, 5, "input", value=[PICTURE, "gone"]), "names a node 'gone' that it does not have"),
        (_set("signature", "outputs", "out", "name", value="gone:0"), "an output 'gone' that it does not have"),
        (_without("signature"), "has 1 inputs and 0 outputs"),
        (_set(*NODES, 0, "op", value="Identity"), "has 0 inputs and 1 outputs"),
        (_set(*NODES, 1, "name", value="other"), "no value for the constant 'other'|a node"),
    ],
)
def test_a_file_that_is_something_else_is_one_line(written: Path, change: Callable[[Content], None], why: str) -> None:
    path = written / "model.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises(StudyError, match=why) as caught:
        read_graph(written)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_json_is_one_line(written: Path) -> None:
    (written / "model.json").write_bytes(b"\x80 not json")
    with pytest.raises(StudyError, match=r"model\.json is not a TensorFlow\.js graph model"):
        read_graph(written)
