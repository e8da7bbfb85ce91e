"""The heading of a page: the title in the study file, or a plain one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convergebench.report.wording import count

STUDIES = {
    "roundtrip": "Round-trip study",
    "replicate": "Replication study",
    "audit": "Metric audit",
    "factory": "Editing data set",
    "restoration": "Restoration study",
}
"""What a built-in study is called in a heading."""
MOST_NAMED = 3
"""Most editors that a heading names."""


def study_title(manifest: Mapping[str, Any]) -> str:
    """The title that the study file gives; else the kind of study and its editors."""
    given = str((manifest.get("spec") or {}).get("title") or "").strip()
    if given:
        return given
    name = str(manifest.get("study") or "")
    kind = STUDIES.get(name) or (f"Study “{name}”" if name else "Study")
    editors = [str(entry["name"]) for entry in manifest.get("editors") or []]
    if not editors:
        return kind
    return f"{kind} of {', '.join(editors) if len(editors) <= MOST_NAMED else count(len(editors), 'editor')}"
