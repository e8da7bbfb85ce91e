"""A reply as it is kept: every word of it, and instead of image bytes their size and checksum."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from typing import Any

from convergebench.texts import storable

LONG = 2_000
"""Characters above which a string that could be base64 is taken for a file."""
MOST_OF_A_TEXT, MOST_OF_A_REPLY = 200_000, 2_000_000
"""Characters that are kept of one text and of a whole reply; what is longer was not written to be read."""
_INSIDE = re.compile(r"data:[\w.+-]*/?[\w.+-]*(;[\w.+-]+=[^;,]*)*;base64,")
"""How an address begins that holds its file."""


def without_images(reply: Any) -> str:
    """The reply as JSON text; base64 and `data:` strings that hold files are replaced by a note of what they held."""
    try:
        text = storable(json.dumps(_stripped(reply), ensure_ascii=False, separators=(",", ":"), default=str))
    except RecursionError:  # a reader can be made to go deeper than a writer
        return '"(nested too deeply to be kept)"'
    return text if len(text) <= MOST_OF_A_REPLY else f'"({len(text)} characters, too many to be kept)"'


def _stripped(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _stripped(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_stripped(one) for one in value]
    if isinstance(value, bytes):
        return note(value)
    if isinstance(value, str) and (len(value) > LONG or _INSIDE.match(value)):
        data = _decoded(value)
        return beginning(value) if data is None else note(data)
    return value


def beginning(text: str) -> str:
    """A text that is no longer than is kept, and holds no halves of characters."""
    rest = len(text) - MOST_OF_A_TEXT
    return storable(text if rest <= 0 else f"{text[:MOST_OF_A_TEXT]}… ({rest} more characters)")


def note(data: bytes) -> str:
    """What stands in the place of a file."""
    return f"({len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()})"


def _decoded(text: str) -> bytes | None:
    plain = "".join((text.partition(",")[2] if _INSIDE.match(text) else text).split())
    plain = plain.replace("-", "+").replace("_", "/")  # the alphabet for addresses
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
