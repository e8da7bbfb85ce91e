"""Keys never reach a log, a file or a page: whatever a provider's error or reply repeats of them is blotted out."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
"""Names of environment variables whose values are secrets."""

SHORTEST = 8
"""Shorter values are no keys, and blotting them out would eat ordinary words."""


def redact(text: str, environment: Mapping[str, str] | None = None) -> str:
    """The text with every secret of the environment replaced by `…`."""
    values = {
        part
        for name, value in (os.environ if environment is None else environment).items()
        if SECRET.search(name)
        for part in {value, value.strip()}  # a key pasted with its line end is sent without it
        if len(part) >= SHORTEST
    }
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, "…")
    return text
