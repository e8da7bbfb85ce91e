"""Keys of providers: from the environment or the system's keyring only.

A study file, a flag or a manifest only holds the *name* of a variable. With `pip install 'convergebench[keyring]'`
the same name is looked up in the keyring: `keyring set convergebench GEMINI_API_KEY`.

A key that a server repeats is redacted in everything that is stored. That works only if it is too long to be mistaken
for an ordinary word, so shorter keys are rejected. Placeholders such as `EMPTY`, which clients of self-hosted servers
send because they must send a key, are not secrets and may be used.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache

from convergebench.errors import Prerequisite
from convergebench.redaction import remember_secret

SERVICE = "convergebench"
"""Name of the service in the keyring."""
SHORTEST_KEY = 12
"""Fewest characters of a key or password; providers' keys have 30 or more."""
NO_SECRETS = frozenset(
    {"empty", "none", "null", "no-key", "nokey", "not-needed", "no-key-required", "sk-no-key-required", "dummy", "fake",
     "test", "ollama", "lm-studio", "placeholder", "token-abc123", "-", "x", "xxx"}
)  # fmt: skip
"""Placeholder keys from the documentation of self-hosted servers, in lower case; they are no secrets."""


def find_key(variables: Sequence[str], *, login: bool = False) -> str:
    """The value of the first of these variables that is set, else empty. From then on it is redacted everywhere.

    `login`: the value is `NAME:PASSWORD`, and the password alone is redacted too.
    """
    for read in (lambda name: os.environ.get(name, ""), _from_keyring):
        for name in variables:
            value = read(name).strip()
            if value:
                _require_sendable(name, value)
                _keep_secret(name, value, value.partition(":")[2] if login else value)
                return value
    return ""


def require_key(variables: Sequence[str], who: str, *, login: bool = False) -> str:
    """The key, or a `Prerequisite` that says how to set it."""
    value = find_key(variables, login=login)
    if not value:
        raise Prerequisite(missing_key(variables, who))
    return value


def lacking_key(variables: Sequence[str], who: str, *, login: bool = False) -> list[str]:
    """What is missing, as an editor's `lacks` reports it; empty if the key can be used."""
    try:
        return [] if find_key(variables, login=login) else [missing_key(variables, who)]
    except Prerequisite as error:
        return [str(error)]


def missing_key(variables: Sequence[str], who: str) -> str:
    """The error message for a key that is not set."""
    return f"{' or '.join(variables)} is not set; {who} needs a key: export {variables[-1]}=…"


def _require_sendable(name: str, value: str) -> None:
    """Reject a key that no header can hold: the HTTP library's error message would repeat it."""
    if not (value.isascii() and value.isprintable()) or " " in value:
        remember_secret(value)
        raise Prerequisite(f"{name} contains characters that no key has; set it again: export {name}=…")


def _keep_secret(name: str, value: str, secret: str) -> None:
    """Redact it everywhere, or reject it as too short for that; `secret` is the secret part of the value."""
    if secret.lower() in NO_SECRETS:
        return
    remember_secret(value)
    if 0 < len(secret) < SHORTEST_KEY:
        what = "a key" if secret == value else "a password"
        raise Prerequisite(
            f"{name} holds {what} of {len(secret)} characters, too short to be redacted safely if a server repeats "
            f"it; use one of at least {SHORTEST_KEY} characters (or EMPTY if the server needs none): export {name}=…"
        )
    remember_secret(secret)


@cache
def _from_keyring(name: str) -> str:
    try:
        import keyring
    except ImportError:
        return ""
    try:
        return keyring.get_password(SERVICE, name) or ""
    except Exception:  # no backend, a locked one, a third party's: whatever it raises, there is no key
        return ""
