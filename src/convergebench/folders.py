"""Where files that can be had again are kept."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Where kept files live: `$CONVERGEBENCH_CACHE`, else the platform's cache folder."""
    named = os.environ.get("CONVERGEBENCH_CACHE")
    if named:
        return Path(named).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("convergebench", appauthor=False)
