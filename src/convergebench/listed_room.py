"""Rooms that are also functions: `convergebench.editors()` and `convergebench.metrics()` list what is in them."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class ListedRoom(ModuleType):
    """A package that gives a frame of its contents when it is called."""

    def __call__(self) -> Any:
        """What `convergebench.api.comparing` has under the room's name."""
        return getattr(import_module("convergebench.api.comparing"), self.__name__.rpartition(".")[2])()


def make_listed(name: str) -> None:
    """Make an imported package callable: as an attribute of `convergebench` it hides a function of the same name."""
    sys.modules[name].__class__ = ListedRoom
