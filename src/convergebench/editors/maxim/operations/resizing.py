"""Images made larger or smaller, by TensorFlow's three ideas of where a pixel lies, and by rearranging channels."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from convergebench.editors.maxim.graph import Node
from convergebench.editors.maxim.operations.base import Operation, Tensor


def _scale(node: Node, old: int, new: int) -> float:
    corners = bool(node.attributes.get("align_corners")) and new > 1
    return (old - 1) / (new - 1) if corners else old / new


def _nearest_along(node: Node, tensor: Tensor, axis: int, new: int) -> Tensor:
    old = tensor.shape[axis]
    half = 0.5 if node.attributes.get("half_pixel_centers") else 0.0
    places = (torch.arange(new, device=tensor.device, dtype=torch.float32) + half) * _scale(node, old, new)
    # to the nearest corner, and of two equally near ones to the later
    places = torch.floor(places + 0.5) if node.attributes.get("align_corners") else torch.floor(places)
    return tensor.index_select(axis, places.long().clamp(0, old - 1))


def _linear_along(node: Node, tensor: Tensor, axis: int, new: int) -> Tensor:
    old = tensor.shape[axis]
    half = 0.5 if node.attributes.get("half_pixel_centers") else 0.0
    places = (torch.arange(new, device=tensor.device, dtype=torch.float32) + half) * _scale(node, old, new) - half
    lower = torch.floor(places)
    share = (places - lower).reshape([-1 if one == axis else 1 for one in range(tensor.ndim)])
    first = tensor.index_select(axis, lower.long().clamp(0, old - 1))
    second = tensor.index_select(axis, (lower.long() + 1).clamp(0, old - 1))
    return first + (second - first) * share


def _nearest(node: Node, tensor: Tensor, sizes: list[int]) -> Tensor:
    return _nearest_along(node, _nearest_along(node, tensor, 1, sizes[0]), 2, sizes[1])


def _bilinear(node: Node, tensor: Tensor, sizes: list[int]) -> Tensor:
    return _linear_along(node, _linear_along(node, tensor.float(), 1, sizes[0]), 2, sizes[1])


def _depth_to_space(node: Node, tensor: Tensor) -> Tensor:
    block = node.attributes["block_size"]
    number, height, width, channels = tensor.shape
    blocks = tensor.reshape(number, height, width, block, block, channels // block**2).permute(0, 1, 3, 2, 4, 5)
    return blocks.reshape(number, height * block, width * block, channels // block**2)


OPERATIONS: Mapping[str, Operation] = {
    "DepthToSpace": Operation(_depth_to_space),
    "ResizeBilinear": Operation(_bilinear, numbers=(1,)),
    "ResizeNearestNeighbor": Operation(_nearest, numbers=(1,)),
}
