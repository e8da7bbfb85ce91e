"""Keys of providers: from the environment, or from the system's keyring; from nowhere else.

A study file, a flag or a manifest only ever holds the *name* of a variable. With `pip install 'convergebench[keyring]'`
the same name is looked up in the keyring: `keyring set convergebench GEMINI_API_KEY`.

A secret that a server repeats is blotted out of all that is kept, which can only be done with one that is long enough
to be told from ordinary words; shorter ones are refused. Words such as `EMPTY`, which servers of one's own are given
because a client insists on a key, are no secrets and may be used.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache

from convergebench.errors import Prerequisite
from convergebench.redaction import remember

SERVICE = "convergebench"
"""Under which keys stand in the keyring."""
SHORTEST_KEY = 12
"""Characters of a key, and of a password; providers' own keys have 30 and more."""
NO_SECRETS = frozenset(
    {"empty", "none", "null", "no-key", "nokey", "not-needed", "no-key-required", "sk-no-key-required", "dummy", "fake",
     "test", "ollama", "lm-studio", "placeholder", "token-abc123", "-", "x", "xxx"}
)  # fmt: skip
"""What servers of one's own are given in the place of a key, in small letters: words out of their documentation."""


def find_key(variables: Sequence[str], *, login: bool = False) -> str:
    """The key under the first of these names that has one, else empty. Once seen it is blotted out everywhere.

    `login`: it is `NAME:PASSWORD`, and the password by itself is a secret too.
    """
    for read in (lambda name: os.environ.get(name, ""), _from_keyring):
        for name in variables:
            value = read(name).strip()
            if value:
                _require_possible(name, value)
                _keep_secret(name, value, value.partition(":")[2] if login else value)
                return value
    return ""


def require_key(variables: Sequence[str], who: str, *, login: bool = False) -> str:
    """The key, or what to type."""
    value = find_key(variables, login=login)
    if not value:
        raise Prerequisite(missing_key(variables, who))
    return value


def lacking_key(variables: Sequence[str], who: str, *, login: bool = False) -> list[str]:
    """What stands in the way of using it, as an editor's `lacks` says it; empty = nothing."""
    try:
        return [] if find_key(variables, login=login) else [missing_key(variables, who)]
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


def _keep_secret(name: str, value: str, secret: str) -> None:
    """Have it blotted out everywhere, or refuse one that cannot be; `secret` is the part of the value that is one."""
    if secret.lower() in NO_SECRETS:
        return
    remember(value)
    if 0 < len(secret) < SHORTEST_KEY:
        what = "a key" if secret == value else "a password"
        raise Prerequisite(
            f"{name} holds {what} of {len(secret)} characters, too short to be told from ordinary words where a server "
            f"repeats it; use one of {SHORTEST_KEY} or more (or EMPTY, if the server wants none): export {name}=…"
        )
    remember(secret)


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
