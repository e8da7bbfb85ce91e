"""Removing secrets from data sets: API keys in any text, and values under names that look like a key's."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from convergebench.redaction import SECRET, redact

_BEARER = re.compile(r"(\bbearer\s+)[\w.~+/=-]{8,}", re.IGNORECASE)
_OURS = re.compile(r"(?:^|_)(?:sha256|step_key|step_keys)$")
"""Columns with hashes, which redaction could only damage."""


class Redactor:
    """Removes keys from records before they are written; results are cached, since most texts repeat."""

    def __init__(self) -> None:
        self._redact = lru_cache(maxsize=4096)(redact)

    def record(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The same columns without keys, also in names and ids."""
        clean = self.cells(values)
        clean["chain_id"] = self.chain(values["chain_id"])
        clean["id"] = clean["chain_id"] + self._redact(values["id"].removeprefix(values["chain_id"]))
        return clean

    def cells(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The same columns without keys."""
        return {name: value if _OURS.search(name) else self._value(value) for name, value in values.items()}

    def chain(self, identity: str) -> str:
        """A chain's id; if it is redacted, a hash keeps it unique."""
        clean = self._redact(identity)
        return clean if clean == identity else f"{clean}~{hashlib.sha256(identity.encode()).hexdigest()[:8]}"

    def _value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._value(inner) for inner in value]
        return self._redact(value) if isinstance(value, str) else value


def redacted_json(value: Any) -> str:
    """Settings as JSON, without values under names of secrets."""
    return json.dumps(_redacted(value), ensure_ascii=False, sort_keys=True)


def _redacted(value: Any) -> Any:
    """A copy without secrets, recursively; numbers (`max_tokens`), booleans and None are kept."""
    if isinstance(value, dict):
        return {name: _hidden(inner) if SECRET.search(name) else _redacted(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_redacted(inner) for inner in value]
    return _BEARER.sub(r"\1…", value) if isinstance(value, str) else value


def _hidden(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float) else "…"
