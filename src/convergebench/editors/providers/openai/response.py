"""Reads a reply of the Responses API: the image, the reasoning, or why there is no image."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from convergebench.editors.providers.sdk import from_base64, raw_of, rows, table, text
from convergebench.errors import BadReply, EditorError, Refused, Transient
from convergebench.wire.client import clean
from convergebench.wire.raw import truncated

BUSY_CODES = frozenset({"server_error", "rate_limit_exceeded"})
"""Error codes of responses that may work when retried."""
REFUSAL_CODES = frozenset(
    {
        "moderation_blocked",
        "content_policy_violation",
        "image_content_policy_violation",
        "invalid_prompt",
        "bio_policy",
        "misalignment_policy_violation",
    }
)
"""Error codes of a content filter."""


@dataclass(frozen=True, slots=True)
class ResponsesReply:
    """A parsed reply."""

    body: Mapping[str, Any]
    raw: str
    image: bytes | None
    model: str
    reasoning: str | None
    words: str
    refused: str
    """The model's own refusal, marked as one."""
    calls: tuple[Mapping[str, Any], ...]
    """Calls of the image tool."""

    def refusal(self, name: str, dollars: float) -> EditorError:
        """The error to raise if there is no image."""
        for fault in (*(table(call.get("error")) for call in self.calls), table(self.body.get("error"))):
            if fault:
                return self._fault(name, fault, dollars)
        cut = text(table(self.body.get("incomplete_details")).get("reason"))
        if cut == "content_filter":
            detail = self.words or "the answer was cut off by a filter"
            return Refused(clean(f"{cut}: {detail}"), reason=cut, raw=self.raw, dollars=dollars)
        if self.refused:
            return Refused(clean(self.refused), reason="refusal", raw=self.raw, dollars=dollars)
        if cut:
            return BadReply(f"{name} was cut short ({clean(cut)})", raw=self.raw, dollars=dollars)
        if self.words and not self.calls:
            return Refused(clean(self.words), reason="text-only", raw=self.raw, dollars=dollars)
        detail = f": {clean(self.words)}" if self.words else ""
        return BadReply(f"{name} sent no image{detail}", raw=self.raw, dollars=dollars)

    def _fault(self, name: str, fault: Mapping[str, Any], dollars: float) -> EditorError:
        code, message = clean(text(fault.get("code"))), text(fault.get("message"))
        details = table(fault.get("moderation_details"))
        if code in REFUSAL_CODES or details:
            named = details.get("categories")
            kinds = ", ".join(map(text, named)) if isinstance(named, list) else ""
            detail = f"{code}: {message}" + (f" ({kinds})" if kinds else "")
            return Refused(clean(detail), reason=code or "moderation", raw=self.raw, dollars=dollars)
        detail = f"{name} failed: {clean(f'{code}: {message}')}"
        if code in BUSY_CODES:
            return Transient(detail, raw=self.raw, dollars=dollars)
        # errors of the tool are undocumented and cheap to retry; those of the response concern the request
        kind = BadReply if fault is not table(self.body.get("error")) else EditorError
        return kind(detail, raw=self.raw, dollars=dollars)


def read_response(body: Mapping[str, Any], name: str) -> ResponsesReply:
    """Parse a response of any shape."""
    raw = raw_of(body, name)
    items = rows(body.get("output"))
    calls = tuple(item for item in items if item.get("type") == "image_generation_call")
    results = [found for call in calls if (found := from_base64(call.get("result")))]
    thoughts = [part for item in items if item.get("type") == "reasoning" for part in rows(item.get("summary"))]
    content = [part for item in items if item.get("type") == "message" for part in rows(item.get("content"))]
    return ResponsesReply(
        body=body,
        raw=raw,
        image=results[-1] if results else None,
        model=clean(text(body.get("model"))),
        reasoning=_joined(thoughts, "text") or None,
        words=_joined(content, "text"),
        refused=_joined(content, "refusal"),
        calls=calls,
    )


def _joined(parts: list[dict[str, Any]], field: str) -> str:
    return truncated("\n\n".join(one for part in parts if (one := text(part.get(field)).strip())))
