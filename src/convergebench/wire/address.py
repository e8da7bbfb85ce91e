"""Checks on what a study file says about a server: its address, and the variable that holds its key."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from convergebench.redaction import SECRET
from convergebench.wire.key_names import how_to_allow, is_allowed

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPELT_OUT = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")
"""`MY_LOGIN`: words in capitals, which cannot be a key."""


def require_no_secret(
    base_url: str, key: str, *, example: str = "http://127.0.0.1:8000/v1", any_name: bool = False
) -> None:
    """`ValueError` if the address is invalid or holds a secret, or if `key` is not a variable that may hold a key.

    The message never repeats input that might be the secret. `any_name` accepts any variable name, for a table that is
    only read; code that uses the key must check it with `key_names`.
    """
    try:
        parts = urlsplit(base_url)
        whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        whole = whole and not re.search(r"\s", base_url)  # urlsplit silently drops it
    except ValueError:  # its message repeats the text in place of a port
        whole = False
    if base_url and not whole:
        raise ValueError(f"base_url should be an address such as {example}") from None
    if base_url and (parts.username or parts.password or parts.query or parts.fragment):
        raise ValueError(
            "base_url should contain no user name, password or question mark; put the key into the environment"
        )
    if not key or is_allowed(key):
        return
    named = _VARIABLE.fullmatch(key) and (SECRET.search(key) or _SPELT_OUT.fullmatch(key))
    if not named:
        raise ValueError(
            "key should name an environment variable, with KEY or TOKEN in its name, such as OPENAI_API_KEY"
        )
    if not any_name:
        raise ValueError(how_to_allow(key))
