"""Writes TensorFlow.js graph models, node by node, as the converter would."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from convergebench.tfjs.graph import read_graph
from convergebench.tfjs.program import Program

Array = NDArray[Any]

# what a picture's nodes are called in every model here
PICTURE = "picture"


@dataclass
class TinyModel:
    """A graph in the making: every method answers with the name of its node."""

    nodes: list[dict[str, Any]] = field(default_factory=list)
    weights: list[tuple[str, Array]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.node("Placeholder", name=PICTURE)

    def node(self, op: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """A node, named by its number unless it is named."""
        name = name or f"{op}-{len(self.nodes)}"
        encoded = {key: _attribute(value) for key, value in attributes.items()}
        self.nodes.append({"name": name, "op": op, "input": list(inputs), "attr": encoded})
        return name

    def constant(self, value: Any, dtype: Any = None) -> str:
        """Floats as 32 bits, integers as 32 bits, truths as bytes."""
        array = np.asarray(value)
        kinds = {"f": np.float32, "i": np.int32, "b": np.bool_}
        name = self.node("Const", dtype="DT_FLOAT")
        self.weights.append((name, array.astype(dtype or kinds[array.dtype.kind])))
        return name

    def write(self, folder: Path, *outputs: str, shards: int = 2) -> Path:
        """`model.json` and its shards; the outputs are called out, out-1, out-2 and so on."""
        row = b"".join(array.tobytes() for _, array in self.weights)
        cut = -(-len(row) // shards) or 1
        paths = [f"group1-shard{number + 1}of{shards}.bin" for number in range(shards)]
        for number, path in enumerate(paths):
            (folder / path).write_bytes(row[number * cut : (number + 1) * cut])
        declared = [{"name": name, "shape": list(array.shape), **_stored(array)} for name, array in self.weights]
        signed = {f"out-{number}" if number else "out": {"name": one} for number, one in enumerate(outputs)}
        content = {
            "format": "graph-model",
            "signature": {"inputs": {"xs_0": {"name": f"{PICTURE}:0"}}, "outputs": signed},
            "modelTopology": {"node": self.nodes, "library": {}},
            "weightsManifest": [{"paths": paths, "weights": declared}],
        }
        (folder / "model.json").write_text(json.dumps(content), encoding="utf-8")
        return folder

    def run(self, folder: Path, output: str, picture: Array) -> Array:
        """Written, read again, carried out."""
        program = Program(read_graph(self.write(folder, output)))
        answer = program(torch.from_numpy(np.asarray(picture, np.float32)))
        return np.asarray(answer.numpy())


def _stored(array: Array) -> dict[str, Any]:
    """Halves are floats that were stored in 16 bits."""
    if array.dtype != np.float16:
        return {"dtype": str(array.dtype)}
    return {"dtype": "float32", "quantization": {"dtype": "float16", "original_dtype": "float32"}}


def _attribute(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"b": value}
        case int():
            return {"i": str(value)}
        case float():
            return {"f": value}
        case str() if value.startswith("DT_"):
            return {"type": value}
        case str():
            return {"s": _text(value)}
        case [str(), *_]:
            return {"list": {"s": [_text(one) for one in value]}}
        case [_, *_]:
            return {"list": {"i": [str(one) for one in value]}}
        case _:
            return {"list": {}}


def _text(value: str) -> str:
    return base64.b64encode(value.encode()).decode()
