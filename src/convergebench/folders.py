"""The cache folder, for files that can be downloaded or made again."""

from __future__ import annotations

import os
from pathlib import Path

from convergebench.errors import StudyError


def cache_folder() -> Path:
    """The cache folder: `$CONVERGEBENCH_CACHE`, else the platform's cache folder."""
    named = os.environ.get("CONVERGEBENCH_CACHE")
    if named:
        try:
            return Path(named).expanduser()
        except RuntimeError as error:
            raise StudyError(f"CONVERGEBENCH_CACHE={named}: {error}; name a folder") from error
    from platformdirs import user_cache_path

    return user_cache_path("convergebench", appauthor=False)
