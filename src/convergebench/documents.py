"""TOML files that users write: checked against a model, with all errors on one line and a suggestion.

An unknown key is an error, so that a typo can never silently change an experiment.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from math import isfinite, isinf
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError

from convergebench.errors import StudyError
from convergebench.ids import canonical
from convergebench.registry import suggest

LARGEST = 2**63
"""Integers of this size or more fit neither into SQLite nor into a table column."""
DEEPEST = 24
"""Deepest accepted nesting of tables and lists."""
LONGEST_TEXT = 1_000_000
"""Most characters of one value."""
LARGEST_FILE = 16 << 20
"""Most bytes of a hand-written file; a manifest of 40,000 images is smaller."""
LONGEST_SHOWN = 80
"""Most characters of a key or value that an error message repeats."""

MOST_FAULTS = 5
"""Most errors that one message lists."""


class Strict(BaseModel):
    """A table that rejects unknown keys, NaN and infinity."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


Model = TypeVar("Model", bound=BaseModel)


def read_document(path: Path, model: type[Model]) -> Model:
    """Read a file as `model`; a one-line StudyError says what is wrong and where."""
    return check_document(read_toml(path), model, where=str(path))


def read_toml(path: Path, *, infinite: bool = False) -> dict[str, Any]:
    """Read a file without checking it against a model; `infinite`: accept infinite numbers."""
    text = read_text(path)
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{path} is not valid TOML: {error}") from error
    except (RecursionError, ValueError) as error:  # too deeply nested; an integer with too many digits
        raise StudyError(f"cannot read {path}: {_reason(error)}") from error
    fault = fault_in(content, infinite=infinite)
    if fault:
        raise StudyError(f"{path}: {fault}")
    return content


def read_text(path: Path) -> str:
    """Read a UTF-8 file (or pipe) of at most `LARGEST_FILE` bytes, with or without a byte order mark."""
    try:
        with path.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise StudyError(f"{path} is larger than {LARGEST_FILE >> 20} MB; is it the right file?")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise StudyError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise StudyError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    except ValueError as error:  # a name with NUL
        raise StudyError(f"cannot read {str(path)!a}: {error}") from error


def check_document(content: Mapping[str, Any], model: type[Model], *, where: str) -> Model:
    """Check content that has already been read against `model`, as `read_document` does."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise StudyError(f"{where}: " + "; ".join(_faults(error, model))) from error


def _reason(error: Exception) -> str:
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def toml_table(title: str, values: Mapping[str, object]) -> str:
    """One table as TOML text; strings, numbers and lists of strings are written as in JSON."""
    return "\n".join([title, *(f"{key} = {canonical(value)}" for key, value in values.items())]) + "\n"


def _faults(error: ValidationError, model: type[BaseModel]) -> Iterator[str]:
    faults = error.errors(include_url=False, include_context=False)
    for fault in faults[:MOST_FAULTS]:
        *parents, key = [str(part) for part in fault["loc"]] or ["the file"]
        if fault["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
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
        model = table_fields(model).get(name)
    return list(table_fields(model))


def table_fields(model: Any) -> dict[str, Any]:
    """Key → type for a model or a dataclass; empty for any other type."""
    if is_dataclass(model):
        kinds = get_type_hints(model)
        return {field.name: kinds[field.name] for field in fields(model)}
    return {field.alias or name: field.annotation for name, field in getattr(model, "model_fields", {}).items()}


def fault_in(content: Any, *, infinite: bool = False) -> str:
    """The path of the first value that cannot be stored, and why; empty if all can be.

    Rejected: NaN and infinity, huge integers, dates, NUL, lone surrogates, very long texts, deep nesting.
    """
    pending: list[tuple[tuple[str, ...], Any]] = [((), content)]
    while pending:
        path, value = pending.pop()
        if infinite and isinstance(value, float) and isinf(value):
            continue
        fault = _unstorable(value) if len(path) <= DEEPEST else "tables and lists are nested too deeply"
        if fault:
            return f"{'.'.join(path[:5])}: {fault}" if path else fault
        if isinstance(value, Mapping):
            pending += [((*path, str(key)), inner) for key, inner in value.items()]
            pending += [((*path, ascii(str(key)[:60])), str(key)) for key in value if _unstorable(str(key))]
        elif isinstance(value, list | tuple):
            pending += [((*path, str(number)), inner) for number, inner in enumerate(value)]
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
    return "this is a date or time; put it in quotes"


def _unstorable_text(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        return f"the text is too long ({len(text):,} characters)"
    if "\0" in text:
        return "should be printable, but contains a NUL character"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "the text is not valid Unicode (a file name that is not UTF-8?)"
    return ""
