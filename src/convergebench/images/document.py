"""TOML files that come from outside, checked against a pydantic model, faults told in one line."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from convergebench.errors import StudyError


class Strict(BaseModel):
    """A table in which every key must be known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Model = TypeVar("Model", bound=BaseModel)


def read_document(path: Path, model: type[Model]) -> Model:
    """The file as `model`, or a StudyError of one line that says where it is wrong."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StudyError(f"cannot read {path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} is not valid TOML: {error}") from error
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise StudyError(f"{path}: {_first_fault(error)}") from error


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_context=False)[0]
    place = ".".join(str(part) for part in fault["loc"]) or "the file"
    message = fault["msg"].removeprefix("Value error, ")
    more = error.error_count() - 1
    return f"{place}: {message}" + (f" (and {more} more)" if more else "")
