"""Every target by its name; its module is imported when it is needed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from tests.fuzz.target import FuzzTarget

MODULES = ("pictures", "tables", "documents", "replies", "questions", "records", "bundles", "weights", "received")


def targets(module: str) -> dict[str, FuzzTarget]:
    """The targets of one module."""
    found: dict[str, FuzzTarget] = import_module(f"tests.fuzz.{module}").TARGETS
    return found


def all_names() -> Iterator[tuple[str, str]]:
    """(module, target) of all."""
    for module in MODULES:
        yield from ((module, name) for name in targets(module))


def find(name: str) -> tuple[str, FuzzTarget]:
    """The module and the target of this name; `KeyError` if there is none."""
    for module in MODULES:
        if name in (found := targets(module)):
            return module, found[name]
    raise KeyError(name)
