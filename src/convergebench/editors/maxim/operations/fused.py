"""Operations that no file has: `fusing` puts them where several nodes do together what torch does at once.

Their weights are already in torch's order.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch.nn import functional

from convergebench.editors.maxim.graph import Node
from convergebench.editors.maxim.operations.base import Operation, Tensor
from convergebench.editors.maxim.operations.layers import convolve

CONVOLUTION = "convergebench/Convolution"
GELU = "convergebench/Gelu"
LAYER_NORM = "convergebench/LayerNorm"
LINEAR = "convergebench/Linear"


def _convolution(node: Node, tensor: Tensor, kernel: Tensor, bias: Tensor | None = None) -> Tensor:
    return convolve(node, tensor, kernel, bias, tensor.shape[3] // kernel.shape[1])


def _layer_norm(node: Node, tensor: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    return functional.layer_norm(tensor, scale.shape, scale, bias, node.attributes["epsilon"])


OPERATIONS: Mapping[str, Operation] = {
    CONVOLUTION: Operation(_convolution),
    GELU: Operation(lambda node, tensor: functional.gelu(tensor, approximate="tanh")),
    LAYER_NORM: Operation(_layer_norm),
    LINEAR: Operation(lambda node, tensor, matrix, bias=None: functional.linear(tensor, matrix, bias)),
}
