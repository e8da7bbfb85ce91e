"""The operations of graphs in torch, with TensorFlow's semantics.

Only those of the graphs that are used here are supported: MAXIM's seven, and the detectors of `vision`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch.nn import functional

from convergebench.tfjs import layers
from convergebench.tfjs.graph import GraphNode
from convergebench.tfjs.layers import refusal

Tensor = torch.Tensor

DTYPES: Mapping[str, torch.dtype] = {
    "DT_FLOAT": torch.float32,
    "DT_INT32": torch.int64,  # torch counts and indexes in 64 bits
    "DT_INT64": torch.int64,
    "DT_BOOL": torch.bool,
}

_SLICE_MASKS = ("begin", "end", "shrink_axis")

# layers that no file has: `fusing` merges nodes into them
CONVOLUTION = "convergebench/Convolution"
GELU = "convergebench/Gelu"
LAYER_NORM = "convergebench/LayerNorm"
LINEAR = "convergebench/Linear"


class GraphOperation(NamedTuple):
    """How a kind of node is carried out: `run(node, *inputs)`."""

    run: Callable[..., Tensor | tuple[Tensor, ...]]
    numbers: tuple[int, ...] = ()
    """Which inputs (sizes, axes) are passed as plain numbers instead of tensors."""
    several: bool = False
    """Whether it has several outputs, given as a tuple."""


def _plain(function: Callable[..., Tensor]) -> GraphOperation:
    """An operation that has no attributes."""
    return GraphOperation(lambda node, *inputs: function(*inputs))


def _cast(node: GraphNode, tensor: Tensor) -> Tensor:
    given: Any = node.attributes.get("DstT")
    if given not in DTYPES:
        raise refusal(node, f"is of type {given}")
    return tensor.to(DTYPES[given])


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
        raise refusal(node, "gathers by batch")
    axis %= tensor.ndim
    taken = tensor.index_select(axis, places.reshape(-1))
    return taken.reshape(*tensor.shape[:axis], *places.shape, *tensor.shape[axis + 1 :])


def _strided_slice(node: GraphNode, tensor: Tensor, begin: list[int], end: list[int], strides: list[int]) -> Tensor:
    """Bit i of the begin and end masks leaves that end of axis i open; of the shrink mask, picks one and removes i."""
    open_start, open_stop, shrink = (int(node.attributes.get(f"{name}_mask") or 0) for name in _SLICE_MASKS)
    if any(node.attributes.get(f"{name}_mask") for name in ("ellipsis", "new_axis")):
        raise refusal(node, "has an ellipsis or a new axis")
    if set(strides) != {1}:
        raise refusal(node, "leaves places out")
    axis = 0
    for number, (first, last) in enumerate(zip(begin, end, strict=True)):
        if shrink >> number & 1:
            tensor = tensor.select(axis, first)
        else:
            ends = slice(None if open_start >> number & 1 else first, None if open_stop >> number & 1 else last)
            start, stop, _ = ends.indices(tensor.shape[axis])
            tensor = tensor.narrow(axis, start, max(0, stop - start))
            axis += 1
    return tensor


def _padded(node: GraphNode, tensor: Tensor, widths: list[list[int]]) -> Tensor:
    """With zeros beyond the sides; torch lists the last axis first."""
    return functional.pad(tensor, [one for pair in reversed(widths) for one in pair])


def _largest(node: GraphNode, tensor: Tensor, count: int) -> tuple[Tensor, ...]:
    """The largest numbers of the last axis, the largest first, and their places."""
    values, places = torch.topk(tensor, count, -1)
    return values, places


def _along(reduce: Callable[..., Tensor]) -> GraphOperation:
    """A sum or a mean along axes."""

    def run(node: GraphNode, tensor: Tensor, axes: list[int] | int) -> Tensor:
        listed = [axes] if isinstance(axes, int) else axes
        # without axes nothing is summed, while torch would sum everything
        return reduce(tensor, listed, keepdim=bool(node.attributes.get("keep_dims"))) if listed else tensor

    return GraphOperation(run, numbers=(1,))


def _convolution(in_torch_order: Callable[[Tensor], Tensor]) -> GraphOperation:
    def run(node: GraphNode, tensor: Tensor, kernel: Tensor, *rest: Tensor) -> Tensor:
        return layers.convolution(node, tensor, in_torch_order(kernel), *rest)

    return GraphOperation(run)


OPERATIONS: Mapping[str, GraphOperation] = {
    "Abs": _plain(torch.abs),
    "Add": _plain(torch.add),
    "AddN": _plain(lambda first, *rest: sum(rest, first)),
    "AddV2": _plain(torch.add),
    "AvgPool": GraphOperation(layers.mean_pool),
    "BroadcastTo": GraphOperation(lambda node, tensor, sizes: tensor.broadcast_to(sizes), numbers=(1,)),
    "Cast": GraphOperation(_cast),
    "ConcatV2": GraphOperation(lambda node, *inputs: torch.cat(inputs[:-1], int(inputs[-1])), numbers=(-1,)),
    "Conv2D": _convolution(layers.kernel_of_convolution),
    "Conv2DBackpropInput": GraphOperation(layers.transposed_convolution, numbers=(0,)),
    "DepthwiseConv2dNative": _convolution(layers.kernel_by_channel),
    "Einsum": GraphOperation(lambda node, *tensors: torch.einsum(node.attributes["equation"], *tensors)),
    "Equal": _plain(torch.eq),
    "Exp": _plain(torch.exp),
    "ExpandDims": GraphOperation(lambda node, tensor, axis: tensor.unsqueeze(axis), numbers=(1,)),
    "Floor": _plain(torch.floor),
    "FloorDiv": _plain(lambda left, right: torch.div(left, right, rounding_mode="floor")),
    "FloorMod": _plain(torch.remainder),
    "FusedDepthwiseConv2dNative": _convolution(layers.kernel_by_channel),
    "GatherV2": GraphOperation(_gather, numbers=(2,)),
    "Greater": _plain(torch.gt),
    "GreaterEqual": _plain(torch.ge),
    "Identity": _plain(lambda tensor: tensor),
    "Less": _plain(torch.lt),
    "LessEqual": _plain(torch.le),
    "LogicalAnd": _plain(torch.logical_and),
    "MaxPool": GraphOperation(layers.max_pool),
    "Maximum": _plain(torch.maximum),
    "Mean": _along(torch.mean),
    "Minimum": _plain(torch.minimum),
    "Mul": _plain(torch.mul),
    "Neg": _plain(torch.neg),
    "NotEqual": _plain(torch.ne),
    "Pack": GraphOperation(lambda node, *tensors: torch.stack(tensors, node.attributes.get("axis", 0))),
    "Pad": GraphOperation(_padded, numbers=(1,)),
    "Prelu": _plain(layers.prelu),
    "Range": GraphOperation(_range),
    "RealDiv": _plain(torch.div),
    "Reciprocal": _plain(torch.reciprocal),
    "Relu": _plain(functional.relu),
    "Relu6": _plain(functional.relu6),
    "Reshape": GraphOperation(lambda node, tensor, sizes: tensor.reshape(sizes), numbers=(1,)),
    "ResizeBilinear": GraphOperation(layers.resize_bilinear, numbers=(1,)),
    "Rsqrt": _plain(torch.rsqrt),
    "SelectV2": _plain(torch.where),
    "Shape": _plain(lambda tensor: torch.tensor(tensor.shape, dtype=torch.int64)),
    "Sigmoid": _plain(torch.sigmoid),
    "Sign": _plain(torch.sign),
    "Square": _plain(torch.square),
    "Squeeze": GraphOperation(_squeeze),
    "StridedSlice": GraphOperation(_strided_slice, numbers=(1, 2, 3)),
    "Sub": _plain(torch.sub),
    "Sum": _along(torch.sum),
    "Tanh": _plain(torch.tanh),
    "TopKV2": GraphOperation(_largest, numbers=(1,), several=True),
    "Transpose": GraphOperation(lambda node, tensor, order: tensor.permute(order), numbers=(1,)),
    "_FusedConv2D": _convolution(layers.kernel_of_convolution),
    # their weights are already in torch's order
    CONVOLUTION: GraphOperation(layers.convolution),
    GELU: GraphOperation(lambda node, tensor: functional.gelu(tensor, approximate="tanh")),
    LAYER_NORM: GraphOperation(_layer_norm),
    LINEAR: GraphOperation(lambda node, tensor, matrix, bias=None: functional.linear(tensor, matrix, bias)),
}
