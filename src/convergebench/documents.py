"""TOML files that come from outside: checked against a model, every fault in one line with a suggestion.

An unknown key is an error, so that a typing slip can never quietly change an experiment.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from convergebench.errors import StudyError
from convergebench.ids import canonical
from convergebench.registry import suggest

MOST_FAULTS = 5
"""So many are told at once."""


class Strict(BaseModel):
    """A table in which every key must be known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Model = TypeVar("Model", bound=BaseModel)


def read_document(path: Path, model: type[Model]) -> Model:
    """The file as `model`, or a StudyError of one line that says where it is wrong."""
    return check_document(read_toml(path), model, where=str(path))


def read_toml(path: Path) -> dict[str, Any]:
    """The file as it stands, not yet checked."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StudyError(f"cannot read {path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} is not valid TOML: {error}") from error


def check_document(content: Mapping[str, Any], model: type[Model], *, where: str) -> Model:
    """The same for content that has already been read."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise StudyError(f"{where}: " + "; ".join(_faults(error, model))) from error


def toml_table(title: str, values: Mapping[str, object]) -> str:
    """One table as TOML text. JSON's strings, numbers and lists of strings are TOML's too."""
    return "\n".join([title, *(f"{key} = {canonical(value)}" for key, value in values.items())]) + "\n"


def _faults(error: ValidationError, model: type[BaseModel]) -> Iterator[str]:
    faults = error.errors(include_url=False, include_context=False)
    for fault in faults[:MOST_FAULTS]:
        *parents, key = [str(part) for part in fault["loc"]] or ["the file"]
        if fault["type"] == "extra_forbidden":
            table = f" in [{'.'.join(parents)}]" if parents else ""
            yield f"unknown key '{key}'{table}{suggest(key, _keys_of(model, parents))}"
        else:
            message = fault["msg"].removeprefix("Value error, ")
            given = fault["input"]
            shown = f" (got {given!r})" if isinstance(given, str | int | float) else ""
            yield f"{'.'.join([*parents, key])}: {message}{shown}"
    if len(faults) > MOST_FAULTS:
        yield f"and {len(faults) - MOST_FAULTS} more"


def _keys_of(model: Any, parents: list[str]) -> list[str]:
    for name in parents:
        field = getattr(model, "model_fields", {}).get(name)
        if field is None:
            return []
        model = field.annotation
    return list(getattr(model, "model_fields", {}))
