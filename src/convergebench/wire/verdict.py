"""What an error reply means, for any provider."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Collection, Mapping
from email.utils import parsedate_to_datetime
from typing import Literal, NamedTuple

from convergebench.errors import EditorError, Refused, Transient, Unavailable
from convergebench.wire.client import HttpReply, clean, origin

Kind = Literal["key", "credit", "busy", "refused", "gone", "wrong"]

BUSY_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
REFUSAL_CODES = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "moderation_blocked",
        "datainspectionfailed",
        "data_inspection_failed",
    }
)
"""Error codes of requests stopped by a content filter, in lower case."""
NO_CREDIT_CODES = frozenset(
    {
        "insufficient_quota",
        "credit_balance_exhausted",
        "billing_hard_limit_reached",
        "arrearage",
        "insufficient_credits",
    }
)
"""Error codes of accounts without credit, in lower case."""


class ErrorVerdict(NamedTuple):
    """The classified error of a reply."""

    kind: Kind
    """`key` rejected, no `credit` left, `busy`, `refused` by a filter, model `gone`, or `wrong` request."""
    message: str
    """One line, without the key."""
    code: str
    """The provider's own error code."""
    retry_after: float | None
    raw: str

    def as_editor_error(self, dollars: float = 0.0) -> EditorError:
        """The error that an editor raises for it.

        It is settled: an error reply is not charged, not even 5xx (including 504). The providers' price lists charge
        for images that were made, and none mentions a charge for server errors.
        """
        if self.kind == "busy":
            return Transient(self.message, retry_after=self.retry_after, dollars=dollars, raw=self.raw)
        if self.kind == "refused":
            return Refused(self.message, reason=self.code, dollars=dollars, raw=self.raw)
        if self.kind == "wrong":  # not retried, but the next request may be valid
            return EditorError(self.message, dollars=dollars, raw=self.raw)
        return Unavailable(self.message, dollars=dollars, raw=self.raw)


def classify_failure(
    answer: HttpReply, *, refusals: Collection[str] = (), no_credit: Collection[str] = (), status: int | None = None
) -> ErrorVerdict:
    """Classify an error by status and body. `refusals`, `no_credit`: further codes of this provider, in lower case."""
    status_code = answer.status if status is None else status
    message, code = message_and_code(answer.text)
    code = clean(code)
    where = origin(answer.address)
    message_line = f"{where} answers {status_code}" + (f": {clean(message)}" if message else "")
    lowered = code.lower()
    kind: Kind = "wrong"
    if status_code == 401:  # its message often repeats part of the key
        kind, message_line = "key", f"{where} answers 401: it rejects the key"
    elif lowered in REFUSAL_CODES or lowered in refusals or lowered.endswith("sensitivecontentdetected"):
        kind = "refused"
    elif status_code in (402, 403) or lowered in NO_CREDIT_CODES or lowered in no_credit:
        kind = "key" if status_code == 403 else "credit"
    elif status_code in BUSY_STATUSES:
        kind = "busy"
    elif status_code == 404:
        kind = "gone"
    return ErrorVerdict(kind, message_line, code or str(status_code), retry_after(answer.headers), clean(answer.text))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The pause that the server asks for, in seconds: `retry-after-ms`, or `Retry-After` as a number or a date."""
    lowered = {name.lower(): value for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(lowered[name]) * unit
        except (KeyError, ValueError):
            continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    try:
        return max(0.0, parsedate_to_datetime(lowered["retry-after"]).timestamp() - time.time())
    except (KeyError, ValueError, TypeError, OverflowError):
        return None


def message_and_code(text: str) -> tuple[str, str]:
    """(message, code) of an error body of any shape."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return text, ""
    if not isinstance(body, dict):
        return text, ""
    error = body.get("error") or body
    if not isinstance(error, dict):  # {"error": "server_error", "message": "the model is not loaded"}
        message = _message(body)
        return (message, str(error)) if message else (str(error), "")
    return _message(error), str(error.get("code") or error.get("type") or error.get("status") or "")


def _message(error: Mapping[str, object]) -> str:
    """The message of an error; a list of field errors (FastAPI) becomes `body.prompt: Field required`."""
    message_line = error.get("message") or error.get("detail") or error.get("errors") or ""
    if not isinstance(message_line, list):
        return str(message_line)
    return "; ".join(_field_error(one) for one in message_line)


def _field_error(one: object) -> str:
    if not isinstance(one, dict) or "msg" not in one:
        return str(one)
    where = one.get("loc")
    return f"{'.'.join(str(part) for part in where)}: {one['msg']}" if isinstance(where, list) else str(one["msg"])
