"""Convolutions, pooling, resizing and activations in torch, with TensorFlow's semantics.

Image tensors have TensorFlow's layout: number, height, width, channels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch.nn import functional

from convergebench.errors import StudyError
from convergebench.tfjs.graph import GraphNode

Tensor = torch.Tensor


def refusal(node: GraphNode, why: str) -> StudyError:
    """The error for a use of an operation that is not supported here."""
    return StudyError(f"the graph's node '{node.name}' ({node.op}) {why}, which is not supported")


# --- convolutions -----------------------------------------------------------------------------------------


def convolution(
    node: GraphNode, tensor: Tensor, kernel: Tensor, bias: Tensor | None = None, slope: Tensor | None = None
) -> Tensor:
    """With a kernel in torch's order (out, in, height, width), and the activation that is merged into the node."""
    strides = _strides(node)
    left, right, top, bottom = _padding(node, tensor.shape[1:3], kernel.shape[2:])
    image, padding = tensor.permute(0, 3, 1, 2), (top, left)
    if (top, left) != (bottom, right):
        image, padding = functional.pad(image, (left, right, top, bottom)), (0, 0)
    groups = tensor.shape[3] // kernel.shape[1]
    found = functional.conv2d(image, kernel, bias, strides, padding, 1, groups).permute(0, 2, 3, 1)
    return _activated(node, found, slope)


def kernel_of_convolution(kernel: Tensor) -> Tensor:
    """TensorFlow's height, width, in, out in torch's order."""
    return kernel.permute(3, 2, 0, 1)


def kernel_by_channel(kernel: Tensor) -> Tensor:
    """TensorFlow's height, width, channel, multiple in torch's order, with one group per channel."""
    return kernel.permute(2, 3, 0, 1).reshape(-1, 1, *kernel.shape[:2])


def transposed_convolution(node: GraphNode, sizes: list[int], kernel: Tensor, tensor: Tensor) -> Tensor:
    """A transposed convolution without padding; pixels that no stride reaches are zero."""
    if any(_padding(node, sizes[1:3], kernel.shape[:2])):
        raise refusal(node, "leads back through a padding")
    full = functional.conv_transpose2d(tensor.permute(0, 3, 1, 2), kernel.permute(3, 2, 0, 1), stride=_strides(node))
    missing = (0, max(0, sizes[2] - full.shape[3]), 0, max(0, sizes[1] - full.shape[2]))
    full = functional.pad(full, missing) if any(missing) else full
    return full[:, :, : sizes[1], : sizes[2]].permute(0, 2, 3, 1)


def _same_padding(size: int, kernel: int, stride: int) -> tuple[int, int]:
    """TensorFlow's `SAME` padding: one output per stride; an odd pixel goes to the end."""
    outputs = -(-size // stride)
    total = max((outputs - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


def _strides(node: GraphNode) -> tuple[int, int]:
    """Down and across."""
    if node.attributes.get("data_format", "NHWC") != "NHWC":
        raise refusal(node, f"has the data format {node.attributes['data_format']}")
    if set(node.attributes.get("dilations") or [1]) != {1}:
        raise refusal(node, "is dilated")
    return node.attributes["strides"][1], node.attributes["strides"][2]


def _padding(node: GraphNode, sizes: Sequence[int], kernel: Sequence[int]) -> tuple[int, int, int, int]:
    """Left, right, top, bottom of a convolution over an image of these sizes."""
    padding = node.attributes.get("padding")
    if padding not in ("SAME", "VALID"):
        raise refusal(node, f"has the padding {padding}")
    if padding == "VALID":
        return 0, 0, 0, 0
    rows, columns = (_same_padding(*one) for one in zip(sizes, kernel, _strides(node), strict=True))
    return *columns, *rows


# --- activations ------------------------------------------------------------------------------------------


def prelu(tensor: Tensor, slope: Tensor) -> Tensor:
    """Negative numbers times a slope, which may differ from channel to channel."""
    return torch.clamp(tensor, min=0) + slope * torch.clamp(tensor, max=0)


_MERGED: Mapping[str, Callable[[Tensor], Tensor]] = {"Relu": functional.relu, "Relu6": functional.relu6}


def _activated(node: GraphNode, tensor: Tensor, slope: Tensor | None) -> Tensor:
    """After what a converter has merged into the node: a bias, which is already added, and an activation."""
    for name in node.attributes.get("fused_ops", ()):
        if name in _MERGED:
            tensor = _MERGED[name](tensor)
        elif name == "Prelu" and slope is not None:
            tensor = prelu(tensor, slope)
        elif name != "BiasAdd":
            raise refusal(node, f"ends in {name}")
    return tensor


# --- pooling and resizing ---------------------------------------------------------------------------------


def max_pool(node: GraphNode, tensor: Tensor) -> Tensor:
    """The largest number of each window; pixels beyond the sides do not count."""
    kernel = node.attributes["ksize"][1:3]
    image = functional.pad(tensor.permute(0, 3, 1, 2), _padding(node, tensor.shape[1:3], kernel), value=float("-inf"))
    return functional.max_pool2d(image, kernel, _strides(node)).permute(0, 2, 3, 1)


def mean_pool(node: GraphNode, tensor: Tensor) -> Tensor:
    """The mean of each window; pixels beyond the sides do not count."""
    kernel, strides = node.attributes["ksize"][1:3], _strides(node)
    padding = _padding(node, tensor.shape[1:3], kernel)
    image = tensor.permute(0, 3, 1, 2)
    means = functional.avg_pool2d(functional.pad(image, padding), kernel, strides)
    if any(padding):
        inside = functional.pad(torch.ones_like(image[:1, :1]), padding)
        means = means / functional.avg_pool2d(inside, kernel, strides)
    return means.permute(0, 2, 3, 1)


def resize_bilinear(node: GraphNode, tensor: Tensor, sizes: list[int]) -> Tensor:
    """Each pixel between its two neighbours, first down, then across; nothing is smoothed when it shrinks."""
    if node.attributes.get("align_corners"):
        raise refusal(node, "meets the corners")
    centred = bool(node.attributes.get("half_pixel_centers"))
    for axis, size in zip((1, 2), sizes, strict=True):
        tensor = _resized(tensor, axis, size, centred)
    return tensor


def _resized(tensor: Tensor, axis: int, size: int, centred: bool) -> Tensor:
    length = tensor.shape[axis]
    offset = 0.5 if centred else 0.0
    places = (torch.arange(size, dtype=torch.float32) + offset) * (length / size) - offset
    before = torch.floor(places)
    share = (places - before).to(tensor.device).reshape([-1 if one == axis else 1 for one in range(tensor.ndim)])
    low, high = (one.long().clamp(0, length - 1).to(tensor.device) for one in (before, before + 1))
    first = tensor.index_select(axis, low)
    return first + (tensor.index_select(axis, high) - first) * share
