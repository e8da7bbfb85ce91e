"""What the operations have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch

from convergebench.editors.maxim.graph import Node
from convergebench.errors import StudyError

Tensor = torch.Tensor
Run = Callable[..., Tensor]

DTYPES: Mapping[str, torch.dtype] = {
    "DT_FLOAT": torch.float32,
    "DT_INT32": torch.int64,  # torch counts and indexes in 64 bits
    "DT_INT64": torch.int64,
    "DT_BOOL": torch.bool,
}


class Operation(NamedTuple):
    """How a kind of node is carried out: `run(node, *inputs)`."""

    run: Run
    numbers: tuple[int, ...] = ()
    """Which inputs are sizes, axes and the like: they are given as plain numbers, never as tensors."""


def plain(function: Callable[..., Tensor]) -> Operation:
    """An operation that has no attributes."""
    return Operation(lambda node, *inputs: function(*inputs))


def refuse(node: Node, why: str) -> StudyError:
    """For what an operation may be asked in TensorFlow and is not supported here."""
    return StudyError(f"the graph's node '{node.name}' ({node.op}) {why}, which is not supported")


def dtype_of(node: Node, name: str) -> torch.dtype:
    """The type that an attribute names."""
    given: Any = node.attributes.get(name)
    if given not in DTYPES:
        raise refuse(node, f"is of type {given}")
    return DTYPES[given]
