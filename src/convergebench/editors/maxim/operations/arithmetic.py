"""Numbers in, numbers of the same places out."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch.nn import functional

from convergebench.editors.maxim.graph import Node
from convergebench.editors.maxim.operations.base import Operation, Tensor, dtype_of, plain


def _cast(node: Node, tensor: Tensor) -> Tensor:
    return tensor.to(dtype_of(node, "DstT"))


def _leaky_relu(node: Node, tensor: Tensor) -> Tensor:
    return functional.leaky_relu(tensor, node.attributes.get("alpha", 0.2))


def _floor_division(left: Tensor, right: Tensor) -> Tensor:
    return torch.div(left, right, rounding_mode="floor")


OPERATIONS: Mapping[str, Operation] = {
    "Abs": plain(torch.abs),
    "Add": plain(torch.add),
    "AddV2": plain(torch.add),
    "BiasAdd": plain(torch.add),
    "Cast": Operation(_cast),
    "Equal": plain(torch.eq),
    "Erf": plain(torch.erf),
    "Exp": plain(torch.exp),
    "Floor": plain(torch.floor),
    "FloorDiv": plain(_floor_division),
    "FloorMod": plain(torch.remainder),
    "Greater": plain(torch.gt),
    "GreaterEqual": plain(torch.ge),
    "Identity": plain(lambda tensor: tensor),
    "LeakyRelu": Operation(_leaky_relu),
    "Less": plain(torch.lt),
    "LessEqual": plain(torch.le),
    "LogicalAnd": plain(torch.logical_and),
    "LogicalNot": plain(torch.logical_not),
    "LogicalOr": plain(torch.logical_or),
    "Maximum": plain(torch.maximum),
    "Minimum": plain(torch.minimum),
    "Mul": plain(torch.mul),
    "Neg": plain(torch.neg),
    "NotEqual": plain(torch.ne),
    "RealDiv": plain(torch.div),
    "Reciprocal": plain(torch.reciprocal),
    "Relu": plain(torch.relu),
    "Relu6": plain(functional.relu6),
    "Rsqrt": plain(torch.rsqrt),
    "SelectV2": plain(torch.where),
    "Sigmoid": plain(torch.sigmoid),
    "Sign": plain(torch.sign),
    "Softmax": plain(lambda tensor: torch.softmax(tensor, -1)),
    "Sqrt": plain(torch.sqrt),
    "Square": plain(torch.square),
    "SquaredDifference": plain(lambda left, right: torch.square(left - right)),
    "StopGradient": plain(lambda tensor: tensor),
    "Sub": plain(torch.sub),
    "Tanh": plain(torch.tanh),
}
