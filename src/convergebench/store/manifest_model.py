"""The schema of a manifest: a damaged or hand-written file is reported here in one line, before anything uses it."""

from __future__ import annotations

import json
import math
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from convergebench.errors import StudyError

MOST_BYTES = 512 * 2**20
SPEC_TABLES = ("images", "edits", "settings", "measure", "examine", "roles", "analysis")
"""Parts of a study file that must be tables if present."""
_SHOWN = 3


class _Open(BaseModel):
    """A table with typed fields; further keys are allowed."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)


class _Source(_Open):
    sha256: str
    kind: str = ""
    licence: str = ""
    source: str = ""


class _Editor(_Open):
    fingerprint: str
    simulated: bool = False
    deterministic: bool = False
    instructed: bool = True
    use: str = ""
    options: dict[str, Any] = Field(default_factory=dict)
    settings: dict[str, Any] = Field(default_factory=dict)


class _Role(_Open):
    fingerprint: str
    about: str = ""


class _Pair(_Open):
    forward: str = ""
    backward: str = ""
    before: str = ""
    after: str = ""
    category: str = ""
    family: str = ""
    independent: bool = False


class _Session(_Open):
    started: str = ""
    command: str = ""
    versions: dict[str, str] = Field(default_factory=dict)
    platform: str = ""
    processors: int | None = None
    git: dict[str, Any] | None = None
    left_out: list[str] = Field(default_factory=list)


class _EditorEntry(_Open):
    name: str


class _Spec(_Open):
    study: str = ""
    title: str = ""
    editors: list[_EditorEntry] = Field(default_factory=list)


class ManifestModel(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    name: str
    study: str
    created: str
    spec: _Spec
    fixed: dict[str, Any]
    sources: dict[str, _Source] = Field(default_factory=dict)
    pairs: dict[str, _Pair] = Field(default_factory=dict)
    editors: dict[str, _Editor] = Field(default_factory=dict)
    metrics: dict[str, str] = Field(default_factory=dict)
    roles: dict[str, _Role] = Field(default_factory=dict)
    recordings: dict[str, str] = Field(default_factory=dict)
    sessions: list[_Session] = Field(default_factory=list)
    format: int


def load_document(path: Path) -> Any:
    """The JSON of a file; `ValueError` says why it cannot be read."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):  # reading a pipe would block
            raise ValueError("it is not a plain file")
        if found.st_size > MOST_BYTES:
            raise ValueError("it is far too large")
        # Python's json reads NaN and Infinity, which no manifest holds
        content = json.loads(path.read_bytes().decode("utf-8"), parse_constant=_no_number)
        json.dumps(content, ensure_ascii=False).encode("utf-8")  # a lone surrogate could not be written again
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except UnicodeError as error:
        raise ValueError(
            f"it is not UTF-8: {error.reason if isinstance(error, UnicodeDecodeError) else error}"
        ) from error
    return content


def faults(content: Any) -> list[str]:
    """What is wrong with a manifest, each with its path: `editors.sim-jpeg.fingerprint: should be a string`."""
    if not isinstance(content, Mapping):
        return ["it contains no table"]
    found = [f"{name}: should be a table" for name in _not_tables(content)]
    found += [f"{name}: should not be empty" for name in _empty(content)]
    try:
        ManifestModel.model_validate(content)
    except ValidationError as error:
        for fault in error.errors(include_url=False, include_context=False, include_input=False):
            found.append(f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}")
    found += [f"{where}: is not a number" for where in _not_finite(content, "")]
    return found


def require_valid(content: Any, path: Path) -> None:
    """`StudyError` with all faults in one line."""
    found = faults(content)
    if found:
        more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise StudyError(damaged(path, "; ".join(found[:_SHOWN]) + more))


def damaged(path: Path, why: str) -> str:
    """The error message for a manifest that cannot be read."""
    return (
        f"{path} is not a manifest of this package ({why}); images and journal are not affected. Restore it from a "
        f"copy, or type: cbench recover {path.parent}"
    )


def _not_tables(content: Mapping[str, Any]) -> list[str]:
    spec = content.get("spec")
    if not isinstance(spec, Mapping):
        return []
    names = [*SPEC_TABLES, str(content.get("study"))]
    return [f"spec.{name}" for name in names if name in spec and not isinstance(spec[name], Mapping)]


def _empty(content: Mapping[str, Any]) -> list[str]:
    """Settings of analysis and measuring without a value."""
    spec = content.get("spec")
    tables = [(name, spec.get(name)) for name in ("measure", "analysis")] if isinstance(spec, Mapping) else []
    return [
        f"spec.{name}.{key}"
        for name, table in tables
        if isinstance(table, Mapping)
        for key, value in table.items()
        if value is None
    ]


def _not_finite(value: Any, where: str) -> list[str]:
    """1e999 is read as infinity, which no manifest holds."""
    if isinstance(value, float) and not math.isfinite(value):
        return [where]
    parts = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    return [line for key, part in parts for line in _not_finite(part, f"{where}.{key}" if where else str(key))]


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")
