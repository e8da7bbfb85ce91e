"""The details of Google's errors: why a key is rejected, which limit was met, how long to wait."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

KEY_REJECTED = frozenset({"API_KEY_INVALID", "API_KEY_EXPIRED"})
"""Reasons that come with status 400."""
NOT_AVAILABLE = "FAILED_PRECONDITION"
"""The account or the country cannot use this model at all; comes with status 400."""


@dataclass(frozen=True, slots=True)
class GoogleError:
    """What the details of an error say; nothing of it holds for an error without details."""

    key_rejected: bool = False
    unavailable: bool = False
    day_spent: bool = False
    """The quota of this day is spent: waiting for a minute does not help."""
    retry_after: float | None = None
    """The pause that the server asks for, in seconds."""


def google_error(data: bytes) -> GoogleError:
    """Read the body of an error reply, whatever it holds."""
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        return GoogleError()
    if isinstance(body, list) and body:  # errors of streams come as a list of one
        body = body[0]
    error = _table(_table(body).get("error"))
    details = _rows(error.get("details"))
    return GoogleError(
        key_rejected=any(str(one.get("reason")) in KEY_REJECTED for one in details),
        unavailable=error.get("status") == NOT_AVAILABLE,
        day_spent=any("perday" in limit.lower().replace("_", "") for limit in _limits(details)),
        retry_after=next(_delays(details), None),
    )


def _limits(details: list[dict[str, Any]]) -> Iterator[str]:
    """Names of the exceeded limits."""
    for detail in details:
        yield from (str(one.get("quotaId")) for one in _rows(detail.get("violations")))
        yield str(_table(detail.get("metadata")).get("quota_limit"))


def _delays(details: list[dict[str, Any]]) -> Iterator[float]:
    """`RetryInfo.retryDelay`, such as `17s` or `1.5s`."""
    for detail in details:
        try:
            seconds = float(str(detail.get("retryDelay")).removesuffix("s"))
        except ValueError:
            continue
        if math.isfinite(seconds):
            yield max(0.0, seconds)


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _rows(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
