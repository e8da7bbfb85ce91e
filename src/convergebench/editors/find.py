"""Finds any editor by the name that the user gives.

A built-in, a plug-in, a model's id or nickname, `provider:model`, an expression such as `paste-back(sim-jpeg)`, or the
user's own code: `file.py:name` or `module:name`, where the name is that of a class, a factory or a plain function.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from convergebench import registry
from convergebench.editors.expression import parse
from convergebench.editors.models.table import ModelEntry, find_model, models
from convergebench.editors.own_code import editor_from_code, kind_of
from convergebench.editors.providers.table import PROVIDERS, provider_class
from convergebench.errors import ConvergeBenchError, StudyError
from convergebench.types import Capabilities, Editor, Limits


def make_editor(use: str, name: str = "", **options: Any) -> Editor:
    """Create an editor; `name` defaults to the canonical form of `use`. Loads no network and needs no key."""
    call = parse(use)
    if call is not None:
        made = registry.load("editors", call.word) if call.word in registry.names("editors") else None
        positional: tuple[str, ...] = getattr(made, "positional", ())
        if not positional:
            known = [one for one in registry.names("editors") if one in COMPOSITES]
            raise StudyError(f"'{call.word}' in '{use}' takes no editor{registry.suggest(call.word, known)}")
        return _checked(made, name or use, {**call.options(positional), **options})
    name = name or canonical(use)
    model = find_model(use)
    own = model.id if model is not None and model.provider == LOCAL else use
    if own in registry.names("editors"):
        return _checked(registry.load("editors", own), name, options)
    if model is None and ":" in use:
        provider, _, called = use.partition(":")
        if provider in PROVIDERS:
            model = _listed(provider, called) or provider_class(provider).unlisted(called)
        elif registry.is_own_code(use):
            return _checked(registry.load_from_module("editor", use), name, options)
    if model is None:
        if use in registry.left_out("editors"):
            registry.load("editors", use)  # raises the reason
        raise StudyError(
            f"unknown editor '{use}'{registry.suggest(use, known_names())} (cbench list editors; any model of a "
            f"provider: PROVIDER:MODEL, with {', '.join(PROVIDERS)}; your own: FILE.py:NAME)"
        )
    kind = provider_class(model.provider)
    return _checked(lambda called, **rest: kind(called, model, rest), name, options)


COMPOSITES = ("paste-back", "anchor", "best-of", "then", "resave", "remake")
LOCAL = "local"
"""Provider of local models: the table describes them, the registry's factory creates them."""


def canonical(use: str) -> str:
    """The canonical name of an editor: a nickname becomes the id, an expression gets one spelling."""
    call = parse(use)
    if call is not None:
        return call.written(canonical)
    if use in registry.names("editors"):
        return use
    if registry.is_in_file(use):
        file, _, attribute = use.rpartition(":")
        return f"{Path(file)}:{attribute}"  # without ./
    model = find_model(use)
    return use if model is None else model.id


def known_names() -> list[str]:
    """All names of editors and models, without nicknames."""
    return list(dict.fromkeys([*registry.names("editors"), *models()]))


def _listed(provider: str, called: str) -> ModelEntry | None:
    return next((one for one in models().values() if (one.provider, one.wire_id) == (provider, called)), None)


def _checked(factory: Any, name: str, options: Mapping[str, Any]) -> Editor:
    """Create an editor and check its attributes; any exception becomes a one-line `StudyError`."""
    try:
        own = kind_of(factory) != "factory"
        editor = editor_from_code(factory, name, options) if own else factory(name, **options)
    except ConvergeBenchError:
        raise
    except (Exception, SystemExit) as error:
        raise StudyError(f"editor '{name}' cannot be made: {registry.error_text(error)}") from error
    if not isinstance(editor, Editor):
        missing = [
            part for part in ("name", "fingerprint", "capabilities", "limits", "edit") if not hasattr(editor, part)
        ]
        raise StudyError(f"editor '{name}' is a {type(editor).__name__} without {', '.join(missing)}")
    for part, kind in (("fingerprint", str), ("capabilities", Capabilities), ("limits", Limits)):
        if not isinstance(getattr(editor, part), kind):
            raise StudyError(
                f"editor '{name}' has {getattr(editor, part)!r} as its {part}, which should be of the type "
                f"{kind.__name__}"
            )
    return editor
