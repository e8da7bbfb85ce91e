"""Convolutions and products of matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch.nn import functional

from convergebench.editors.maxim.graph import Node
from convergebench.editors.maxim.operations.base import Operation, Tensor, refuse

Activation = Callable[[Tensor], Tensor]
ACTIVATIONS: Mapping[str, Activation] = {
    "Relu": torch.relu,
    "Relu6": functional.relu6,
    "Elu": functional.elu,
    "Sigmoid": torch.sigmoid,
    "Tanh": torch.tanh,
}


def same_padding(size: int, kernel: int, stride: int, dilation: int = 1) -> tuple[int, int]:
    """TensorFlow's `SAME`: as many outputs as strides fit, and what is odd goes to the end."""
    outputs = -(-size // stride)
    total = max((outputs - 1) * stride + (kernel - 1) * dilation + 1 - size, 0)
    return total // 2, total - total // 2


def pads(node: Node, sizes: Sequence[int], kernel: Sequence[int]) -> tuple[tuple[int, int], tuple[int, int]]:
    """(top, bottom), (left, right) of a convolution over an image of these sizes."""
    padding = node.attributes.get("padding")
    if padding == "VALID":
        return (0, 0), (0, 0)
    if padding == "EXPLICIT":
        given = node.attributes["explicit_paddings"]
        return (given[2], given[3]), (given[4], given[5])
    strides, dilations = spacing(node)
    rows, columns = (same_padding(*one) for one in zip(sizes, kernel, strides, dilations, strict=True))
    return rows, columns


def spacing(node: Node) -> tuple[tuple[int, int], tuple[int, int]]:
    """Strides and dilations, down and across."""
    if node.attributes.get("data_format", "NHWC") != "NHWC":
        raise refuse(node, f"has its numbers in the order {node.attributes['data_format']}")
    strides = node.attributes["strides"]
    dilations = node.attributes.get("dilations") or [1, 1, 1, 1]
    return (strides[1], strides[2]), (dilations[1], dilations[2])


def convolve(node: Node, tensor: Tensor, kernel: Tensor, bias: Tensor | None, groups: int) -> Tensor:
    """With a kernel in torch's order (out, in, height, width); the image stays in TensorFlow's."""
    strides, dilations = spacing(node)
    (top, bottom), (left, right) = pads(node, tensor.shape[1:3], kernel.shape[2:])
    image = tensor.permute(0, 3, 1, 2)
    padding = (top, left)
    if (top, left) != (bottom, right):
        image, padding = functional.pad(image, (left, right, top, bottom)), (0, 0)
    return functional.conv2d(image, kernel, bias, strides, padding, dilations, groups).permute(0, 2, 3, 1)


def _conv2d(node: Node, tensor: Tensor, kernel: Tensor, *more: Tensor) -> Tensor:
    groups = tensor.shape[3] // kernel.shape[2]
    return _finish(node, convolve(node, tensor, kernel.permute(3, 2, 0, 1), None, groups), more)


def _depthwise(node: Node, tensor: Tensor, kernel: Tensor, *more: Tensor) -> Tensor:
    height, width, channels, times = kernel.shape
    turned = kernel.permute(2, 3, 0, 1).reshape(channels * times, 1, height, width)
    return _finish(node, convolve(node, tensor, turned, None, channels), more)


def _finish(node: Node, tensor: Tensor, more: Sequence[Tensor]) -> Tensor:
    """What a fused node does after its product: add a bias, then perhaps bend."""
    for op in node.attributes.get("fused_ops") or ():
        if op == "BiasAdd":
            tensor = tensor + more[0]
        elif op == "Prelu":
            tensor = torch.where(tensor > 0, tensor, tensor * more[1])
        elif op == "LeakyRelu":
            tensor = functional.leaky_relu(tensor, node.attributes.get("leakyrelu_alpha", 0.2))
        elif op in ACTIVATIONS:
            tensor = ACTIVATIONS[op](tensor)
        else:
            raise refuse(node, f"ends in {op}")
    return tensor


def _transposed(node: Node, sizes: list[int], kernel: Tensor, tensor: Tensor) -> Tensor:
    """The way back through a convolution: the full result, then what its padding had added is cut off."""
    strides, dilations = spacing(node)
    (top, _), (left, _) = pads(node, sizes[1:3], kernel.shape[:2])
    full = functional.conv_transpose2d(
        tensor.permute(0, 3, 1, 2), kernel.permute(3, 2, 0, 1), stride=strides, dilation=dilations
    )
    missing = [0, max(0, left + sizes[2] - full.shape[3]), 0, max(0, top + sizes[1] - full.shape[2])]
    if any(missing):  # pixels that no stride reached
        full = functional.pad(full, missing)
    return full[:, :, top : top + sizes[1], left : left + sizes[2]].permute(0, 2, 3, 1)


def _matmul(node: Node, left: Tensor, right: Tensor, *more: Tensor) -> Tensor:
    first = node.attributes.get("transpose_a") or node.attributes.get("adj_x")
    second = node.attributes.get("transpose_b") or node.attributes.get("adj_y")
    product = torch.matmul(left.mT if first else left, right.mT if second else right)
    return _finish(node, product, more)


def _einsum(node: Node, *tensors: Tensor) -> Tensor:
    return torch.einsum(node.attributes["equation"], *tensors)


OPERATIONS: Mapping[str, Operation] = {
    "BatchMatMulV2": Operation(_matmul),
    "Conv2D": Operation(_conv2d),
    "Conv2DBackpropInput": Operation(_transposed, numbers=(0,)),
    "DepthwiseConv2dNative": Operation(_depthwise),
    "Einsum": Operation(_einsum),
    "FusedDepthwiseConv2dNative": Operation(_depthwise),
    "MatMul": Operation(_matmul),
    "_FusedConv2D": Operation(_conv2d),
    "_FusedMatMul": Operation(_matmul),
}
