"""Reading a TensorFlow.js graph model: a JSON file with the nodes, and the shards with the numbers.

The file is not trusted: lengths are checked against the shards, names against each other, and nothing in it can run.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from convergebench.errors import StudyError

MODEL = "model.json"
TYPES: Mapping[str, type[np.generic]] = {"float32": np.float32, "int32": np.int32, "bool": np.bool_}

Array = NDArray[Any]


class NodeOutput(NamedTuple):
    """Which output of which node."""

    name: str
    output: int = 0


@dataclass(frozen=True, slots=True)
class GraphNode:
    """One operation: its name, its kind, where its inputs come from, and its attributes as plain values."""

    name: str
    op: str
    inputs: tuple[NodeOutput, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes by name, the values of those that are constant, and what goes in and comes out."""

    nodes: Mapping[str, GraphNode]
    constants: Mapping[str, Array]
    input: str
    outputs: Mapping[str, NodeOutput]
    """By the name that the file's signature gives them."""

    def order(self) -> list[GraphNode]:
        """The nodes that the outputs need, each after all that it needs itself."""
        seen: set[str] = set()
        sorted_nodes: list[GraphNode] = []
        waiting: list[tuple[str, bool]] = [(one.name, False) for one in self.outputs.values()]
        while waiting:
            name, done = waiting.pop()
            if done:
                sorted_nodes.append(self.nodes[name])
            elif name not in seen:
                seen.add(name)
                waiting.append((name, True))
                waiting += [(one.name, False) for one in self.nodes[name].inputs if one.name not in seen]
        return sorted_nodes


def read_graph(folder: Path, file: str = MODEL) -> Graph:
    """The graph in a folder, or a StudyError of one line."""
    path = folder / file
    try:
        content: Any = json.loads(path.read_bytes())
        nodes = {node.name: node for node in map(_node, content["modelTopology"]["node"])}
        constants = {}
        for group in content["weightsManifest"]:
            constants.update(_weights(folder, group))
        # older converters put the signature among the metadata
        signature = content.get("signature") or (content.get("userDefinedMetadata") or {}).get("signature") or {}
        outputs = {key: _reference(one["name"]) for key, one in signature.get("outputs", {}).items()}
    except OSError as error:
        raise StudyError(f"cannot read {error.filename}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StudyError(f"{path} is not a TensorFlow.js graph model ({_brief(error)})") from error
    return _checked(path, nodes, constants, outputs)


def _checked(
    path: Path, nodes: dict[str, GraphNode], constants: dict[str, Array], outputs: dict[str, NodeOutput]
) -> Graph:
    inputs = [node.name for node in nodes.values() if node.op == "Placeholder"]
    if len(inputs) != 1 or not outputs:
        raise StudyError(f"{path} has {len(inputs)} inputs and {len(outputs)} outputs; one input can be run")
    for node in nodes.values():
        if node.op == "Const" and node.name not in constants:
            raise StudyError(f"{path} has no value for the constant '{node.name}'")
        for reference in node.inputs:
            if reference.name not in nodes:
                raise StudyError(f"{path} names a node '{reference.name}' that it does not have")
    for output in outputs.values():
        if output.name not in nodes:
            raise StudyError(f"{path} names an output '{output.name}' that it does not have")
    return Graph(nodes, constants, inputs[0], outputs)


def _node(content: Mapping[str, Any]) -> GraphNode:
    op = content["op"]
    # inputs that start with ^ only set the order, which matters only for side effects
    inputs = tuple(_reference(one) for one in content.get("input", ()) if not one.startswith("^"))
    given = content.get("attr", {}) if op != "Const" else {}
    return GraphNode(content["name"], op, inputs, {name: _value(one) for name, one in given.items()})


def _reference(text: str) -> NodeOutput:
    name, _, output = text.partition(":")
    return NodeOutput(name, int(output or 0))


def _value(attribute: Mapping[str, Any]) -> Any:
    """An attribute as a plain value; the file has numbers as text and text in base 64."""
    match attribute:
        case {"i": number}:
            return int(number)
        case {"f": number}:
            return float(number)
        case {"b": truth}:
            return bool(truth)
        case {"s": text}:
            return _text(text)
        case {"type": name}:
            return name
        case {"list": {"i": numbers}}:
            return [int(number) for number in numbers]
        case {"list": {"s": texts}}:
            return [_text(text) for text in texts]
        case {"list": _}:
            return []
        case _:
            return None


def _text(encoded: str) -> str:
    return base64.b64decode(encoded, validate=True).decode()


def _weights(folder: Path, group: Mapping[str, Any]) -> dict[str, Array]:
    """The arrays of one group, which are stored one after the other in its concatenated shards."""
    row = bytearray()
    for name in group["paths"]:
        if Path(name).name != name:
            raise ValueError(f"a shard called {name}")
        row += (folder / name).read_bytes()
    found: dict[str, Array] = {}
    start = 0
    for weight in group["weights"]:
        kind, stored = _types(weight)
        count = math.prod(weight["shape"])
        if start + count * np.dtype(stored).itemsize > len(row):
            raise ValueError(f"its shards end before {weight['name']} does")
        values = np.frombuffer(row, stored, count, start).reshape(weight["shape"])
        found[weight["name"]] = values.astype(kind, copy=False)
        start += count * np.dtype(stored).itemsize
    if start != len(row):
        raise ValueError(f"its shards hold {len(row)} bytes where {start} are declared")
    return found


def _types(weight: Mapping[str, Any]) -> tuple[type[np.generic], type[np.generic]]:
    """The type of a weight's numbers, and the type in which the shards hold them."""
    kind = TYPES.get(weight["dtype"])
    if kind is None:
        raise ValueError(f"{weight['name']} is of type {weight['dtype']}, which is not supported")
    if "quantization" not in weight:
        return kind, kind
    stored = weight["quantization"].get("dtype")
    if (kind, stored) != (np.float32, "float16"):
        raise ValueError(f"{weight['name']} is quantised as {stored}, which is not supported")
    return kind, np.float16


def _brief(error: Exception) -> str:
    missing = "it has no " if isinstance(error, KeyError) else ""
    return missing + " ".join(str(error).split())[:200]
