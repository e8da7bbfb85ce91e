"""Safe names of files and folders, made from arbitrary ids."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Hashable, Iterable

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 120


def safe(text: str) -> str:
    """Without characters that a file system, a glob pattern or a tar reader could misread."""
    return _UNSAFE.sub("-", text).strip("-.")[:_LONGEST] or "unnamed"


class UniqueNames:
    """Gives each key its preferred name, with a hash appended if another key has it."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._names: dict[Hashable, str] = {}
        self._taken = {name.lower() for name in reserved}

    def of(self, key: Hashable, preferred: str) -> str:
        """The same key always gets the same name."""
        if key not in self._names:
            mark = hashlib.sha256(repr(key).encode()).hexdigest()[:8]
            # some file systems ignore case
            name = f"{preferred}-{mark}" if preferred.lower() in self._taken else preferred
            self._taken.add(name.lower())
            self._names[key] = name
        return self._names[key]
