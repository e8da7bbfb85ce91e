"""What a user's own object is: a factory of editors, a function of a picture and words, or a class with such a method.

Decided by looking at it, without calling it: a factory is called with the editor's name, a function with a picture.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

from convergebench.editors.function_editor import FunctionEditor, takes_seed
from convergebench.errors import ConvergeBenchError, StudyError
from convergebench.registry import error_text, suggest
from convergebench.types import Editor

OWN_OPTIONS = ("version", "at_once", "dollars", "deterministic", "per_minute", "seconds")
"""Options of the editor that a function becomes; all others are arguments of the function."""

Kind = Literal["factory", "editor", "function", "class"]


def kind_of(target: Any) -> Kind:
    """What this object is; whatever is none of the others is taken for a factory."""
    if isinstance(target, type):
        method = getattr(target, "edit", None) or vars(target).get("__call__")
        return "class" if method is not None and _required(method, skip=1) == 2 else "factory"
    if isinstance(target, Editor):
        return "editor"
    method = getattr(target, "edit", None)
    if callable(method) and not inspect.ismodule(target):
        return "function" if _required(method) == 2 else "factory"
    return "function" if _edits(target) else "factory"


def editor_from_code(target: Any, name: str, options: Mapping[str, Any]) -> Editor:
    """The editor that a function, a class with `edit(image, instruction)`, or an object with either becomes."""
    own = {key: options[key] for key in OWN_OPTIONS if key in options}
    rest = {key: value for key, value in options.items() if key not in own}
    if isinstance(target, type):
        target, rest = _instance(target, name, rest), {}
    elif isinstance(target, Editor):
        if options:
            raise StudyError(f"editor '{name}' is an object that is made already, and takes no '{min(options)}'")
        return target
    function = target if not callable(getattr(target, "edit", None)) else target.edit
    _require_options(function, name, rest)
    return _made(partial(function, **rest) if rest else function, name, own)


def editor_from_object(given: Any, name: str = "") -> Editor:
    """The editor that an object given in Python is or becomes; without a name it has that of the function or class."""
    if isinstance(given, Editor) and not isinstance(given, type):
        return given
    edits = callable(getattr(given, "edit", None))
    if isinstance(given, type) and kind_of(given) == "class":
        return editor_from_code(given, name or given.__name__, {})
    if isinstance(given, type) or not (edits or callable(given)):
        raise StudyError(
            f"{given!r:.80} is not an editor; give a name, an object with edit(), or a function (image, instruction)"
        )
    return FunctionEditor(given.edit, name or type(given).__name__) if edits else FunctionEditor(given, name)


def _made(function: Callable[..., Any], name: str, own: Mapping[str, Any]) -> FunctionEditor:
    numbers = {key: own[key] for key in ("at_once", "dollars", "per_minute", "seconds") if key in own}
    for key, value in numbers.items():
        low = 0 if key == "dollars" else 1 if key == "at_once" else 0.001
        fits = isinstance(value, int if key == "at_once" else int | float) and not isinstance(value, bool)
        if not fits or not low <= value <= 1e6:
            raise StudyError(f"editor '{name}': {key} = {value!r} should be a number from {low:g}")
    editor = FunctionEditor(
        function,
        name,
        version=str(own.get("version", "")),
        at_once=numbers.get("at_once", 1),
        dollars_per_call=numbers.get("dollars", 0.0),
        deterministic=bool(own.get("deterministic", False)),
    )
    editor.limited(per_minute=numbers.get("per_minute"), seconds=numbers.get("seconds"))
    return editor


def _instance(kind: type, name: str, options: Mapping[str, Any]) -> Any:
    """An object of the class; its parameter `name`, if it has one, gets the editor's name."""
    try:
        known = inspect.signature(kind).parameters
    except (TypeError, ValueError):
        known = {}  # type: ignore[assignment]
    named = {"name": name} if "name" in known and "name" not in options else {}
    try:
        return kind(**named, **options)
    except ConvergeBenchError:
        raise
    except (Exception, SystemExit) as error:
        raise StudyError(f"editor '{name}' cannot be made: {error_text(error)}") from error


def _require_options(function: Callable[..., Any], name: str, options: Mapping[str, Any]) -> None:
    """An option must be an argument of the function, by its name."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return
    free = [one.name for one in list(parameters.values())[2:] if one.kind is not one.VAR_POSITIONAL]
    for key in options:
        if key not in free:
            known = ", ".join((*free, *OWN_OPTIONS))
            raise StudyError(f"editor '{name}' has no option '{key}'{suggest(key, (*free, *OWN_OPTIONS))} ({known})")


def _edits(target: Any) -> bool:
    """Whether a callable is a function of a picture and words rather than a factory, whose first argument is a name."""
    if not callable(target):
        return False
    try:
        signature = inspect.signature(target)
    except (TypeError, ValueError):  # written in C: no factory of editors is
        return True
    given, parameters = signature.return_annotation, list(signature.parameters.values())
    if "Editor" in str(given) or callable(getattr(given, "edit", None)):
        return False
    places = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    free = [one for one in places if one.name != "seed" or not takes_seed(target)]
    if len(free) < 2 or free[0].name == "name":
        # a picture alone, or nothing: said as a function's mistake if its first word is that of one
        return bool(free) and free[0].name in ("image", "img", "picture", "pil_image")
    return True


def _required(method: Any, *, skip: int = 0) -> int:
    """How many arguments it must be given; `skip` leaves out `self`."""
    try:
        parameters = list(inspect.signature(method).parameters.values())[skip:]
    except (TypeError, ValueError):
        return 0
    return sum(
        one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) and one.name != "seed"
        for one in parameters
    )
