"""Merges nodes that together form a torch layer into one node.

An exported graph consists of single additions and products, each a pass over the whole picture. A merged node gives
the same numbers up to the last digits. Nodes that do not match a pattern exactly stay as they are, so a graph without
any match only runs slower.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

import numpy as np

from convergebench.tfjs.graph import Array, Graph, GraphNode, NodeOutput
from convergebench.tfjs.operations import CONVOLUTION, GELU, LAYER_NORM, LINEAR

DENSE = "abcg,gf->abcf"
"""The product of every pixel with a matrix, as the exporter writes it."""
PLAIN_PRODUCTS = ("Conv2D", "DepthwiseConv2dNative", "Einsum")
PRODUCTS = (*PLAIN_PRODUCTS, "_FusedConv2D", "FusedDepthwiseConv2dNative")


def fuse(graph: Graph) -> Graph:
    """The same graph with fewer nodes."""
    return _Fusing(graph).run()


class _Fusing:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._nodes = dict(graph.nodes)
        self._constants = dict(graph.constants)
        self._users: Mapping[str, int] = Counter(one.name for node in graph.nodes.values() for one in node.inputs)

    def run(self) -> Graph:
        for name, node in self._graph.nodes.items():
            if node.op == "Mul":
                self._gelu(name, node)
            elif node.op == "AddV2":
                self._layer_norm(name, node)
                self._with_bias(name, node)
        for name, node in list(self._nodes.items()):
            if node.op in PRODUCTS:
                self._put(name, self._packed(node, None))
        return Graph(self._nodes, self._constants, self._graph.input, self._graph.outputs)

    def _put(self, name: str, node: GraphNode | None) -> None:
        if node is not None:
            self._nodes[name] = GraphNode(name, node.op, node.inputs, node.attributes)

    # --- looking up nodes --------------------------------------------------------------------------------

    def _node(self, reference: NodeOutput, op: str) -> GraphNode | None:
        """The original node behind a reference, if it has this operation."""
        node = self._graph.nodes[reference.name]
        return node if node.op == op else None

    def _number(self, reference: NodeOutput) -> float:
        """The referenced constant if it is a single number, else NaN, which equals nothing."""
        value = self._graph.constants.get(reference.name)
        return float(value.reshape(())) if value is not None and value.size == 1 else math.nan

    def _times(self, node: GraphNode | None) -> tuple[NodeOutput, float] | None:
        """(value, factor) of a product with a constant number."""
        if node is None or node.op != "Mul":
            return None
        for number, other in (node.inputs, node.inputs[::-1]):
            if not math.isnan(factor := self._number(number)):
                return other, factor
        return None

    def _channels(self, reference: NodeOutput) -> Array | None:
        """The referenced constant with one number per channel, as a row."""
        value = self._graph.constants.get(reference.name)
        return value.reshape(-1) if value is not None and value.ndim == 4 and value.shape[-1] == value.size else None

    def _constant(self, name: str, value: Array) -> NodeOutput:
        self._constants[name] = value
        self._nodes[name] = GraphNode(name, "Const")
        return NodeOutput(name)

    # --- x · ½ · (1 + tanh(√(2/π) · (x + 0.044715 · x³))) ------------------------------------------------

    def _gelu(self, name: str, node: GraphNode) -> None:
        for half, rest in (node.inputs, node.inputs[::-1]):
            halved = self._times(self._node(half, "Mul"))
            added = self._node(rest, "AddV2")
            if halved is None or added is None or halved[1] != 0.5:
                continue
            for one, bent in (added.inputs, added.inputs[::-1]):
                tanh = self._node(bent, "Tanh")
                if tanh is not None and self._number(one) == 1 and self._is_gelu_inside(tanh.inputs[0], halved[0]):
                    self._put(name, GraphNode(name, GELU, (halved[0],)))
                    return

    def _is_gelu_inside(self, reference: NodeOutput, value: NodeOutput) -> bool:
        scaled = self._times(self._node(reference, "Mul"))
        added = self._node(scaled[0], "AddV2") if scaled else None
        if scaled is None or added is None or not math.isclose(scaled[1], math.sqrt(2 / math.pi), rel_tol=1e-6):
            return False
        return any(
            first == value and self._is_cube(self._node(second, "Mul"), value)
            for first, second in (added.inputs, added.inputs[::-1])
        )

    def _is_cube(self, node: GraphNode | None, value: NodeOutput) -> bool:
        if node is None:
            return False
        for first, second in (node.inputs, node.inputs[::-1]):
            scaled, squared = self._times(self._node(first, "Mul")), self._node(second, "Square")
            if scaled and squared and scaled[0] == value == squared.inputs[0]:
                return math.isclose(scaled[1], 0.044715, rel_tol=1e-5)
        return False

    # --- (x - mean) · (1/√(variance + ε) · scale) + bias, along the channels -----------------------------

    def _layer_norm(self, name: str, node: GraphNode) -> None:
        for product, added in (node.inputs, node.inputs[::-1]):
            bias, scaled = self._channels(added), self._node(product, "Mul")
            if bias is None or scaled is None:
                continue
            for first, second in (scaled.inputs, scaled.inputs[::-1]):
                centred, factor = self._node(first, "Sub"), self._node(second, "Mul")
                if centred is not None and factor is not None:
                    found = self._normalised(centred, factor, bias)
                    if found is not None:
                        self._put(name, self._norm(name, centred.inputs[0], *found, bias))
                        return

    def _norm(self, name: str, value: NodeOutput, scale: Array, epsilon: float, bias: Array) -> GraphNode:
        inputs = (value, self._constant(f"{name}/scale", scale), self._constant(f"{name}/bias", bias))
        return GraphNode(name, LAYER_NORM, inputs, {"epsilon": epsilon})

    def _normalised(self, centred: GraphNode, factor: GraphNode, bias: Array) -> tuple[Array, float] | None:
        """(scale, ε) if these two are the parts of a normalisation."""
        value, mean = centred.inputs[0], self._node(centred.inputs[1], "Reshape")
        for root, weights in (factor.inputs, factor.inputs[::-1]):
            scale, inverse = self._channels(weights), self._node(root, "Rsqrt")
            shifted = self._node(inverse.inputs[0], "AddV2") if inverse else None
            if scale is None or shifted is None or mean is None or scale.size != bias.size:
                continue
            for first, second in (shifted.inputs, shifted.inputs[::-1]):
                epsilon, spread = self._number(second), self._node(first, "Reshape")
                if spread is None or math.isnan(epsilon) or not self._is_mean(mean.inputs[0], value, scale.size):
                    continue
                if self._is_variance(spread.inputs[0], value, mean.inputs[0], scale.size):
                    return scale, epsilon
        return None

    def _is_variance(self, reference: NodeOutput, value: NodeOutput, mean: NodeOutput, count: int) -> bool:
        """The mean of the squares minus the square of the mean, at least zero."""
        above = self._node(reference, "Maximum")
        if above is None:
            return False
        for zero, other in (above.inputs, above.inputs[::-1]):
            difference = self._node(other, "Sub")
            if difference is None or self._number(zero) != 0:
                continue
            squared = self._node(difference.inputs[1], "Square")
            summed = self._times(self._node(difference.inputs[0], "Mul"))
            inner = self._node(summed[0], "Sum") if summed else None
            squares = self._node(inner.inputs[0], "Square") if inner else None
            return (
                squared is not None
                and squares is not None
                and squared.inputs[0] == mean
                and squares.inputs[0] == value
                and self._is_mean(difference.inputs[0], inner.inputs[0] if inner else value, count)
            )
        return False

    def _is_mean(self, reference: NodeOutput, value: NodeOutput, count: int) -> bool:
        """Along the last of four axes."""
        scaled = self._times(self._node(reference, "Mul"))
        summed = self._node(scaled[0], "Sum") if scaled else None
        if scaled is None or summed is None or summed.inputs[0] != value:
            return False
        return self._number(summed.inputs[1]) in (3, -1) and math.isclose(scaled[1] * count, 1, rel_tol=1e-5)

    # --- products with constant weights, and the bias after them ----------------------------------------

    def _with_bias(self, name: str, node: GraphNode) -> None:
        for product, added in (node.inputs, node.inputs[::-1]):
            before = self._graph.nodes[product.name]
            bias = self._channels(added)
            if bias is not None and before.op in PLAIN_PRODUCTS and self._users[product.name] == 1:
                self._put(name, self._packed(before, bias))
                return

    def _packed(self, node: GraphNode, bias: Array | None) -> GraphNode | None:
        """The layer with its weights in torch's order; None unless it is a layer with constant weights."""
        weights = self._graph.constants.get(node.inputs[1].name)
        if weights is None:
            return None
        attributes = node.attributes
        if node.op == "Einsum":
            if attributes.get("equation") != DENSE:
                return None
            op, packed = LINEAR, weights.T
        elif node.op == "Conv2D" and weights.shape[:2] == (1, 1) and self._is_pointwise(attributes):
            op, packed = LINEAR, weights[0, 0].T
        elif "Depthwise" in node.op:
            op, packed = CONVOLUTION, np.transpose(weights, (2, 3, 0, 1)).reshape(-1, 1, *weights.shape[:2])
        else:
            op, packed = CONVOLUTION, np.transpose(weights, (3, 2, 0, 1))
        inputs = [node.inputs[0], self._constant(f"{node.name}/packed", packed), *node.inputs[2:]]
        if bias is not None:
            inputs.append(self._constant(f"{node.name}/bias", bias))
        return GraphNode(node.name, op, tuple(inputs), attributes)

    @staticmethod
    def _is_pointwise(attributes: Mapping[str, object]) -> bool:
        plain = attributes.get("padding") in ("SAME", "VALID") and attributes.get("data_format", "NHWC") == "NHWC"
        return plain and attributes.get("strides") == [1, 1, 1, 1]
