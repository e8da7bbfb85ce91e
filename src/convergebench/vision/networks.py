"""The networks by name, each loaded once per process, and the pictures that they take."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from convergebench.errors import Prerequisite, StudyError
from convergebench.vision.onnx_size import with_input_size
from convergebench.weights.store import locate

if TYPE_CHECKING:
    from convergebench.tfjs.program import Program

GRAPHS = "human-models"
"""The weights with the TensorFlow.js graphs."""

Picture = NDArray[np.uint8]
"""Height × width × 3, RGB."""
Mask = NDArray[np.bool_]
"""Height × width."""

_loaded: dict[tuple[Path, str, int], Any] = {}
_lock = Lock()


def graph(name: str) -> Program:
    """The graph of that name (`centernet`, `selfie`, `blazeface`, `facemesh`)."""
    folder = locate(GRAPHS)
    with _lock:
        key = folder, name, 0
        if key not in _loaded:
            _require("torch")
            from convergebench.tfjs.graph import read_graph
            from convergebench.tfjs.program import Program

            _loaded[key] = Program(read_graph(folder, f"{name}.json"))
        program: Program = _loaded[key]
        return program


def session(weight: str, side: int = 0) -> Any:
    """An onnxruntime session of one thread; with a side, for square pictures of that side."""
    path = locate(weight)
    with _lock:
        key = path, weight, side
        if key not in _loaded:
            onnxruntime = _require("onnxruntime")
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.log_severity_level = 3
            model = path.read_bytes()
            model = with_input_size(model, side) if side else model
            _loaded[key] = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        return _loaded[key]


def run_graph(name: str, values: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
    """The outputs of a graph for one input, by name."""
    program = graph(name)
    import torch

    outputs = program.run(torch.from_numpy(np.ascontiguousarray(values)))
    return {key: one.numpy() for key, one in outputs.items()}


def check_picture(image: Picture) -> None:
    """A StudyError unless it is a colour picture of bytes with at least one pixel."""
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or not image.size:
        sizes = " × ".join(map(str, image.shape))
        raise StudyError(f"a picture is a uint8 array of height × width × 3, not {image.dtype} of {sizes}")


def _require(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise Prerequisite(f'analysing images needs {module}: pip install "convergebench[vision]"') from None
