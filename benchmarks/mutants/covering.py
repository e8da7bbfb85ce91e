"""Which tests look at a file: those that name it, or something of it, first; then all of its room."""

from __future__ import annotations

import ast
from pathlib import Path

ROOMS: dict[str, tuple[str, ...]] = {
    "analysis": ("analysis/**/*.py",),
    "claims": ("claims/*.py",),
    "edits": ("edits/*.py",),
    "engine": ("engine/*.py",),
    "failures": ("failures/*.py",),
    "ground": ("*.py",),
    "metrics": (
        "metrics/*.py",
        "metrics/adherence/*.py",
        "metrics/around/*.py",
        "metrics/diagnostics/*.py",
        "metrics/full_reference/*.py",
        "metrics/judged/*.py",
        "metrics/no_reference/*.py",
    ),
    "redaction": ("redaction/*.py",),
    "rubrics": ("rubrics/*.py",),
    "wire": ("wire/*.py",),
}
"""Rooms whose code can be tested without a network, a GPU or weights, as patterns below `src/convergebench`."""

NOT_ALONE = (
    "_heads",
    "_learned",
    "_networks",
    "_trunks",
    "dists",
    "lpips",
    "cnniqa",
    "_torch",
    "torchvision",
    "processes",
)
"""Parts of the names of files that only weights, or several processes, can run."""

_TESTS: dict[str, tuple[str, ...]] = {"ground": ("test_*.py",), "redaction": ("test_redaction*.py", "test_keys.py")}
_NOT_HERE = ("test_architecture.py", "test_docs.py", "test_mutants.py")
_MOST = 15
"""Test files, at most, that are asked first: the nouns are imported by nearly all."""


def files(root: Path, room: str) -> list[Path]:
    """The files of a room that are changed, relative to the root of the repository."""
    package = root / "src" / "convergebench"
    found = {path for pattern in ROOMS[room] for path in package.glob(pattern)}
    return sorted(
        path.relative_to(root)
        for path in found
        if path.stem not in ("__init__", "_table") and not any(part in path.stem for part in NOT_ALONE)
    )


def near(root: Path, room: str, file: Path) -> list[str]:
    """Test files that import this module or call it by its name, the one of the same name first."""
    module = ".".join(file.with_suffix("").parts[1:])
    names = (module, f"import {file.stem}\n", f'"{file.stem.replace("_", "-")}"', *_public(root / file))
    found = [path for path in _all(root, room) if _mentions(path, names)]
    if room in _TESTS:  # what every room uses is tested in every room
        found += [path for path in sorted((root / "tests").glob("*/**/test_*.py")) if _mentions(path, (f"{module} ",))]
    found.sort(key=lambda path: (file.stem not in path.stem, path))
    return [str(path.relative_to(root)) for path in found[:_MOST]]


def far(root: Path, room: str, tried: list[str]) -> list[str]:
    """The other tests of the room."""
    return [name for name in (str(path.relative_to(root)) for path in _all(root, room)) if name not in tried]


def _all(root: Path, room: str) -> list[Path]:
    tests = root / "tests"
    if room in _TESTS:
        found = {path for pattern in _TESTS[room] for path in tests.glob(pattern)}
        return sorted(path for path in found if path.name not in _NOT_HERE)
    return sorted((tests / room).rglob("test_*.py"))


def _mentions(path: Path, names: tuple[str, ...]) -> bool:
    text = path.read_text(encoding="utf-8")
    return any(name in text for name in names)


def _public(path: Path) -> list[str]:
    """Functions and classes of a file, as an import of them would end."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    defined = [node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
    return [f"{name}(" for name in defined if not name.startswith("_") and len(name) > 5]
