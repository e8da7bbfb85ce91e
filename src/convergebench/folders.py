"""Where files that can be had again are kept."""

from __future__ import annotations

import os
from pathlib import Path

from convergebench.errors import StudyError


def cache_folder() -> Path:
    """Where kept files live: `$CONVERGEBENCH_CACHE`, else the platform's cache folder."""
    named = os.environ.get("CONVERGEBENCH_CACHE")
    if named:
        try:
            return Path(named).expanduser()
        except RuntimeError as error:
            raise StudyError(f"CONVERGEBENCH_CACHE={named}: {error}; name a folder") from error
    from platformdirs import user_cache_path

    return user_cache_path("convergebench", appauthor=False)
