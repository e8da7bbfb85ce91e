"""TOML files that come from outside: checked against a model, every fault in one line with a suggestion.

An unknown key is an error, so that a typing slip can never quietly change an experiment.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from math import isfinite, isinf
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from convergebench.errors import StudyError
from convergebench.ids import canonical
from convergebench.registry import suggest

LARGEST = 2**63
"""Integers from here on fit neither into SQLite nor into a column of a table."""
DEEPEST = 24
"""Tables and lists inside each other; nothing that is meant is nested deeper."""
LONGEST_TEXT = 1_000_000
"""Characters of one value."""
LARGEST_FILE = 16 << 20
"""Bytes of a file that a person writes; a manifest of 40,000 images is smaller."""
LONGEST_SHOWN = 80
"""Characters of a key or value that a message repeats."""

MOST_FAULTS = 5
"""So many are told at once."""


class Strict(BaseModel):
    """A table in which every key must be known; NaN and infinity are no numbers that anybody meant."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


Model = TypeVar("Model", bound=BaseModel)


def read_document(path: Path, model: type[Model]) -> Model:
    """The file as `model`, or a StudyError of one line that says where it is wrong."""
    return check_document(read_toml(path), model, where=str(path))


def read_toml(path: Path, *, infinite: bool = False) -> dict[str, Any]:
    """The file as it stands, with values that can be stored, but not yet checked against a model.

    `infinite`: infinity is a number in it.
    """
    text = read_text(path)
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{path} is not valid TOML: {error}") from error
    except (RecursionError, ValueError) as error:  # brackets without end; an integer without end
        raise StudyError(f"cannot read {path}: {_why(error)}") from error
    fault = fault_in(content, infinite=infinite)
    if fault:
        raise StudyError(f"{path}: {fault}")
    return content


def read_text(path: Path) -> str:
    """A file that a person wrote: UTF-8, with or without the mark that Windows puts first, and no larger than such are.

    It may be a pipe or a device, which do not say how long they are.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise StudyError(f"{path} is larger than {LARGEST_FILE >> 20} MB; is it the file that you mean?")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise StudyError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise StudyError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    except ValueError as error:  # a name with NUL
        raise StudyError(f"cannot read {str(path)!a}: {error}") from error


def check_document(content: Mapping[str, Any], model: type[Model], *, where: str) -> Model:
    """The same for content that has already been read."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise StudyError(f"{where}: " + "; ".join(_faults(error, model))) from error


def _why(error: Exception) -> str:
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def toml_table(title: str, values: Mapping[str, object]) -> str:
    """One table as TOML text. JSON's strings, numbers and lists of strings are TOML's too."""
    return "\n".join([title, *(f"{key} = {canonical(value)}" for key, value in values.items())]) + "\n"


def _faults(error: ValidationError, model: type[BaseModel]) -> Iterator[str]:
    faults = error.errors(include_url=False, include_context=False)
    for fault in faults[:MOST_FAULTS]:
        *parents, key = [str(part) for part in fault["loc"]] or ["the file"]
        if fault["type"] == "extra_forbidden":
            table = f" in [{'.'.join(parents)}]" if parents else ""
            yield f"unknown key '{_short(key)}'{_short(table)}{suggest(key[:LONGEST_SHOWN], _keys_of(model, parents))}"
        else:
            message = fault["msg"].removeprefix("Value error, ")
            given = fault["input"]
            shown = f" (got {_short(repr(given))})" if isinstance(given, str | int | float) else ""
            yield f"{_short('.'.join([*parents, key]))}: {message}{shown}"
    if len(faults) > MOST_FAULTS:
        yield f"and {len(faults) - MOST_FAULTS} more"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _keys_of(model: Any, parents: list[str]) -> list[str]:
    for name in parents:
        field = getattr(model, "model_fields", {}).get(name)
        if field is None:
            return []
        model = field.annotation
    return list(getattr(model, "model_fields", {}))


def fault_in(content: Any, *, infinite: bool = False) -> str:
    """Where a value stands that no table, journal or manifest could hold, and why; empty if there is none.

    NaN and infinity, huge integers, dates, NUL, halves of characters, texts without end, deep nesting.
    """
    waiting: list[tuple[tuple[str, ...], Any]] = [((), content)]
    while waiting:
        place, value = waiting.pop()
        if infinite and isinstance(value, float) and isinf(value):
            continue
        fault = _unstorable(value) if len(place) <= DEEPEST else "tables and lists are nested too deeply"
        if fault:
            return f"{'.'.join(place[:5])}: {fault}" if place else fault
        if isinstance(value, Mapping):
            waiting += [((*place, str(key)), inner) for key, inner in value.items()]
            waiting += [((*place, ascii(str(key)[:60])), str(key)) for key in value if _unstorable(str(key))]
        elif isinstance(value, list | tuple):
            waiting += [((*place, str(number)), inner) for number, inner in enumerate(value)]
    return ""


def _unstorable(value: Any) -> str:
    if value is None or isinstance(value, bool | Mapping | list | tuple):
        return ""
    if isinstance(value, float):
        return "" if isfinite(value) else f"should be a finite number (got {value})"
    if isinstance(value, int):
        return "" if abs(value) < LARGEST else "the number is too large (2^63 or more)"
    if isinstance(value, str):
        return _unstorable_text(value)
    return "a date or time stands here; put it in quotes"


def _unstorable_text(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        return f"the text is too long ({len(text):,} characters)"
    if "\0" in text:
        return "should be printable, and holds a NUL character"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "the text is not valid Unicode (a file name that is not UTF-8?)"
    return ""
