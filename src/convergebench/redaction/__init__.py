"""Redaction: keys that a provider's error or reply repeats never reach a log, a file or a page.

Servers repeat headers in base64, addresses with escapes, bodies in hexadecimal or HTML, and keys masked
(`sk-01****tell`), broken into lines or cut short. So a text is decoded in every such way (`views`), each decoded view
is searched for known secrets (`search`), and the parts of the text that they came from are replaced.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import unquote

from convergebench.redaction.masked import ENOUGH, without_masked
from convergebench.redaction.search import patterns_for, secret_spans
from convergebench.redaction.views import Span

SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|AUTHORIZATION|BEARER|COOKIE", re.IGNORECASE)
"""Names of environment variables, settings and headers whose values are secrets."""

SHORTEST = 8
"""Shorter values are not redacted, since they may be ordinary words; they are never sent as keys either."""
REDACTED = "…"
_LOGIN = re.compile(r"\s*(?:[A-Za-z][A-Za-z0-9+.-]*://)?(?P<both>[^\s/@:]*:(?P<password>[^\s/]+))@")
"""Start of an address with a user name and a password."""

_remembered: set[str] = set()


def remember_secret(value: str) -> None:
    """Redact this value from now on: a key that the environment does not hold under a telling name."""
    if len(value) >= SHORTEST:
        _remembered.add(value)


def redact(text: str, environment: Mapping[str, str] | None = None) -> str:
    """The text with every secret of the environment, and every key in use, replaced by `…`.

    Parts of keys in use are replaced too; other variables often hold paths, whose parts are ordinary words.
    """
    if len(text) < (ENOUGH + 1 if _remembered else SHORTEST):
        return text
    whole = frozenset(data for value in _values(environment) for data in _encoded(value))
    patterns = patterns_for(whole, frozenset(data for key in _remembered for data in _encoded(key)))
    if not patterns:
        return text
    data = text.encode("utf-8", "surrogatepass")
    found = secret_spans(data, patterns)
    if found is None:  # encoded too many times to be searched
        return REDACTED
    if found:
        text = _redacted(data, found)
    return without_masked(text, _remembered) if _remembered else text


def _values(environment: Mapping[str, str] | None) -> set[str]:
    return {
        part
        for name, value in (os.environ if environment is None else environment).items()
        for part in _secret_parts(name, value)
        if len(part) >= SHORTEST
    }


@lru_cache(maxsize=1024)  # called for every stored text
def _secret_parts(name: str, value: str) -> tuple[str, ...]:
    """The secrets in a variable: its value, or the login in an address (of a proxy, of a database)."""
    if SECRET.search(name) and name != "CONVERGEBENCH_KEYS":  # holds names, which messages show
        return value, value.strip()  # keys are sent without surrounding space
    login = _LOGIN.match(value) if "@" in value else None
    if login is None:
        return ()
    parts = (login["both"], login["password"])
    return (*parts, *map(unquote, parts))  # logins are sent unescaped


def _encoded(value: str) -> set[bytes]:
    """The possible byte forms of a value; bytes that are not UTF-8 appear in text as lone surrogates."""
    try:
        return {value.encode("utf-8", "surrogatepass"), value.encode("utf-8", "surrogateescape")}
    except UnicodeEncodeError:  # a surrogate that stands for no byte
        return {value.encode("utf-8", "surrogatepass")}


def _redacted(data: bytes, found: list[Span]) -> str:
    kept, end = [], 0
    for start, stop in found:
        kept.append(data[end:start].decode("utf-8", "surrogatepass"))
        end = stop
    return REDACTED.join([*kept, data[end:].decode("utf-8", "surrogatepass")])
