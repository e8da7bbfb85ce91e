"""The operations of MAXIM's graphs in torch, with TensorFlow's semantics.

Only those of the seven published graphs are supported. Image tensors have TensorFlow's layout: number, height, width,
channels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch.nn import functional

from convergebench.editors.maxim.graph import GraphNode
from convergebench.errors import StudyError

Tensor = torch.Tensor

DTYPES: Mapping[str, torch.dtype] = {
    "DT_FLOAT": torch.float32,
    "DT_INT32": torch.int64,  # torch counts and indexes in 64 bits
    "DT_INT64": torch.int64,
    "DT_BOOL": torch.bool,
}

# layers that no file has: `fusing` merges nodes into them
CONVOLUTION = "convergebench/Convolution"
GELU = "convergebench/Gelu"
LAYER_NORM = "convergebench/LayerNorm"
LINEAR = "convergebench/Linear"


class GraphOperation(NamedTuple):
    """How a kind of node is carried out: `run(node, *inputs)`."""

    run: Callable[..., Tensor]
    numbers: tuple[int, ...] = ()
    """Which inputs (sizes, axes) are passed as plain numbers instead of tensors."""


def _plain(function: Callable[..., Tensor]) -> GraphOperation:
    """An operation that has no attributes."""
    return GraphOperation(lambda node, *inputs: function(*inputs))


def _refusal(node: GraphNode, why: str) -> StudyError:
    """The error for a use of an operation that is not supported here."""
    return StudyError(f"the graph's node '{node.name}' ({node.op}) {why}, which is not supported")


def _cast(node: GraphNode, tensor: Tensor) -> Tensor:
    given: Any = node.attributes.get("DstT")
    if given not in DTYPES:
        raise _refusal(node, f"is of type {given}")
    return tensor.to(DTYPES[given])


# --- convolutions -----------------------------------------------------------------------------------------


def _same_padding(size: int, kernel: int, stride: int) -> tuple[int, int]:
    """TensorFlow's `SAME` padding: one output per stride; an odd pixel goes to the end."""
    outputs = -(-size // stride)
    total = max((outputs - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


def _strides(node: GraphNode) -> tuple[int, int]:
    """Down and across."""
    if node.attributes.get("data_format", "NHWC") != "NHWC":
        raise _refusal(node, f"has its numbers in the order {node.attributes['data_format']}")
    if set(node.attributes.get("dilations") or [1]) != {1}:
        raise _refusal(node, "is dilated")
    return node.attributes["strides"][1], node.attributes["strides"][2]


def _padding(node: GraphNode, sizes: Sequence[int], kernel: Sequence[int]) -> tuple[int, int, int, int]:
    """Left, right, top, bottom of a convolution over an image of these sizes."""
    padding = node.attributes.get("padding")
    if padding not in ("SAME", "VALID"):
        raise _refusal(node, f"has the padding {padding}")
    if padding == "VALID":
        return 0, 0, 0, 0
    rows, columns = (_same_padding(*one) for one in zip(sizes, kernel, _strides(node), strict=True))
    return *columns, *rows


def _convolution(node: GraphNode, tensor: Tensor, kernel: Tensor, bias: Tensor | None = None) -> Tensor:
    """With a kernel in torch's order (out, in, height, width); the image stays in TensorFlow's."""
    strides = _strides(node)
    left, right, top, bottom = _padding(node, tensor.shape[1:3], kernel.shape[2:])
    image, padding = tensor.permute(0, 3, 1, 2), (top, left)
    if (top, left) != (bottom, right):
        image, padding = functional.pad(image, (left, right, top, bottom)), (0, 0)
    groups = tensor.shape[3] // kernel.shape[1]
    return functional.conv2d(image, kernel, bias, strides, padding, 1, groups).permute(0, 2, 3, 1)


def _transposed(node: GraphNode, sizes: list[int], kernel: Tensor, tensor: Tensor) -> Tensor:
    """A transposed convolution without padding; pixels that no stride reaches are zero."""
    if any(_padding(node, sizes[1:3], kernel.shape[:2])):
        raise _refusal(node, "leads back through a padding")
    full = functional.conv_transpose2d(tensor.permute(0, 3, 1, 2), kernel.permute(3, 2, 0, 1), stride=_strides(node))
    missing = (0, max(0, sizes[2] - full.shape[3]), 0, max(0, sizes[1] - full.shape[2]))
    full = functional.pad(full, missing) if any(missing) else full
    return full[:, :, : sizes[1], : sizes[2]].permute(0, 2, 3, 1)


def _layer_norm(node: GraphNode, tensor: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    return functional.layer_norm(tensor, scale.shape, scale, bias, node.attributes["epsilon"])


# --- sizes, order and parts of tensors ----------------------------------------------------------------------


def _squeeze(node: GraphNode, tensor: Tensor) -> Tensor:
    axes = node.attributes.get("squeeze_dims")
    return tensor.squeeze(tuple(axes)) if axes else tensor.squeeze()


def _range(node: GraphNode, start: Tensor, stop: Tensor, step: Tensor) -> Tensor:
    return torch.arange(start.item(), stop.item(), step.item(), dtype=start.dtype)


def _gather(node: GraphNode, tensor: Tensor, places: Tensor, axis: int) -> Tensor:
    if node.attributes.get("batch_dims"):
        raise _refusal(node, "gathers by batch")
    axis %= tensor.ndim
    taken = tensor.index_select(axis, places.reshape(-1))
    return taken.reshape(*tensor.shape[:axis], *places.shape, *tensor.shape[axis + 1 :])


def _strided_slice(node: GraphNode, tensor: Tensor, begin: list[int], end: list[int], strides: list[int]) -> Tensor:
    """If bit i of the shrink mask is set, axis i is indexed at one position and removed."""
    shrink = int(node.attributes.get("shrink_axis_mask") or 0)
    if any(node.attributes.get(f"{name}_mask") for name in ("begin", "end", "ellipsis", "new_axis")):
        raise _refusal(node, "leaves an end open, or has an ellipsis or a new axis")
    if set(strides) != {1}:
        raise _refusal(node, "leaves places out")
    axis = 0
    for number, (first, last) in enumerate(zip(begin, end, strict=True)):
        if shrink >> number & 1:
            tensor = tensor.select(axis, first)
        else:
            start, stop, _ = slice(first, last).indices(tensor.shape[axis])
            tensor = tensor.narrow(axis, start, max(0, stop - start))
            axis += 1
    return tensor


def _sum(node: GraphNode, tensor: Tensor, axes: list[int] | int) -> Tensor:
    listed = [axes] if isinstance(axes, int) else axes
    # without axes nothing is summed, while torch would sum everything
    return torch.sum(tensor, listed, keepdim=bool(node.attributes.get("keep_dims"))) if listed else tensor


OPERATIONS: Mapping[str, GraphOperation] = {
    "Abs": _plain(torch.abs),
    "AddV2": _plain(torch.add),
    "BroadcastTo": GraphOperation(lambda node, tensor, sizes: tensor.broadcast_to(sizes), numbers=(1,)),
    "Cast": GraphOperation(_cast),
    "ConcatV2": GraphOperation(lambda node, *inputs: torch.cat(inputs[:-1], int(inputs[-1])), numbers=(-1,)),
    "Conv2D": GraphOperation(lambda node, tensor, kernel: _convolution(node, tensor, kernel.permute(3, 2, 0, 1))),
    "Conv2DBackpropInput": GraphOperation(_transposed, numbers=(0,)),
    "Einsum": GraphOperation(lambda node, *tensors: torch.einsum(node.attributes["equation"], *tensors)),
    "Exp": _plain(torch.exp),
    "ExpandDims": GraphOperation(lambda node, tensor, axis: tensor.unsqueeze(axis), numbers=(1,)),
    "Floor": _plain(torch.floor),
    "FloorDiv": _plain(lambda left, right: torch.div(left, right, rounding_mode="floor")),
    "FloorMod": _plain(torch.remainder),
    "GatherV2": GraphOperation(_gather, numbers=(2,)),
    "Greater": _plain(torch.gt),
    "GreaterEqual": _plain(torch.ge),
    "Identity": _plain(lambda tensor: tensor),
    "Less": _plain(torch.lt),
    "LessEqual": _plain(torch.le),
    "LogicalAnd": _plain(torch.logical_and),
    "Maximum": _plain(torch.maximum),
    "Minimum": _plain(torch.minimum),
    "Mul": _plain(torch.mul),
    "Neg": _plain(torch.neg),
    "NotEqual": _plain(torch.ne),
    "Pack": GraphOperation(lambda node, *tensors: torch.stack(tensors, node.attributes.get("axis", 0))),
    "Range": GraphOperation(_range),
    "RealDiv": _plain(torch.div),
    "Reciprocal": _plain(torch.reciprocal),
    "Reshape": GraphOperation(lambda node, tensor, sizes: tensor.reshape(sizes), numbers=(1,)),
    "Rsqrt": _plain(torch.rsqrt),
    "SelectV2": _plain(torch.where),
    "Shape": _plain(lambda tensor: torch.tensor(tensor.shape, dtype=torch.int64)),
    "Sign": _plain(torch.sign),
    "Square": _plain(torch.square),
    "Squeeze": GraphOperation(_squeeze),
    "StridedSlice": GraphOperation(_strided_slice, numbers=(1, 2, 3)),
    "Sub": _plain(torch.sub),
    "Sum": GraphOperation(_sum, numbers=(1,)),
    "Tanh": _plain(torch.tanh),
    "Transpose": GraphOperation(lambda node, tensor, order: tensor.permute(order), numbers=(1,)),
    # their weights are already in torch's order
    CONVOLUTION: GraphOperation(_convolution),
    GELU: GraphOperation(lambda node, tensor: functional.gelu(tensor, approximate="tanh")),
    LAYER_NORM: GraphOperation(_layer_norm),
    LINEAR: GraphOperation(lambda node, tensor, matrix, bias=None: functional.linear(tensor, matrix, bias)),
}
