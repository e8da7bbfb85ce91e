"""Built-ins and plug-ins by name, each imported only when it is used.

A third party adds an entry point in the group `convergebench.editors` (or another shelf's); its name then works
wherever a built-in's does. A plug-in whose name is taken is left out. The parts of a study may also be given as
`module:name`.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from convergebench.errors import ConvergeBenchError, Prerequisite, StudyError

Shelf = Literal[
    "editors", "metrics", "studies", "suites", "degradations", "failures", "stages", "analyses", "sections", "exports",
]  # fmt: skip

_PARTS = ("stages", "analyses", "sections", "exports")
"""Shelves of the parts that a study declares."""
_TABLES = {
    "suites": "images",
    "stages": "conductor.stages",
    "analyses": "analysis",
    "sections": "report.sections",
    "exports": "datasets",
}
"""Package with the shelf's table, where it has another name than the shelf."""
_SINGULAR = {"studies": "study", "failures": "detector", "analyses": "analysis"}
"""Singular of a shelf's name, where it is not the name without its last letter."""
_LIST_NAMES = {"failures": "detectors"}
"""Name of a shelf in `cbench list`, where it differs."""


def error_text(error: BaseException) -> str:
    """Type and message of an exception from third-party code, in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


@contextmanager
def third_party(what: str, *, built_in: bool) -> Iterator[None]:
    """Around calls of `what`: unless it is built in, whatever it raises becomes an error of one line."""
    try:
        yield
    except ConvergeBenchError:
        raise
    except (Exception, SystemExit) as error:
        if built_in:
            raise
        raise StudyError(f"{what} failed: {error_text(error)}") from error


def suggest(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` with the closest known name, or an empty text."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean '{close[0]}'?" if close else ""


def _builtins(shelf: Shelf) -> Mapping[str, str]:
    table = importlib.import_module(f"convergebench.{_TABLES.get(shelf, shelf)}._table")
    names: Mapping[str, str] = table.TABLE
    return names


@cache
def _plugins(shelf: Shelf) -> Mapping[str, EntryPoint]:
    """Plug-ins by name, without those that have to be left out."""
    refused = left_out(shelf)
    found = {point.name: point for point in entry_points(group=f"convergebench.{shelf}")}
    return {name: point for name, point in found.items() if name not in refused}


def left_out(shelf: Shelf) -> dict[str, str]:
    """Plug-ins that cannot be told apart by their names, each with the reason; nothing else suffers from them."""
    values: dict[str, dict[str, None]] = {}
    for point in entry_points(group=f"convergebench.{shelf}"):
        values.setdefault(point.name, {})[point.value] = None  # one package found at two places is one
    reasons = {}
    for name, places in values.items():
        shown = " and ".join(places)
        if name in _builtins(shelf):
            reasons[name] = f"the plug-in {shown} has the name of a built-in one, which is used; uninstall the plug-in"
        elif len(places) > 1:
            reasons[name] = f"several plug-ins have this name ({shown}), and none is used; uninstall all but one"
    return reasons


def names(shelf: Shelf) -> list[str]:
    """Every name on a shelf, built-ins in their own order, then plug-ins."""
    return [*_builtins(shelf), *_plugins(shelf)]


def load(shelf: Shelf, name: str) -> Any:
    """The object with this name; its module is imported only now."""
    kind = _SINGULAR.get(shelf, shelf[:-1])
    if shelf in _PARTS and ":" in name:
        return load_from_module(kind, name)
    target = _builtins(shelf).get(name)
    try:
        if target is not None:
            module, _, attribute = target.partition(":")
            return getattr(importlib.import_module(module), attribute)
        if name in _plugins(shelf):
            return _plugins(shelf)[name].load()
    except ImportError as error:
        raise Prerequisite(f"{kind} '{name}' cannot be loaded: {error}") from error
    except (Exception, SystemExit) as error:  # a plug-in may raise anything; it becomes one line
        raise Prerequisite(f"{kind} '{name}' cannot be loaded: {error_text(error)}") from error
    if name in left_out(shelf):
        raise StudyError(f"{kind} '{name}' cannot be used: {left_out(shelf)[name]}")
    known = ", ".join(names(shelf)) if shelf in _PARTS else f"cbench list {_LIST_NAMES.get(shelf, shelf)}"
    raise StudyError(f"unknown {kind} '{name}'{suggest(name, names(shelf))} ({known})")


def require_part(shelf: Shelf, name: str) -> None:
    """Raise what `load` would raise; a built-in is not imported."""
    if name not in _builtins(shelf):
        load(shelf, name)


_OF_A_FILE = re.compile(r"^(?P<file>.+\.py):(?P<name>[A-Za-z_]\w*(\.[A-Za-z_]\w*)*)$")
_OF_A_MODULE = re.compile(r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")


def is_own_code(use: str) -> bool:
    """Whether this names an object of the user's own: `folder/file.py:name` or `package.module:name`."""
    return bool(_OF_A_FILE.match(use) or _OF_A_MODULE.match(use))


def is_in_file(use: str) -> bool:
    """Whether this is `folder/file.py:name`."""
    return bool(_OF_A_FILE.match(use))


def load_from_module(kind: str, use: str) -> Any:
    """The user's own `module:name` or `file.py:name`, from the current folder or installed; `kind` is for errors."""
    module, _, attribute = use.rpartition(":")
    cwd = str(Path.cwd())
    sys.path.insert(0, cwd)  # console scripts do not search the current folder
    try:
        found: Any = _module_of_file(Path(module)) if is_in_file(use) else importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part, None)
    except FileNotFoundError as error:
        if error.filename != module:
            raise StudyError(f"{kind} '{use}' cannot be loaded: {error_text(error)}") from error
        raise StudyError(f"there is no file {module} here ({cwd}), for {kind} '{use}'") from error
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module}.".startswith(f"{error.name}.") and not is_in_file(use):
            raise StudyError(f"there is no module '{module}' here ({cwd}) or installed, for {kind} '{use}'") from error
        raise StudyError(f"{kind} '{use}' cannot be loaded: {error}") from error
    except ConvergeBenchError:
        raise
    except (Exception, SystemExit) as error:  # user code may raise anything; it becomes one line
        raise StudyError(f"{kind} '{use}' cannot be loaded: {error_text(error)}") from error
    finally:
        sys.path.remove(cwd)
        if cwd not in sys.path:
            sys.path.append(cwd)  # for imports at call time; last, so that it hides nothing
    if found is None:
        what = module if is_in_file(use) else f"module '{module}'"
        raise StudyError(f"{what} has no '{attribute}', for {kind} '{use}'")
    return found


def _module_of_file(file: Path) -> ModuleType:
    """The module in a file, run once unless the file changes; its name is such that `code.py` hides no other module.

    Its folder is searched last, for imports of files beside it.
    """
    if not file.is_file():
        raise FileNotFoundError(2, "no such file", str(file))
    place = str(file.resolve())
    name = f"{file.stem}_{hashlib.sha256(place.encode()).hexdigest()[:8]}"
    state = (file.stat().st_mtime_ns, file.stat().st_size)
    if name in sys.modules and _states.get(name) == state:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, place)
    if spec is None or spec.loader is None:
        raise StudyError(f"{file} cannot be read as Python")
    if str(file.resolve().parent) not in sys.path:
        sys.path.append(str(file.resolve().parent))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look it up there
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    _states[name] = state
    return module


_states: dict[str, tuple[int, int]] = {}
"""Module of a file → when the file was changed and how long it was, as the module was made."""
