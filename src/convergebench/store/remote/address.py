"""Addresses of stores: which URLs are taken, and which of them the user has confirmed on this computer.

A URL never carries a key: credentials come from the environment, as fsspec's packages read them. A run is data, whoever
made it, so the URL in its `store.json` is used only if the user typed it once, here (`docs/design/trust.md`).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from convergebench.errors import StudyError
from convergebench.folders import cache_folder
from convergebench.texts import short_line

_URL = re.compile(r"([a-z][a-z0-9+.-]*)://(.+)", re.IGNORECASE)
_LOGIN = re.compile(r":[^@]*@")
"""A user name and a password; a password may contain slashes."""
LOCAL = ("file", "local")
_READ_ONLY = ("http", "https", "data", "reference", "github", "git", "zip", "tar", "libarchive")
CONFIRMED = "stores.txt"
LISTED = "CONVERGEBENCH_STORES"
"""Environment variable: URLs, or prefixes of them, that runs may name; separated by commas or spaces."""


@dataclass(frozen=True)
class StoreAddress:
    """A checked URL, without a slash at its end."""

    protocol: str
    url: str

    @property
    def folder(self) -> Path | None:
        """The folder of a `file://` address; None for all others."""
        return Path(self.url.split("://", 1)[1]) if self.protocol in LOCAL else None


def is_url(text: str) -> bool:
    """Whether this is meant as a URL and not as a path."""
    return "://" in text


def parse_address(text: str, flag: str = "--store") -> StoreAddress:
    """The address; `StudyError` if it has a password or options (it is then not repeated), or cannot be a store."""
    found = _URL.fullmatch(text)
    if found is None:
        raise StudyError(
            f"{flag} {short_line(text)} is not a URL; give one such as s3://bucket/prefix or file:///folder"
        )
    protocol, rest = found[1].lower(), found[2].rstrip("/")
    plain = unquote(rest)
    if _LOGIN.search(plain) or "?" in plain or "#" in plain:
        raise StudyError(
            f"{flag} {protocol}://… has a password or options in it, which would end up in logs; leave them out: "
            "credentials are read from the environment (AWS_ACCESS_KEY_ID, AWS_PROFILE …)"
        )
    if not rest or not plain.isprintable() or "::" in plain:
        raise StudyError(f"{flag} {short_line(text)} is not a plain URL; give one such as s3://bucket/prefix")
    if ".." in plain.split("/"):
        raise StudyError(f"{flag} {short_line(text)}: leave out '..'")
    if protocol in _READ_ONLY:
        raise StudyError(
            f"{flag} {short_line(text)} can only be read; give an address that can be written, such as s3://"
        )
    if protocol in LOCAL and not plain.startswith("/"):
        raise StudyError(f"{flag} {short_line(text)}: name the whole path, with three slashes: file:///folder")
    return StoreAddress(protocol, f"{protocol}://{rest}")


def confirm(address: StoreAddress) -> None:
    """The user typed this URL: runs that name it may be read from it and written to it."""
    if is_confirmed(address):
        return
    file = cache_folder() / CONFIRMED
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as lines:
            lines.write(f"{address.url}\n")
    except OSError:  # then it is asked for in the next command
        os.environ[LISTED] = f"{os.environ.get(LISTED, '')} {address.url}".strip()


def is_confirmed(address: StoreAddress) -> bool:
    """Whether the user typed this URL before, or lists it or a prefix of it in the environment."""
    for prefix in re.split(r"[,\s]+", os.environ.get(LISTED, "")):
        if prefix and f"{address.url}/".startswith(prefix.rstrip("/") + "/"):
            return True
    try:
        known = (cache_folder() / CONFIRMED).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return False
    return address.url in known
