"""Keys never reach a log, a file or a page: whatever a provider's error or reply repeats of them is blotted out.

Not only as they are: servers repeat headers in base64, addresses with escapes, bodies in hexadecimal or HTML, keys in
part (`sk-01****tell`), broken into lines or cut short. So a text is read in every such way (`views`), what is known to
be a secret is looked for in each reading (`search`), and the places it came from are blotted out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import unquote

from convergebench.redaction.masked import TELLING, without_masked
from convergebench.redaction.search import needles, spans
from convergebench.redaction.views import Span

SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|AUTHORIZATION|BEARER|COOKIE", re.IGNORECASE)
"""Names of environment variables, settings and headers whose values are secrets."""

SHORTEST = 8
"""Shorter values are no keys, and blotting them out would eat ordinary words; none so short is ever sent as a key."""
BLOT = "…"
_LOGIN = re.compile(r"\s*(?:[A-Za-z][A-Za-z0-9+.-]*://)?(?P<both>[^\s/@:]*:(?P<password>[^\s/]+))@")
"""How an address begins that holds a name and a password."""

_remembered: set[str] = set()


def remember(value: str) -> None:
    """Blot this out too: a key that does not stand in the environment, or under a name that does not say so."""
    if len(value) >= SHORTEST:
        _remembered.add(value)


def redact(text: str, environment: Mapping[str, str] | None = None) -> str:
    """The text with every secret of the environment, and every key in use, replaced by `…`.

    Of keys in use every part goes too; values of other variables are often paths, whose parts stand everywhere.
    """
    if len(text) < (TELLING + 1 if _remembered else SHORTEST):
        return text
    whole = frozenset(data for value in _values(environment) for data in _encoded(value))
    wanted = needles(whole, frozenset(data for key in _remembered for data in _encoded(key)))
    if not wanted:
        return text
    data = text.encode("utf-8", "surrogatepass")
    found = spans(data, wanted)
    if found is None:  # packed so often that nobody could read it; what is in there is not known
        return BLOT
    if found:
        text = _blotted(data, found)
    return without_masked(text, _remembered) if _remembered else text


def _values(environment: Mapping[str, str] | None) -> set[str]:
    return {
        part
        for name, value in (os.environ if environment is None else environment).items()
        for part in _secret_parts(name, value)
        if len(part) >= SHORTEST
    }


@lru_cache(maxsize=1024)  # asked again for every text that is stored
def _secret_parts(name: str, value: str) -> tuple[str, ...]:
    """What is secret in a variable: all of it, or the login in an address, as proxies and databases are given one."""
    if SECRET.search(name) and name != "CONVERGEBENCH_KEYS":  # a list of names, which messages have to show
        return value, value.strip()  # a key pasted with its line end is sent without it
    login = _LOGIN.match(value) if "@" in value else None
    if login is None:
        return ()
    words = (login["both"], login["password"])
    return (*words, *map(unquote, words))  # it is sent without its escapes


def _encoded(value: str) -> set[bytes]:
    """Its bytes; environments hold bytes that are no text, which a text repeats as halves of characters."""
    try:
        return {value.encode("utf-8", "surrogatepass"), value.encode("utf-8", "surrogateescape")}
    except UnicodeEncodeError:  # half a character that stands for no byte
        return {value.encode("utf-8", "surrogatepass")}


def _blotted(data: bytes, found: list[Span]) -> str:
    kept, end = [], 0
    for start, stop in found:
        kept.append(data[end:start].decode("utf-8", "surrogatepass"))
        end = stop
    return BLOT.join([*kept, data[end:].decode("utf-8", "surrogatepass")])
