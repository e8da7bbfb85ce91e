"""Runs a graph.

Much of an exported graph only computes sizes: of the picture, of every reshape, of the matrices that resize it. None of
it depends on the pixels, so it is computed once for each picture size, on the CPU. The rest is a list of steps over
tensors, each of which is released after its last use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import torch

from convergebench.errors import StudyError
from convergebench.tfjs.fusing import fuse
from convergebench.tfjs.graph import Array, Graph, GraphNode, NodeOutput
from convergebench.tfjs.operations import OPERATIONS, GraphOperation

SHAPES_KEPT = 4
"""Number of picture sizes whose steps are cached."""
ROOTS = ("Placeholder", "Const")

Operation = Callable[..., torch.Tensor | tuple[torch.Tensor, ...]]
Values = dict[NodeOutput, torch.Tensor]


@dataclass(frozen=True, slots=True)
class ProgramStep:
    """One operation on tensors: constant inputs are already set, the others are filled in."""

    run: Operation
    node: GraphNode
    inputs: tuple[Any, ...]
    inputs_to_fill: tuple[tuple[int, NodeOutput, bool], ...]
    """Position, the output that goes there, and whether as plain numbers."""
    released: tuple[NodeOutput, ...]
    """Outputs that are not needed afterwards."""


class Program:
    """A graph that is ready to run; equal pictures give equal numbers. Several threads may use it at once."""

    def __init__(self, graph: Graph, device: str = "cpu") -> None:
        check(graph)
        fused = fuse(graph)
        self._input, self._outputs = NodeOutput(fused.input), dict(fused.outputs)
        self._order = fused.order()
        self.device = device
        self._host = _tensors(fused.constants, (node.name for node in self._order))
        self._device_constants: dict[NodeOutput, torch.Tensor] = {}
        self._of_pixels = self._depends_on_pixels()
        self._steps: dict[tuple[int, ...], list[ProgramStep]] = {}
        self._lock = Lock()

    def __call__(self, pixels: torch.Tensor) -> torch.Tensor:
        """The only output for one batch of pictures: number, height, width, channels."""
        outputs = self.run(pixels)
        if len(outputs) != 1:
            raise StudyError(f"the graph has {len(outputs)} outputs: {', '.join(outputs)}")
        return next(iter(outputs.values()))

    def run(self, pixels: torch.Tensor) -> dict[str, torch.Tensor]:
        """Every output by its name."""
        with torch.inference_mode():
            with self._lock:
                steps = self._prepared(tuple(pixels.shape))
            values = self._carried_out(steps, pixels.to(self.device))
        return {name: values[output] for name, output in self._outputs.items()}

    def _prepared(self, shape: tuple[int, ...]) -> list[ProgramStep]:
        steps = self._steps.pop(shape, None)
        if steps is None:
            while len(self._steps) >= SHAPES_KEPT:
                self._steps.pop(next(iter(self._steps)))
            steps = self._for_shape(shape)
        self._steps[shape] = steps  # most recently used: dropped last
        return steps

    def _carried_out(self, steps: Sequence[ProgramStep], pixels: torch.Tensor) -> Values:
        values = {self._input: pixels}
        for step in steps:
            inputs = list(step.inputs)
            for place, name, as_numbers in step.inputs_to_fill:
                inputs[place] = values[name].tolist() if as_numbers else values[name]
            values.update(_run_node(step.node, step.run, inputs))
            for name in step.released:
                del values[name]
        return values

    def _depends_on_pixels(self) -> set[str]:
        """Nodes whose outputs depend on more than the size of the picture."""
        found = {self._input.name}
        for node in self._order:
            if node.op != "Shape" and any(one.name in found for one in node.inputs):
                found.add(node.name)
        return found

    def _for_shape(self, shape: tuple[int, ...]) -> list[ProgramStep]:
        known = dict(self._host)
        # a placeholder: only its shape is used
        shapes = {self._input: torch.empty(shape, device="meta")}
        steps: list[ProgramStep] = []
        for node in self._order:
            if node.op in ROOTS:
                continue
            operation = OPERATIONS[node.op]
            if node.name in self._of_pixels:
                steps.append(self._step(node, operation, known))
            elif node.op == "Shape" and node.inputs[0] not in known:
                known[NodeOutput(node.name)] = self._shape_of(node.inputs[0], shapes)
            else:
                inputs: list[Any] = [known[one] for one in node.inputs]
                for place in _places(operation, inputs):
                    inputs[place] = inputs[place].tolist()
                known.update(_run_node(node, operation.run, inputs))
        return _with_releases(steps, self._outputs.values())

    def _shape_of(self, reference: NodeOutput, shapes: Mapping[NodeOutput, torch.Tensor]) -> torch.Tensor:
        if reference not in shapes:
            raise StudyError(f"the graph asks for the size of '{reference.name}' at run time, which is not supported")
        return torch.tensor(shapes[reference].shape, dtype=torch.int64)

    def _step(
        self, node: GraphNode, operation: GraphOperation, known: Mapping[NodeOutput, torch.Tensor]
    ) -> ProgramStep:
        inputs: list[Any] = [None] * len(node.inputs)
        numbers = _places(operation, inputs)
        waiting = []
        for place, reference in enumerate(node.inputs):
            if reference.name in self._of_pixels:
                waiting.append((place, reference, place in numbers))
            elif place in numbers:
                inputs[place] = known[reference].tolist()
            else:
                inputs[place] = self._on_device(reference, known[reference])
        return ProgramStep(operation.run, node, tuple(inputs), tuple(waiting), ())

    def _on_device(self, name: NodeOutput, value: torch.Tensor) -> torch.Tensor:
        """A constant on the device: weights are moved once, constants of one picture size each time."""
        if name not in self._host:
            return value.to(self.device)
        if name not in self._device_constants:
            # kernels have the memory layout of the picture, channels last
            ready = value.contiguous(memory_format=torch.channels_last) if value.ndim == 4 else value
            self._device_constants[name] = ready.to(self.device)
        return self._device_constants[name]


def check(graph: Graph) -> None:
    """`StudyError` that names the first operation that is not supported."""
    for node in graph.order():
        if node.op not in OPERATIONS and node.op not in ROOTS:
            raise StudyError(f"the graph has an operation '{node.op}' (node '{node.name}'), which is not supported")
        for reference in node.inputs:
            before = graph.nodes[reference.name].op
            if reference.output and not (before in OPERATIONS and OPERATIONS[before].several):
                raise StudyError(
                    f"the graph takes output {reference.output} of '{reference.name}'; only first outputs are"
                )


def _places(operation: GraphOperation, inputs: Sequence[object]) -> set[int]:
    return {place % len(inputs) for place in operation.numbers}


def _run_node(node: GraphNode, run: Operation, inputs: Sequence[Any]) -> Values:
    try:
        found = run(node, *inputs)
    except (RuntimeError, ValueError, IndexError, TypeError, KeyError) as error:
        why = " ".join(str(error).split())[:200]
        raise StudyError(f"the graph's node '{node.name}' ({node.op}) cannot be run: {why}") from error
    outputs = found if isinstance(found, tuple) else (found,)
    return {NodeOutput(node.name, number): one for number, one in enumerate(outputs)}


def _with_releases(steps: Sequence[ProgramStep], outputs: Iterable[NodeOutput]) -> list[ProgramStep]:
    seen = set(outputs)
    backwards = []
    for step in reversed(steps):
        names = dict.fromkeys(name for _, name, _ in step.inputs_to_fill)
        released = tuple(name for name in names if name not in seen)
        seen.update(released)
        backwards.append(ProgramStep(step.run, step.node, step.inputs, step.inputs_to_fill, released))
    return backwards[::-1]


def _tensors(constants: Mapping[str, Array], names: Iterable[str]) -> Values:
    """The needed constants as tensors; integers become 64-bit."""
    found = {}
    for name in names:
        if name in constants:
            tensor = torch.from_numpy(constants[name])
            found[NodeOutput(name)] = tensor.long() if tensor.dtype == torch.int32 else tensor
    return found
