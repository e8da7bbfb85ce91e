"""What an error status means at Google: the details distinguish limits per minute and per day."""

from __future__ import annotations

import json
import math
from typing import Any

from convergebench.editors.providers.sdk import rows, table, text
from convergebench.errors import EditorError, Transient, Unavailable
from convergebench.wire.client import HttpReply, origin
from convergebench.wire.verdict import classify_failure

INVALID_KEY = frozenset({"API_KEY_INVALID", "API_KEY_EXPIRED"})
"""Reasons of a rejected key; sent with status 400."""
NOT_AVAILABLE = "FAILED_PRECONDITION"
"""The account or the country cannot use this model at all; sent with status 400."""


def failure(answer: HttpReply) -> EditorError:
    """The error to raise for a failed call."""
    verdict = classify_failure(answer)
    error = _error(answer)
    details = rows(error.get("details"))
    if any(one.get("reason") in INVALID_KEY for one in details):  # its message may repeat the key
        where = origin(answer.address)
        return Unavailable(f"{where} answers {answer.status}: it does not take the key", raw=verdict.raw)
    if error.get("status") == NOT_AVAILABLE:
        return Unavailable(verdict.message, raw=verdict.raw)
    if answer.status != 429:
        return verdict.as_editor_error()
    if any("perday" in limit.lower().replace("_", "") for limit in _limits(details)):
        return Unavailable(f"{verdict.message} (the quota of this day is spent)", raw=verdict.raw)
    seconds = verdict.retry_after if verdict.retry_after is not None else _delay(details)
    return Transient(verdict.message, retry_after=seconds, raw=verdict.raw)


def _error(answer: HttpReply) -> dict[str, Any]:
    try:
        body = json.loads(answer.data)
    except (ValueError, RecursionError):
        return {}
    if isinstance(body, list) and body:  # errors of streams come as a list of one
        body = body[0]
    return table(table(body).get("error"))


def _limits(details: list[dict[str, Any]]) -> list[str]:
    """Names of the exceeded limits."""
    met = [text(one.get("quotaId")) for detail in details for one in rows(detail.get("violations"))]
    return met + [text(table(detail.get("metadata")).get("quota_limit")) for detail in details]


def _delay(details: list[dict[str, Any]]) -> float | None:
    """`RetryInfo.retryDelay`, such as `17s` or `1.5s`."""
    for detail in details:
        try:
            seconds = float(text(detail.get("retryDelay")).removesuffix("s"))
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    return None
