"""Reads claim files: shipped ones by name, others by path; an error is one line with file and claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convergebench.claims.claim import KINDS, Claim, ClaimFileHeading
from convergebench.documents import check_document, read_toml
from convergebench.errors import StudyError
from convergebench.registry import suggest

FOLDER = Path(__file__).parent / "data"
SHIPPED = ("nano-banana-2", "pico-banana", "banana100", "convergebench")
"""The files that come with the package."""


@dataclass(frozen=True)
class ClaimFile:
    """The claims of one paper."""

    path: Path
    paper: str
    claims: tuple[Claim, ...]

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.path.stem


def find(name: str) -> Path:
    """A shipped file by its name, any other by its path."""
    if name in SHIPPED:
        return FOLDER / f"{name}.toml"
    path = Path(name)
    if path.suffix == ".toml" and path.is_file():
        return path
    raise StudyError(f"there is no claim file '{name}'{suggest(name, SHIPPED)} (shipped: {', '.join(SHIPPED)})")


def read_claims(path: Path, names: Mapping[str, str] | None = None) -> ClaimFile:
    """All claims of a file; `names` overrides the file's values of `$word`."""
    content = read_toml(path, infinite=True)
    listed = content.pop("claims", None)
    if not isinstance(listed, list) or not listed or not all(isinstance(one, dict) for one in listed):
        raise StudyError(f"{path}: there is no claim in it; each begins with [[claims]]")
    heading = check_document(content, ClaimFileHeading, where=str(path))
    meant = {**heading.names, **(names or {})}
    claims = [_claim(one, place, path, meant) for place, one in enumerate(listed, start=1)]
    seen: set[str] = set()
    for claim in claims:
        if claim.id in seen:
            raise StudyError(f"{path}: two claims are called '{claim.id}'; rename one")
        seen.add(claim.id)
    return ClaimFile(path, heading.paper, tuple(claims))


def names_of(path: Path) -> list[str]:
    """The `$word` names that a file defines."""
    names = read_toml(path, infinite=True).get("names", {})
    return list(names) if isinstance(names, dict) else []


def _claim(raw: dict[str, Any], place: int, path: Path, names: Mapping[str, str]) -> Claim:
    where = f"{path}: claim {raw.get('id', place)}"
    raw = _named(raw, names, where)
    test = raw.get("test")
    if not isinstance(test, dict):
        raise StudyError(f"{where}: [claims.test] is missing; it says what is compared")
    _check(test, where)
    return check_document(raw, Claim, where=where)


def _check(test: Mapping[str, Any], where: str) -> None:
    """Check a test against the model of its own kind, so that an error is reported once and not for every kind."""
    kind = test.get("kind")
    if kind is None:
        raise StudyError(f"{where}: a test has no kind (there are {', '.join(KINDS)})")
    if not isinstance(kind, str) or kind not in KINDS:
        near = suggest(str(kind), KINDS) or f" (there are {', '.join(KINDS)})"
        raise StudyError(f"{where}: unknown kind of test '{kind}'{near}")
    parts = test.get("tests")
    if kind in ("all", "any", "neither") and isinstance(parts, list):
        for part in parts:
            if not isinstance(part, dict):
                raise StudyError(f"{where}: tests must be a list of tables: [[claims.test.tests]]")
            _check(part, where)
    check_document(test, KINDS[kind], where=f"{where} ({kind})")


def _named(part: Any, names: Mapping[str, str], where: str) -> Any:
    """With every `$word` replaced by its value."""
    if isinstance(part, dict):
        return {key: _named(value, names, where) for key, value in part.items()}
    if isinstance(part, list):
        return [_named(value, names, where) for value in part]
    if isinstance(part, str) and part.startswith("$"):
        if part[1:] not in names:
            raise StudyError(f"{where}: '{part}' is not in [names]{suggest(part[1:], names)}")
        return names[part[1:]]
    return part
