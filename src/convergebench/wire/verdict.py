"""What a reply that is no success means, whoever sent it."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Collection, Mapping
from email.utils import parsedate_to_datetime
from typing import Literal, NamedTuple

from convergebench.errors import EditorError, Refused, Transient, Unavailable
from convergebench.wire.client import Answer, clean, origin

Kind = Literal["key", "credit", "busy", "refused", "gone", "wrong"]

BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
UNWILLING = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "moderation_blocked",
        "datainspectionfailed",
        "data_inspection_failed",
    }
)
"""Codes by which servers say that a filter stopped the request, in small letters."""
SPENT = frozenset(
    {
        "insufficient_quota",
        "credit_balance_exhausted",
        "billing_hard_limit_reached",
        "arrearage",
        "insufficient_credits",
    }
)
"""Codes by which servers say that the account has nothing left, in small letters."""


class Verdict(NamedTuple):
    """What went wrong."""

    kind: Kind
    """`key`: not taken; `credit`: none left; `busy`: later; `refused`: by a filter; `gone`: no such model; `wrong`."""
    message: str
    """One line, without the key."""
    code: str
    """The provider's own word."""
    retry_after: float | None
    raw: str

    def as_editor_error(self, dollars: float = 0.0) -> EditorError:
        """As an editor raises it.

        Settled: a provider that says no charges nothing. That goes for 5xx too, 504 among them: the providers' price
        lists speak of images that were made, and none says that it charges for a failure of its own.
        """
        if self.kind == "busy":
            return Transient(self.message, retry_after=self.retry_after, dollars=dollars, raw=self.raw)
        if self.kind == "refused":
            return Refused(self.message, reason=self.code, dollars=dollars, raw=self.raw)
        if self.kind == "wrong":  # this request is wrong and would be again; the next one may be right
            return EditorError(self.message, dollars=dollars, raw=self.raw)
        return Unavailable(self.message, dollars=dollars, raw=self.raw)


def judge(
    answer: Answer, *, unwilling: Collection[str] = (), spent: Collection[str] = (), status: int | None = None
) -> Verdict:
    """The meaning of a status and a body. `unwilling`, `spent`: further codes of this provider, in small letters."""
    number = answer.status if status is None else status
    message, code = told(answer.text)
    code = clean(code)
    where = origin(answer.address)
    said = f"{where} answers {number}" + (f": {clean(message)}" if message else "")
    small = code.lower()
    kind: Kind = "wrong"
    if number == 401:  # its message tends to repeat part of the key
        kind, said = "key", f"{where} answers 401: it does not take the key"
    elif small in UNWILLING or small in unwilling or small.endswith("sensitivecontentdetected"):
        kind = "refused"
    elif number in (402, 403) or small in SPENT or small in spent:
        kind = "key" if number == 403 else "credit"
    elif number in BUSY:
        kind = "busy"
    elif number == 404:
        kind = "gone"
    return Verdict(kind, said, code or str(number), retry_after(answer.headers), clean(answer.text))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The server's wish in seconds: `retry-after-ms`, or `Retry-After` as a number or a date."""
    small = {name.lower(): value for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            wish = float(small[name]) * unit
        except (KeyError, ValueError):
            continue
        if math.isfinite(wish):
            return max(0.0, wish)
    try:
        return max(0.0, parsedate_to_datetime(small["retry-after"]).timestamp() - time.time())
    except (KeyError, ValueError, TypeError, OverflowError):
        return None


def told(text: str) -> tuple[str, str]:
    """(message, code) of an error's body, whatever its shape."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return text, ""
    if not isinstance(body, dict):
        return text, ""
    error = body.get("error") or body
    if not isinstance(error, dict):  # {"error": "server_error", "message": "the model is not loaded"}
        message = _words(body)
        return (message, str(error)) if message else (str(error), "")
    return _words(error), str(error.get("code") or error.get("type") or error.get("status") or "")


def _words(error: Mapping[str, object]) -> str:
    """What an error says; a list of faults (FastAPI's) as `body.prompt: Field required`."""
    said = error.get("message") or error.get("detail") or error.get("errors") or ""
    if not isinstance(said, list):
        return str(said)
    return "; ".join(_fault(one) for one in said)


def _fault(one: object) -> str:
    if not isinstance(one, dict) or "msg" not in one:
        return str(one)
    where = one.get("loc")
    return f"{'.'.join(str(part) for part in where)}: {one['msg']}" if isinstance(where, list) else str(one["msg"])
