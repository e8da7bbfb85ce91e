"""What a data set must not give away: keys in any of its words, and whatever stands under the name of one."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from convergebench.redaction import SECRET, redact

_BEARER = re.compile(r"(\bbearer\s+)[\w.~+/=-]{8,}", re.IGNORECASE)
_OURS = frozenset({"sha256", "source_sha256", "manifest_sha256", "step_key"})
"""Hashes that we have made: blotting out digits that happen to stand in one would only break it."""


class Blotter:
    """Takes keys out of records before they are written; most texts come again and again, so they are remembered."""

    def __init__(self) -> None:
        self._redact = lru_cache(maxsize=4096)(redact)

    def record(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The same columns without keys, also in names and ids."""
        clean = {name: value if name in _OURS else self._value(value) for name, value in values.items()}
        clean["chain_id"] = self.chain(values["chain_id"])
        clean["id"] = clean["chain_id"] + self._redact(values["id"].removeprefix(values["chain_id"]))
        return clean

    def chain(self, identity: str) -> str:
        """A chain's id; one that lost something keeps a mark, so that two such chains stay two."""
        clean = self._redact(identity)
        return clean if clean == identity else f"{clean}~{hashlib.sha256(identity.encode()).hexdigest()[:8]}"

    def _value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._value(inner) for inner in value]
        return self._redact(value) if isinstance(value, str) else value


def told_as_json(value: Any) -> str:
    """Settings as JSON, with everything blotted out that stands under the name of a key."""
    return json.dumps(_blotted(value), ensure_ascii=False, sort_keys=True)


def _blotted(value: Any) -> Any:
    """Whatever it is: a text, a list or a whole table. Numbers (`max_tokens`), yes, no and nothing stay."""
    if isinstance(value, dict):
        return {name: _hidden(inner) if SECRET.search(name) else _blotted(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_blotted(inner) for inner in value]
    return _BEARER.sub(r"\1…", value) if isinstance(value, str) else value


def _hidden(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float) else "…"
