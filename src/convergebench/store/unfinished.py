"""Files that a killed process was still writing."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

PART = ".part-"
"""Prefix of files that are still being written."""
_REPORT_PART = re.compile(r"\..+\.\d+\.part")
OLD = 3600.0
"""Seconds after which an unfinished report file counts as abandoned."""


def left_behind(root: Path) -> Iterator[Path]:
    """Temporary files of killed processes. Files only, and not through links: what a link leads to is not the run's."""
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            # reports are written without the lock: a recent part may belong to a running command
            if name.startswith(PART) or (_REPORT_PART.fullmatch(name) and _is_old(path)):
                yield path


def _is_old(path: Path) -> bool:
    try:
        return time.time() - path.lstat().st_mtime > OLD
    except OSError:
        return False
