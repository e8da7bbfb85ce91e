"""Any editor by what a person types.

A built-in, a plug-in, a model's id or nickname, `provider:model`, `module:Class`, or an expression such as
`paste-back(sim-jpeg)`.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from convergebench import registry
from convergebench.editors.expression import parse
from convergebench.editors.models.table import Model, find_model, models
from convergebench.editors.providers.table import PROVIDERS, speaker
from convergebench.errors import ConvergeBenchError, StudyError
from convergebench.types import Capabilities, Editor, Limits

_IN_A_MODULE = re.compile(r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*$")


def make_editor(use: str, name: str = "", **options: Any) -> Editor:
    """The editor, under a name of its own or the one it was asked for by. Loads no network and needs no key."""
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
            model = _listed(provider, called) or speaker(provider).unlisted(called)
        elif _IN_A_MODULE.match(use):
            return _checked(_from_module(use), name, options)
    if model is None:
        raise StudyError(
            f"unknown editor '{use}'{registry.suggest(use, known_names())} (cbench list editors; any model of a "
            f"provider: PROVIDER:MODEL, with {', '.join(PROVIDERS)}; your own: module:Class)"
        )
    kind = speaker(model.provider)
    return _checked(lambda called, **rest: kind(called, model, rest), name, options)


COMPOSITES = ("paste-back", "anchor", "best-of", "then", "resave")
LOCAL = "local"
"""The provider of models that run here: their rows tell about them, the registry's factory makes them."""


def canonical(use: str) -> str:
    """One name for one editor: a nickname becomes the id, and an expression is written in one way."""
    call = parse(use)
    if call is not None:
        return call.written(canonical)
    if use in registry.names("editors"):
        return use
    model = find_model(use)
    return use if model is None else model.id


def known_names() -> list[str]:
    """Everything that has a name of its own, nicknames left out."""
    return list(dict.fromkeys([*registry.names("editors"), *models()]))


def _listed(provider: str, called: str) -> Model | None:
    return next((one for one in models().values() if (one.provider, one.wire_id) == (provider, called)), None)


def _from_module(use: str) -> Any:
    """A class or factory of the user's own, in the folder from which this was called or an installed package."""
    module, _, attribute = use.partition(":")
    here = str(Path.cwd())
    sys.path.insert(0, here)  # a console script does not look into the folder it is called from
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module}.".startswith(f"{error.name}."):
            raise StudyError(f"there is no module '{module}' here ({here}) or installed, for editor '{use}'") from error
        raise StudyError(f"editor '{use}' cannot be loaded: {error}") from error
    except ConvergeBenchError:
        raise
    except (Exception, SystemExit) as error:  # foreign code: whatever it raises becomes one line
        raise StudyError(f"editor '{use}' cannot be loaded: {registry.told(error)}") from error
    finally:
        sys.path.remove(here)
        if here not in sys.path:
            sys.path.append(here)  # for what the module imports only when it is called; last, so that it hides nothing
    if found is None:
        raise StudyError(f"module '{module}' has no '{attribute}', for editor '{use}'")
    return found


def _checked(factory: Any, name: str, options: Mapping[str, Any]) -> Editor:
    """Made, and of the right shape; foreign code, so whatever it raises becomes one line."""
    try:
        editor = factory(name, **options)
    except ConvergeBenchError:
        raise
    except (Exception, SystemExit) as error:
        raise StudyError(f"editor '{name}' cannot be made: {registry.told(error)}") from error
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
