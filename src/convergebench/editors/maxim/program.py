"""Runs a graph.

Much of an exported graph only computes sizes: of the picture, of every reshape, of the matrices that resize it. None of
it depends on the pixels, so it is computed once for each picture size, on the CPU. The rest is a list of steps over
tensors, each of which is released after its last use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from convergebench.editors.maxim.fusing import fuse
from convergebench.editors.maxim.graph import Array, Graph, GraphNode, NodeOutput
from convergebench.editors.maxim.operations import OPERATIONS, GraphOperation
from convergebench.errors import StudyError

SHAPES_KEPT = 4
"""Number of picture sizes whose steps are cached."""
ROOTS = ("Placeholder", "Const")


@dataclass(frozen=True, slots=True)
class ProgramStep:
    """One operation on tensors: constant inputs are already set, the others are filled in."""

    run: Callable[..., torch.Tensor]
    node: GraphNode
    inputs: tuple[Any, ...]
    inputs_to_fill: tuple[tuple[int, str, bool], ...]
    """Position, name of the node whose output goes there, and whether as plain numbers."""
    released: tuple[str, ...]
    """Nodes whose outputs are not needed afterwards."""


class Program:
    """A graph that is ready to run; equal pictures give equal numbers."""

    def __init__(self, graph: Graph, device: str = "cpu") -> None:
        check(graph)
        fused = fuse(graph)
        self._input, self._output = fused.input, fused.output.name
        self._order = fused.order()
        self.device = device
        self._host = _tensors(fused.constants, (node.name for node in self._order))
        self._device_constants: dict[str, torch.Tensor] = {}
        self._of_pixels = self._depends_on_pixels()
        self._steps: dict[tuple[int, ...], list[ProgramStep]] = {}

    def __call__(self, pixels: torch.Tensor) -> torch.Tensor:
        """The output for one batch of pictures: number, height, width, channels."""
        with torch.inference_mode():
            shape = tuple(pixels.shape)
            steps = self._steps.pop(shape, None)
            if steps is None:
                while len(self._steps) >= SHAPES_KEPT:
                    self._steps.pop(next(iter(self._steps)))
                steps = self._for_shape(shape)
            self._steps[shape] = steps  # most recently used: dropped last
            return self._run(steps, pixels.to(self.device))

    def _run(self, steps: Sequence[ProgramStep], pixels: torch.Tensor) -> torch.Tensor:
        values = {self._input: pixels}
        for step in steps:
            inputs = list(step.inputs)
            for place, name, as_numbers in step.inputs_to_fill:
                inputs[place] = values[name].tolist() if as_numbers else values[name]
            values[step.node.name] = _run_node(step.node, step.run, inputs)
            for name in step.released:
                del values[name]
        return values[self._output]

    def _depends_on_pixels(self) -> set[str]:
        """Nodes whose outputs depend on more than the size of the picture."""
        found = {self._input}
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
            elif node.op == "Shape" and node.inputs[0].name not in known:
                known[node.name] = self._shape_of(node.inputs[0], shapes)
            else:
                inputs: list[Any] = [known[one.name] for one in node.inputs]
                for place in _places(operation, inputs):
                    inputs[place] = inputs[place].tolist()
                known[node.name] = _run_node(node, operation.run, inputs)
        return _with_releases(steps, self._output)

    def _shape_of(self, reference: NodeOutput, shapes: Mapping[str, torch.Tensor]) -> torch.Tensor:
        if reference.name not in shapes:
            raise StudyError(f"the graph asks for the size of '{reference.name}' on the way, which is not supported")
        return torch.tensor(shapes[reference.name].shape, dtype=torch.int64)

    def _step(self, node: GraphNode, operation: GraphOperation, known: Mapping[str, torch.Tensor]) -> ProgramStep:
        inputs: list[Any] = [None] * len(node.inputs)
        numbers = _places(operation, inputs)
        waiting = []
        for place, reference in enumerate(node.inputs):
            if reference.name in self._of_pixels:
                waiting.append((place, reference.name, place in numbers))
            elif place in numbers:
                inputs[place] = known[reference.name].tolist()
            else:
                inputs[place] = self._on_device(reference.name, known[reference.name])
        return ProgramStep(operation.run, node, tuple(inputs), tuple(waiting), ())

    def _on_device(self, name: str, value: torch.Tensor) -> torch.Tensor:
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
            if reference.output:
                raise StudyError(
                    f"the graph takes output {reference.output} of '{reference.name}'; only first ones are"
                )


def _places(operation: GraphOperation, inputs: Sequence[object]) -> set[int]:
    return {place % len(inputs) for place in operation.numbers}


def _run_node(node: GraphNode, run: Callable[..., torch.Tensor], inputs: Sequence[Any]) -> torch.Tensor:
    try:
        return run(node, *inputs)
    except (RuntimeError, ValueError, IndexError, TypeError, KeyError) as error:
        why = " ".join(str(error).split())[:200]
        raise StudyError(f"the graph's node '{node.name}' ({node.op}) cannot be carried out: {why}") from error


def _with_releases(steps: Sequence[ProgramStep], output: str) -> list[ProgramStep]:
    seen = {output}
    backwards = []
    for step in reversed(steps):
        names = dict.fromkeys(name for _, name, _ in step.inputs_to_fill)
        released = tuple(name for name in names if name not in seen)
        seen.update(released)
        backwards.append(ProgramStep(step.run, step.node, step.inputs, step.inputs_to_fill, released))
    return backwards[::-1]


def _tensors(constants: Mapping[str, Array], names: Iterable[str]) -> dict[str, torch.Tensor]:
    """The needed constants as tensors; integers become 64-bit."""
    found = {}
    for name in names:
        if name in constants:
            tensor = torch.from_numpy(constants[name])
            found[name] = tensor.long() if tensor.dtype == torch.int32 else tensor
    return found
