"""Sizes, order and parts of tensors, and what is summed up along an axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.nn import functional

from convergebench.editors.maxim.graph import Node
from convergebench.editors.maxim.operations.base import Operation, Tensor, plain, refuse


def _shape(node: Node, tensor: Tensor) -> Tensor:
    return torch.tensor(tensor.shape, dtype=torch.int64)


def _squeeze(node: Node, tensor: Tensor) -> Tensor:
    axes = node.attributes.get("squeeze_dims") or node.attributes.get("axis")
    return tensor.squeeze(tuple(axes)) if axes else tensor.squeeze()


def _pack(node: Node, *tensors: Tensor) -> Tensor:
    return torch.stack(tensors, node.attributes.get("axis", 0))


def _concat(node: Node, *inputs: Any) -> Tensor:
    return torch.cat(inputs[:-1], int(inputs[-1]))


def _range(node: Node, start: Tensor, stop: Tensor, step: Tensor) -> Tensor:
    return torch.arange(start.item(), stop.item(), step.item(), dtype=start.dtype)


def _gather(node: Node, tensor: Tensor, places: Tensor, axis: int) -> Tensor:
    if node.attributes.get("batch_dims"):
        raise refuse(node, "gathers by batch")
    axis %= tensor.ndim
    taken = tensor.index_select(axis, places.reshape(-1))
    return taken.reshape(*tensor.shape[:axis], *places.shape, *tensor.shape[axis + 1 :])


def _strided_slice(node: Node, tensor: Tensor, begin: list[int], end: list[int], strides: list[int]) -> Tensor:
    """Bit number i of each mask is about entry number i."""
    masks = {name: int(node.attributes.get(f"{name}_mask") or 0) for name in ("begin", "end", "shrink_axis")}
    if node.attributes.get("ellipsis_mask") or node.attributes.get("new_axis_mask"):
        raise refuse(node, "has an ellipsis or a new axis")
    axis = 0
    for number, (first, last, step) in enumerate(zip(begin, end, strides, strict=True)):
        if masks["shrink_axis"] >> number & 1:
            tensor = tensor.select(axis, first)
            continue
        wanted = slice(
            None if masks["begin"] >> number & 1 else first, None if masks["end"] >> number & 1 else last, step
        )
        start, stop, step = wanted.indices(tensor.shape[axis])
        count = len(range(start, stop, step))
        if step > 0:
            tensor = tensor.narrow(axis, start, max(0, stop - start)) if count else tensor.narrow(axis, 0, 0)
            tensor = tensor[(slice(None),) * axis + (slice(None, None, step),)] if step > 1 else tensor
        else:  # torch has no steps backwards
            tensor = tensor.index_select(axis, torch.arange(start, stop, step, device=tensor.device))
        axis += 1
    return tensor


def _reduction(function: Callable[..., Tensor]) -> Operation:
    def run(node: Node, tensor: Tensor, axes: list[int] | int) -> Tensor:
        listed = [axes] if isinstance(axes, int) else axes
        # no axis at all: nothing is summed up, where torch would sum up everything
        return function(tensor, listed, keepdim=bool(node.attributes.get("keep_dims"))) if listed else tensor

    return Operation(run, numbers=(1,))


def _pad(node: Node, tensor: Tensor, sizes: list[list[int]]) -> Tensor:
    return functional.pad(tensor, [size for pair in reversed(sizes) for size in pair])


OPERATIONS: Mapping[str, Operation] = {
    "BroadcastTo": Operation(lambda node, tensor, sizes: tensor.broadcast_to(sizes), numbers=(1,)),
    "ConcatV2": Operation(_concat, numbers=(-1,)),
    "ExpandDims": Operation(lambda node, tensor, axis: tensor.unsqueeze(_one(axis)), numbers=(1,)),
    "GatherV2": Operation(_gather, numbers=(2,)),
    "Max": _reduction(torch.amax),
    "Mean": _reduction(torch.mean),
    "Min": _reduction(torch.amin),
    "Pack": Operation(_pack),
    "Pad": Operation(_pad, numbers=(1,)),
    "Range": Operation(_range),
    "Reshape": Operation(lambda node, tensor, sizes: tensor.reshape(sizes), numbers=(1,)),
    "Shape": Operation(_shape),
    "Squeeze": Operation(_squeeze),
    "StridedSlice": Operation(_strided_slice, numbers=(1, 2, 3)),
    "Sum": _reduction(torch.sum),
    "Transpose": Operation(lambda node, tensor, order: tensor.permute(order), numbers=(1,)),
    "ZerosLike": plain(torch.zeros_like),
}


def _one(axis: list[int] | int) -> int:
    return axis if isinstance(axis, int) else axis[0]
