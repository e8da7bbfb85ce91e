"""Keys of providers: from the environment, or from the system's keyring; from nowhere else.

A study file, a flag or a manifest only ever holds the *name* of a variable. With `pip install 'convergebench[keyring]'`
the same name is looked up in the keyring: `keyring set convergebench GEMINI_API_KEY`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache

from convergebench.errors import Prerequisite
from convergebench.redaction import remember

SERVICE = "convergebench"
"""Under which keys stand in the keyring."""


def find_key(variables: Sequence[str]) -> str:
    """The key under the first of these names that has one, else empty. Once seen it is blotted out everywhere."""
    for read in (lambda name: os.environ.get(name, ""), _from_keyring):
        for name in variables:
            value = read(name).strip()
            if value:
                _require_possible(name, value)
                remember(value)
                return value
    return ""


def require_key(variables: Sequence[str], who: str) -> str:
    """The key, or what to type."""
    value = find_key(variables)
    if not value:
        raise Prerequisite(missing_key(variables, who))
    return value


def lacking_key(variables: Sequence[str], who: str) -> list[str]:
    """What stands in the way of using it, as an editor's `lacks` says it; empty = nothing."""
    try:
        return [] if find_key(variables) else [missing_key(variables, who)]
    except Prerequisite as error:
        return [str(error)]


def missing_key(variables: Sequence[str], who: str) -> str:
    """What to say when there is none."""
    return f"{' or '.join(variables)} is not set; {who} wants a key: export {variables[-1]}=…"


def _require_possible(name: str, value: str) -> None:
    """A key that cannot stand in a header would come back in the words of whoever refuses it."""
    if not (value.isascii() and value.isprintable()) or " " in value:
        remember(value)
        raise Prerequisite(f"{name} holds characters that no key has; set it again: export {name}=…")


@cache
def _from_keyring(name: str) -> str:
    try:
        import keyring
    except ImportError:
        return ""
    try:
        return keyring.get_password(SERVICE, name) or ""
    except Exception:  # no backend, a locked one, a foreign one: whatever it raises, there is no key
        return ""
