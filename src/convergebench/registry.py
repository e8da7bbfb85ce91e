"""One door for built-ins and plug-ins: a table of names, each loaded only when it is used.

A third party adds an entry point in the group `convergebench.editors` (or `.metrics`, `.studies`, `.suites`,
`.failures`) and its name works wherever a built-in's does. A name may be claimed once.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from convergebench.errors import Prerequisite, StudyError

Shelf = Literal["editors", "metrics", "studies", "suites", "failures"]

_ONE = {"studies": "study", "failures": "detector"}
"""What one thing of a shelf is called, where that is not the shelf's name without its last letter."""
_LISTED = {"failures": "detectors"}
"""What a shelf is called in `cbench list`, where that is not its own name."""


def told(error: BaseException) -> str:
    """What foreign code raised, in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def suggest(name: str, known: Iterable[str]) -> str:
    """` did you mean 'x'?` or nothing."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean '{close[0]}'?" if close else ""


def _builtins(shelf: Shelf) -> Mapping[str, str]:
    table = importlib.import_module(f"convergebench.{'images' if shelf == 'suites' else shelf}._table")
    names: Mapping[str, str] = table.TABLE
    return names


@cache
def _plugins(shelf: Shelf) -> Mapping[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=f"convergebench.{shelf}"):
        if point.name in _builtins(shelf) or point.name in found:
            raise StudyError(f"two {shelf} are called '{point.name}'; uninstall one (plug-in {point.value})")
        found[point.name] = point
    return found


def names(shelf: Shelf) -> list[str]:
    """Every name on a shelf, built-ins in their own order, then plug-ins."""
    return [*_builtins(shelf), *_plugins(shelf)]


def load(shelf: Shelf, name: str) -> Any:
    """The object behind a name; imports its module now and not before."""
    target = _builtins(shelf).get(name)
    one = _ONE.get(shelf, shelf[:-1])
    try:
        if target is not None:
            module, _, attribute = target.partition(":")
            return getattr(importlib.import_module(module), attribute)
        if name in _plugins(shelf):
            return _plugins(shelf)[name].load()
    except ImportError as error:
        raise Prerequisite(f"{one} '{name}' cannot be loaded: {error}") from error
    except (Exception, SystemExit) as error:  # a plug-in is foreign code: whatever it raises becomes one line
        raise Prerequisite(f"{one} '{name}' cannot be loaded: {told(error)}") from error
    raise StudyError(f"unknown {one} '{name}'{suggest(name, names(shelf))} (cbench list {_LISTED.get(shelf, shelf)})")
