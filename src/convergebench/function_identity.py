"""Whether a function is still the same: a hash of its code and of the constants it uses."""

from __future__ import annotations

import dis
import hashlib
import inspect
from collections.abc import Iterator
from functools import partial
from pathlib import PurePath
from textwrap import dedent
from types import CodeType, FunctionType, MethodType
from typing import Any

CONSTANTS = (bool, int, float, complex, str, bytes, type(None), PurePath)
"""Values that say the same in every process."""


def function_hash(function: Any) -> str:
    """Changes with the source, with default, bound and enclosed values, and with constants and helpers of its module.

    Only immutable values count, and none that the function assigns itself: a counter is no part of the meaning.
    """
    return hashlib.sha256("\n".join(_parts(function, set())).encode()).hexdigest()[:12]


def _parts(value: Any, seen: set[int]) -> Iterator[str]:
    if isinstance(value, CONSTANTS):
        yield repr(value)
    elif isinstance(value, tuple | frozenset):
        parts = [" ".join(_parts(one, seen)) for one in value]
        yield f"({', '.join(parts if isinstance(value, tuple) else sorted(parts))})"
    elif id(value) not in seen:
        seen.add(id(value))
        yield from _parts_of_callable(value, seen)


def _parts_of_callable(value: Any, seen: set[int]) -> Iterator[str]:
    if isinstance(value, partial):
        for one in (value.func, value.args, tuple(sorted(value.keywords.items()))):
            yield from _parts(one, seen)
    elif isinstance(value, MethodType):
        yield from _parts(value.__func__, seen)
        yield from _parts_of_object(value.__self__, seen)
    elif isinstance(value, FunctionType):
        yield _code(value)
        yield from _parts(value.__defaults__, seen)
        yield from _parts(tuple(sorted((value.__kwdefaults__ or {}).items())), seen)
        for name, used in sorted(_used(value).items()):
            yield from (f"{name} = {part}" for part in _parts(used, seen))
    else:
        yield from _parts_of_object(value, seen)


def _parts_of_object(owner: Any, seen: set[int]) -> Iterator[str]:
    """The methods of its class and the constants that it keeps, but for those that its methods assign later."""
    yield f"{type(owner).__module__}.{type(owner).__qualname__} {getattr(owner, '__qualname__', '')}"
    methods = {name: one for name, one in sorted(vars(type(owner)).items()) if isinstance(one, FunctionType)}
    assigned: set[Any] = set()
    for name, method in methods.items():
        yield from _parts(method, seen)
        if name != "__init__":
            assigned |= {step.argval for step in dis.get_instructions(method) if step.opname == "STORE_ATTR"}
    for name, value in sorted(getattr(owner, "__dict__", {}).items()):
        if isinstance(value, CONSTANTS) and name not in assigned:
            yield f"self.{name} = {value!r}"


def _code(function: FunctionType) -> str:
    """The source; of a lambda, whose lines hold more than itself, and where there is no source, the byte code."""
    if function.__name__ != "<lambda>":
        try:
            return dedent(inspect.getsource(function))
        except (OSError, TypeError):
            pass
    return _byte_code(function.__code__)


def _byte_code(code: CodeType) -> str:
    constants = [
        _byte_code(one) if isinstance(one, CodeType) else " ".join(_parts(one, set())) for one in code.co_consts
    ]
    return f"{code.co_code.hex()} {code.co_names} {constants}"


def _used(function: FunctionType) -> dict[str, Any]:
    """Constants and functions that the code reads from around it: enclosed, or of its own module."""
    read, written = _names(function.__code__)
    around = {name: value for name, value in function.__globals__.items() if name in read}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            around[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return {
        name: value
        for name, value in around.items()
        if name not in written
        and (
            isinstance(value, (*CONSTANTS, tuple, frozenset, partial))
            or (isinstance(value, FunctionType) and value.__module__ == function.__module__)
        )
    }


def _names(code: CodeType) -> tuple[set[str], set[str]]:
    """Names that the code reads from around it and those that it assigns, functions inside it included."""
    read, written = set(code.co_freevars), set()
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            read.add(str(step.argval))
        elif step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL") or (
            step.opname in ("STORE_DEREF", "DELETE_DEREF") and step.argval in code.co_freevars
        ):
            written.add(str(step.argval))
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            more_read, more_written = _names(inner)
            read |= more_read
            written |= more_written
    return read, written
