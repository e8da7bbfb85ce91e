"""Replies with an entity tag: a browser that has the same already gets an empty one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from convergebench.report.chains import plain

FOREVER = "private, max-age=31536000, immutable"
"""For what is named by its content."""
ASK = "private, no-cache"
"""The browser keeps it and asks whether it is still the same."""


def data_reply(request: Request, value: Any) -> Response:
    """JSON; infinities are strings, and what is not a number is null."""
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    data = text.encode("utf-8", "replace")
    return file_reply(request, data, "application/json", tag=hashlib.sha256(data).hexdigest()[:20], cache=ASK)


def file_reply(
    request: Request,
    data: bytes,
    kind: str,
    *,
    tag: str,
    cache: str = FOREVER,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Bytes under a tag."""
    quoted = f'"{tag}"'
    found = {"etag": quoted, "cache-control": cache, **(headers or {})}
    if quoted in (one.strip() for one in request.headers.get("if-none-match", "").split(",")):
        return Response(status_code=304, headers=found)
    return Response(data, media_type=kind, headers=found)
