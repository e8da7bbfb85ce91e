"""Names of files and folders, made from ids that may hold anything."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Hashable, Iterable

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 120


def safe(text: str) -> str:
    """Without anything that a file system, a glob pattern or a tar reader could take amiss."""
    return _UNSAFE.sub("-", text).strip("-.")[:_LONGEST] or "unnamed"


class UniqueNames:
    """Gives each key its wished-for name, with a mark of its own if another key has it already."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._names: dict[Hashable, str] = {}
        self._taken = {name.lower() for name in reserved}

    def of(self, key: Hashable, wished: str) -> str:
        """The same key always gets the same name."""
        if key not in self._names:
            mark = hashlib.sha256(repr(key).encode()).hexdigest()[:8]
            # some file systems take `Cat` and `cat` for one
            name = f"{wished}-{mark}" if wished.lower() in self._taken else wished
            self._taken.add(name.lower())
            self._names[key] = name
        return self._names[key]
