"""What a status other than 200 means at Google: the details tell a minute's limit from a day's."""

from __future__ import annotations

import json
import math
from typing import Any

from convergebench.editors.providers.sdk import rows, table, text
from convergebench.errors import EditorError, Transient, Unavailable
from convergebench.wire.client import Answer, origin
from convergebench.wire.verdict import judge

NO_KEY = frozenset({"API_KEY_INVALID", "API_KEY_EXPIRED"})
"""Reasons under which a key is not taken; they come with status 400."""
NOT_HERE = "FAILED_PRECONDITION"
"""The account or the country cannot use this model at all; comes with status 400."""


def failure(answer: Answer) -> EditorError:
    """The error that a failed call is."""
    verdict = judge(answer)
    error = _error(answer)
    details = rows(error.get("details"))
    if any(one.get("reason") in NO_KEY for one in details):  # its message may repeat the key
        where = origin(answer.address)
        return Unavailable(f"{where} answers {answer.status}: it does not take the key", raw=verdict.raw)
    if error.get("status") == NOT_HERE:
        return Unavailable(verdict.message, raw=verdict.raw)
    if answer.status != 429:
        return verdict.as_editor_error()
    if any("perday" in limit.lower().replace("_", "") for limit in _limits(details)):
        return Unavailable(f"{verdict.message} (the quota of this day is spent)", raw=verdict.raw)
    wish = verdict.retry_after if verdict.retry_after is not None else _delay(details)
    return Transient(verdict.message, retry_after=wish, raw=verdict.raw)


def _error(answer: Answer) -> dict[str, Any]:
    try:
        body = json.loads(answer.data)
    except (ValueError, RecursionError):
        return {}
    if isinstance(body, list) and body:  # a stream's failure comes as a list of one
        body = body[0]
    return table(table(body).get("error"))


def _limits(details: list[dict[str, Any]]) -> list[str]:
    """Names of the limits that were met."""
    met = [text(one.get("quotaId")) for detail in details for one in rows(detail.get("violations"))]
    return met + [text(table(detail.get("metadata")).get("quota_limit")) for detail in details]


def _delay(details: list[dict[str, Any]]) -> float | None:
    """`RetryInfo.retryDelay`, such as `17s` or `1.5s`."""
    for detail in details:
        try:
            wish = float(text(detail.get("retryDelay")).removesuffix("s"))
        except ValueError:
            continue
        if math.isfinite(wish):
            return max(0.0, wish)
    return None
