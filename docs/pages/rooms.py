"""`docs/design/rooms.md`: which room of the package imports which, as the code says it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from pathlib import Path

from docs.pages.markdown import code, first_line, table

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "convergebench"
PAGE = ROOT / "docs" / "design" / "rooms.md"

Graph = Mapping[str, Mapping[str, bool]]
"""By room the rooms that it imports: True where at least one import runs as soon as the room is loaded."""


def graph(package: Path = PACKAGE) -> Graph:
    """The imports between the folders and files directly under the package, those inside functions too."""
    found: dict[str, dict[str, bool]] = {name: {} for name in rooms(package)}
    for name, files in rooms(package).items():
        for path in files:
            for used, at_once in _imports(ast.parse(path.read_text(encoding="utf-8")), found.keys() - {name}):
                found[name][used] = at_once or found[name].get(used, False)
    return found


def rooms(package: Path = PACKAGE) -> dict[str, list[Path]]:
    """The files of every room; a room is a folder or a file directly under the package."""
    folders = {path.parent.name: sorted(path.parent.rglob("*.py")) for path in sorted(package.glob("*/__init__.py"))}
    return folders | {path.stem: [path] for path in sorted(package.glob("*.py")) if not path.stem.startswith("__")}


def _imports(tree: ast.AST, names: set[str], at_once: bool = True) -> Iterator[tuple[str, bool]]:
    for node in ast.iter_child_nodes(tree):
        for module in _modules(node):
            room = module.removeprefix("convergebench.").split(".")[0]
            if module.startswith("convergebench.") and room in names:
                yield room, at_once
        later = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or _for_types_only(node)
        yield from _imports(node, names, at_once and not later)


def _modules(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module == "convergebench":
        return [f"convergebench.{alias.name}" for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


def _for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def layers(found: Graph) -> list[list[str]]:
    """Rooms from the ground up: each uses only rooms of earlier layers. `graphlib.CycleError` if that cannot be."""
    order = TopologicalSorter({name: set(used) for name, used in found.items()})
    order.prepare()
    layered = []
    while order.is_active():
        layered.append(sorted(order.get_ready()))
        order.done(*layered[-1])
    return layered


def block(package: Path = PACKAGE) -> str:
    """The drawing of the folders, then the table of layers with everything that each room imports."""
    found, files = graph(package), rooms(package)
    rows = [
        [number, code(name), purpose(files[name]), _used(found[name])]
        for number, layer in enumerate(layers(found), 1)
        for name in layer
    ]
    folders = {name for name, listed in files.items() if listed[0].name == "__init__.py"}
    return f"{_drawing(found, folders)}\n{table(['layer', 'room', 'what it is for', 'imports'], rows)}"


def _drawing(found: Graph, folders: set[str]) -> str:
    """Folders only, and only the arrows that do not follow from others."""
    reached = {name: _reached(found, name) for name in folders}
    arrows = [
        f"  {name} --> {used}"
        for name in sorted(folders)
        for used in sorted(folders & found[name].keys())
        if not any(used in reached[between] for between in folders & found[name].keys())
    ]
    return "\n".join(["```mermaid", "flowchart TD", *arrows, "```", ""])


def _reached(found: Graph, name: str) -> set[str]:
    return set(found[name]).union(*(_reached(found, used) for used in found[name]))


def purpose(files: list[Path]) -> str:
    """The first line of a room's docstring."""
    return first_line(ast.get_docstring(ast.parse(files[0].read_text(encoding="utf-8"))) or "")


def _used(used: Mapping[str, bool]) -> str:
    return " ".join(code(name) + ("" if at_once else "°") for name, at_once in sorted(used.items())) or "nothing"
