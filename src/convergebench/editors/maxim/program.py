"""Carrying a graph out.

Much of an exported graph does arithmetic on sizes: how large the picture is, what that makes of every reshape, which
matrix resizes it. None of it depends on the pixels, so it is worked out once for each size of picture, on the CPU.
What is left is a list of steps over tensors, each of which is let go of after its last use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from convergebench.editors.maxim.fusing import fuse
from convergebench.editors.maxim.graph import Array, Graph, Node, Reference
from convergebench.editors.maxim.operations import OPERATIONS, Operation
from convergebench.errors import StudyError

KEPT = 4
"""For so many sizes of picture the steps are kept."""
ROOTS = ("Placeholder", "Const")


@dataclass(frozen=True, slots=True)
class Step:
    """One operation over tensors: constant inputs are in their places already, the others are filled in."""

    run: Callable[..., torch.Tensor]
    node: Node
    inputs: tuple[Any, ...]
    open: tuple[tuple[int, str, bool], ...]
    """Place, whose output belongs there, and whether it is wanted as plain numbers."""
    spent: tuple[str, ...]
    """Whose outputs nobody needs afterwards."""


class Program:
    """A graph made ready to run; the same picture gives the same numbers."""

    def __init__(self, graph: Graph, device: str = "cpu") -> None:
        check(graph)
        fused = fuse(graph)
        self._input, self._output = fused.input, fused.output.name
        self._order = fused.order()
        self.device = device
        self._host = _tensors(fused.constants, (node.name for node in self._order))
        self._there: dict[str, torch.Tensor] = {}
        self._of_pixels = self._depends_on_pixels()
        self._steps: dict[tuple[int, ...], list[Step]] = {}

    def __call__(self, pixels: torch.Tensor) -> torch.Tensor:
        """The output for one batch of pictures: number, height, width, channels."""
        with torch.inference_mode():
            shape = tuple(pixels.shape)
            steps = self._steps.pop(shape, None)
            if steps is None:
                while len(self._steps) >= KEPT:
                    self._steps.pop(next(iter(self._steps)))
                steps = self._for_shape(shape)
            self._steps[shape] = steps  # the one used last is let go of last
            return self._run(steps, pixels.to(self.device))

    def _run(self, steps: Sequence[Step], pixels: torch.Tensor) -> torch.Tensor:
        values = {self._input: pixels}
        for step in steps:
            inputs = list(step.inputs)
            for place, name, as_numbers in step.open:
                inputs[place] = values[name].tolist() if as_numbers else values[name]
            values[step.node.name] = _carried_out(step.node, step.run, inputs)
            for name in step.spent:
                del values[name]
        return values[self._output]

    def _depends_on_pixels(self) -> set[str]:
        """Whose outputs hang on more than the size of the picture."""
        found = {self._input}
        for node in self._order:
            if node.op != "Shape" and any(one.name in found for one in node.inputs):
                found.add(node.name)
        return found

    def _for_shape(self, shape: tuple[int, ...]) -> list[Step]:
        known = dict(self._host)
        # stands for any tensor of that size: only its shape is asked for
        shapes = {self._input: torch.empty(shape, device="meta")}
        steps: list[Step] = []
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
                known[node.name] = _carried_out(node, operation.run, inputs)
        return _with_spent(steps, self._output)

    def _shape_of(self, reference: Reference, shapes: Mapping[str, torch.Tensor]) -> torch.Tensor:
        if reference.name not in shapes:
            raise StudyError(f"the graph asks for the size of '{reference.name}' on the way, which is not supported")
        return torch.tensor(shapes[reference.name].shape, dtype=torch.int64)

    def _step(self, node: Node, operation: Operation, known: Mapping[str, torch.Tensor]) -> Step:
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
        return Step(operation.run, node, tuple(inputs), tuple(waiting), ())

    def _on_device(self, name: str, value: torch.Tensor) -> torch.Tensor:
        """Weights go there once; what belongs to one size of picture goes there each time."""
        if name not in self._host:
            return value.to(self.device)
        if name not in self._there:
            # a kernel is laid out as the picture is, channels last
            ready = value.contiguous(memory_format=torch.channels_last) if value.ndim == 4 else value
            self._there[name] = ready.to(self.device)
        return self._there[name]


def check(graph: Graph) -> None:
    """A StudyError that names the operation if there is one nobody here knows."""
    for node in graph.order():
        if node.op not in OPERATIONS and node.op not in ROOTS:
            raise StudyError(f"the graph has an operation '{node.op}' (node '{node.name}'), which is not supported")
        for reference in node.inputs:
            if reference.output:
                raise StudyError(
                    f"the graph takes output {reference.output} of '{reference.name}'; only first ones are"
                )


def _places(operation: Operation, inputs: Sequence[object]) -> set[int]:
    return {place % len(inputs) for place in operation.numbers}


def _carried_out(node: Node, run: Callable[..., torch.Tensor], inputs: Sequence[Any]) -> torch.Tensor:
    try:
        return run(node, *inputs)
    except (RuntimeError, ValueError, IndexError, TypeError, KeyError) as error:
        why = " ".join(str(error).split())[:200]
        raise StudyError(f"the graph's node '{node.name}' ({node.op}) cannot be carried out: {why}") from error


def _with_spent(steps: Sequence[Step], output: str) -> list[Step]:
    seen = {output}
    backwards = []
    for step in reversed(steps):
        names = dict.fromkeys(name for _, name, _ in step.open)
        spent = tuple(name for name in names if name not in seen)
        seen.update(spent)
        backwards.append(Step(step.run, step.node, step.inputs, step.open, spent))
    return backwards[::-1]


def _tensors(constants: Mapping[str, Array], names: Iterable[str]) -> dict[str, torch.Tensor]:
    """The constants that are needed, integers as torch counts."""
    found = {}
    for name in names:
        if name in constants:
            tensor = torch.from_numpy(constants[name])
            found[name] = tensor.long() if tensor.dtype == torch.int32 else tensor
    return found
