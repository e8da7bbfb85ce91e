"""What an error status means at Google: the details distinguish limits per minute and per day."""

from __future__ import annotations

from convergebench.errors import EditorError, Transient, Unavailable
from convergebench.wire.client import HttpReply, origin
from convergebench.wire.google import google_error
from convergebench.wire.verdict import classify_failure


def failure(answer: HttpReply) -> EditorError:
    """The error to raise for a failed call."""
    verdict = classify_failure(answer)
    error = google_error(answer.data)
    if error.key_rejected:  # its message may repeat the key
        where = origin(answer.address)
        return Unavailable(f"{where} answers {answer.status}: it rejects the key", raw=verdict.raw)
    if error.unavailable:
        return Unavailable(verdict.message, raw=verdict.raw)
    if answer.status != 429:
        return verdict.as_editor_error()
    if error.day_spent:
        return Unavailable(f"{verdict.message} (today's quota is used up)", raw=verdict.raw)
    seconds = verdict.retry_after if verdict.retry_after is not None else error.retry_after
    return Transient(verdict.message, retry_after=seconds, raw=verdict.raw)
