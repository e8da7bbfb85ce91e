"""A ComfyUI workflow in API format, with placeholders for image, instruction, seed and size.

A placeholder is written into the workflow as `{image}`, `{instruction}`, `{seed}`, `{width}` or `{height}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from convergebench import ids
from convergebench.errors import StudyError
from convergebench.registry import suggest

Place = Literal["image", "instruction", "seed", "width", "height"]
_PLACE = re.compile(r"\{(image|instruction|seed|width|height)\}")


@dataclass(frozen=True, slots=True)
class Workflow:
    """A graph with placeholders."""

    nodes: Mapping[str, Any]
    places: frozenset[str]
    output: str

    def filled(self, values: Mapping[str, str | int]) -> Any:
        """The graph with its placeholders replaced."""
        return _filled(self.nodes, values)

    @property
    def identity(self) -> str:
        """A hash of the graph, for the fingerprint."""
        return ids.content_hash([self.nodes, self.output])


def read_workflow(path: Path, places: Mapping[Place, str], output: str) -> Workflow:
    """Read and check a workflow file; every error is one line, before the first call."""
    nodes = _nodes(path)
    for place, where in places.items():
        nodes = _with_place(nodes, place, where, path)
    found = frozenset(_places_in(nodes))
    for place, what in (("image", "the picture's name"), ("instruction", "the words")):
        if place not in found:
            raise StudyError(
                f'{path} has no place for {what}: write "{{{place}}}" where it goes, or say '
                f'places = {{ {place} = "NODE.INPUT" }}'
            )
    return Workflow(nodes, found, _output(nodes, output, path))


def _nodes(path: Path) -> dict[str, Any]:
    try:
        nodes = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StudyError(f"cannot read the workflow {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise StudyError(f"the workflow {path} is not JSON: {error}") from error
    if isinstance(nodes, dict) and "nodes" in nodes and "links" in nodes:
        raise StudyError(f"{path} is a workflow of the editor view; save it with Workflow → Export (API)")
    valid = isinstance(nodes, dict) and all(
        isinstance(node, dict) and isinstance(node.get("class_type"), str) and isinstance(node.get("inputs"), dict)
        for node in nodes.values()
    )
    if not valid or not nodes:
        raise StudyError(f"{path} is not a workflow in API format (node numbers → class_type and inputs)")
    # titles have no effect, and must not change the fingerprint
    return {number: {part: node[part] for part in ("class_type", "inputs")} for number, node in nodes.items()}


def _with_place(nodes: dict[str, Any], place: str, where: str, path: Path) -> dict[str, Any]:
    """The graph with a placeholder at NODE.INPUT."""
    number, _, name = where.partition(".")
    if number not in nodes:
        raise StudyError(f"places: {path} has no node '{number}'{suggest(number, nodes)}")
    inputs = nodes[number]["inputs"]
    if name not in inputs:
        raise StudyError(f"places: node {number} of {path} has no input '{name}'{suggest(name, inputs)}")
    if isinstance(inputs[name], list):
        raise StudyError(
            f"places: '{where}' of {path} comes from another node; name the input where the value is entered"
        )
    return {**nodes, number: {**nodes[number], "inputs": {**inputs, name: f"{{{place}}}"}}}


def _output(nodes: Mapping[str, Any], output: str, path: Path) -> str:
    if output:
        if output not in nodes:
            raise StudyError(f"output: {path} has no node '{output}'{suggest(output, nodes)}")
        return output
    saving = [number for number, node in nodes.items() if node["class_type"] == "SaveImage"]
    if len(saving) != 1:
        there = f"nodes {', '.join(saving)}" if saving else "no SaveImage node"
        raise StudyError(f'{path} has {there}; choose the node whose image is taken: output = "NODE"')
    return saving[0]


def _places_in(value: Any) -> set[str]:
    """All placeholders in the graph."""
    if isinstance(value, str):
        return set(_PLACE.findall(value))
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {place for part in parts for place in _places_in(part)}


def _filled(value: Any, values: Mapping[str, str | int]) -> Any:
    if isinstance(value, dict):
        return {name: _filled(one, values) for name, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, values) for one in value]
    if not isinstance(value, str):
        return value
    alone = _PLACE.fullmatch(value)
    # in one pass: braces in an instruction are not placeholders
    return values[alone[1]] if alone else _PLACE.sub(lambda match: str(values[match[1]]), value)
