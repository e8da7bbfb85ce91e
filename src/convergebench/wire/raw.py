"""A reply as it is stored: all of its text, with size and checksum in place of image bytes."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from typing import Any

from convergebench.texts import storable

LONGEST_PLAIN_TEXT = 2_000
"""A longer string that is valid base64 is treated as a file."""
LONGEST_TEXT, LONGEST_REPLY = 200_000, 2_000_000
"""Most characters that are stored of one text, and of a whole reply."""
_DATA_URI = re.compile(r"data:[\w.+-]*/?[\w.+-]*(;[\w.+-]+=[^;,]*)*;base64,")
"""Start of a `data:` address with base64 content."""


def without_images(reply: Any) -> str:
    """The reply as JSON text; base64 and `data:` strings that hold files are replaced by size and checksum."""
    try:
        text = storable(json.dumps(_without_files(reply), ensure_ascii=False, separators=(",", ":"), default=str))
    except RecursionError:  # JSON can be read at greater depth than it can be written
        return '"(nested too deeply to be kept)"'
    return text if len(text) <= LONGEST_REPLY else f'"({len(text)} characters, too many to be kept)"'


def _without_files(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _without_files(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_without_files(one) for one in value]
    if isinstance(value, bytes):
        return file_note(value)
    if isinstance(value, str) and (len(value) > LONGEST_PLAIN_TEXT or _DATA_URI.match(value)):
        data = _decoded(value)
        return truncated(value) if data is None else file_note(data)
    return value


def truncated(text: str) -> str:
    """At most `LONGEST_TEXT` characters of a text, without lone surrogates."""
    rest = len(text) - LONGEST_TEXT
    return storable(text if rest <= 0 else f"{text[:LONGEST_TEXT]}… ({rest} more characters)")


def file_note(data: bytes) -> str:
    """The text that replaces a file."""
    return f"({len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()})"


def _decoded(text: str) -> bytes | None:
    plain = "".join((text.partition(",")[2] if _DATA_URI.match(text) else text).split())
    plain = plain.replace("-", "+").replace("_", "/")  # the URL-safe alphabet
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
