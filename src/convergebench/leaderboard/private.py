"""What must not leave the machine with a bundle: keys, paths of the user's folders, addresses of private servers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from convergebench.errors import StudyError
from convergebench.redaction import SECRET, redact

_PATH = re.compile(r"(?<![\w.:/\\~])(?:file://)?(?:~?/|[A-Za-z]:[\\/]|\\\\)[^\s'\",;()<>|]+")
"""A path from the root, from a home folder or of Windows; the rest of an address (`https://…`) is none."""
_ADDRESS = re.compile(r"\b(?:https?|wss?|grpc)://[^\s'\",;()<>]+", re.IGNORECASE)
_LOGIN = re.compile(r"(://)[^/\s@]*@")
_ADDRESS_NAME = re.compile(r"url|host|address|endpoint|server|header|proxy|path|file|folder|directory", re.IGNORECASE)
"""Options of an editor that say where it runs, not what it is."""


def without_paths(text: str) -> str:
    """With every absolute path shortened to its last part, and without logins in addresses."""
    return _LOGIN.sub(r"\1", _PATH.sub(lambda found: _last_part(found[0]), text))


def _suite(name: str) -> str:
    """A suite that is a folder or a file is called by its last part."""
    return _last_part(name) if re.search(r"[\\/]", name) else name


def _last_part(path: str) -> str:
    return re.split(r"[\\/]", path.rstrip("\\/"))[-1] or "…"


@lru_cache(maxsize=65_536)
def cleaned(text: str) -> str:
    """A text for readers without keys and paths."""
    return without_paths(redact(text))


@lru_cache(maxsize=65_536)
def _is_clean(text: str) -> bool:
    return redact(text) == text


def require_clean(text: str, what: str) -> str:
    """The text, which is part of a key and cannot be changed; `StudyError` if it holds a secret."""
    if not _is_clean(text):
        raise StudyError(f"{what} holds what looks like a key of yours; such a run cannot be submitted")
    return text


def public_manifest(manifest: Mapping[str, Any], metrics: Mapping[str, str]) -> dict[str, Any]:
    """The manifest as others may read it, with these metrics only."""
    found: dict[str, Any] = {**manifest}
    spec = {**manifest["spec"]}
    if "images" in spec:
        spec["images"] = {**spec["images"], "suite": _suite(str(spec["images"].get("suite", "")))}
    spec["editors"] = [_without_place(entry) for entry in spec.get("editors", [])]
    spec["roles"] = {}
    spec["measure"] = {**spec.get("measure", {}), "metrics": sorted(metrics)}
    found["spec"] = spec
    found["metrics"] = dict(sorted(metrics.items()))
    found["editors"] = {name: _without_place(facts) for name, facts in manifest["editors"].items()}
    found["roles"] = {name: {"fingerprint": facts.get("fingerprint", "")} for name, facts in manifest["roles"].items()}
    found["sessions"] = [_session(one) for one in manifest["sessions"]]
    cleaned_all: dict[str, Any] = _clean(found)
    return cleaned_all


def _session(session: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: session[name] for name in ("started", "versions", "platform", "left_out") if name in session}
    return {**kept, "command": _ADDRESS.sub("…", str(session.get("command", "")))}


def _without_place(facts: Mapping[str, Any]) -> dict[str, Any]:
    """An editor's facts without options that say where it runs or with which key."""
    options = facts.get("options")
    own = {name: value for name, value in facts.items() if not SECRET.search(name) and not _ADDRESS_NAME.search(name)}
    if isinstance(options, Mapping):
        own["options"] = _without_place(options)
    return own


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        return {require_clean(str(name), "a name in the manifest"): _clean(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_clean(inner) for inner in value]
    return cleaned(value) if isinstance(value, str) else value
