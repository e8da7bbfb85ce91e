"""`until.json`: the question of a run that is made until it is decided, and the look it is on its way to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from convergebench.errors import StudyError
from convergebench.store.images import write_synced

FILE = "until.json"
FORMAT = 1


def read_until(root: Path) -> dict[str, Any] | None:
    """`{"question": …, "look": images of the look that comes next}`; None for a run without a question."""
    path = root / FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, OSError) as error:
        raise StudyError(f"{path} cannot be read ({error}); restore it from a backup") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT or not isinstance(content["question"], dict):
        raise StudyError(f"{path} is damaged, or was written by a newer convergebench; restore it from a backup")
    return content


def write_until(root: Path, question: Mapping[str, Any], look: int) -> None:
    """Replace the file atomically."""
    content = {"format": FORMAT, "question": dict(question), "look": look}
    write_synced(root / FILE, json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False).encode())
