"""A step's key is the hash of its history: whoever changed the history, or is another editor, gives himself away."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from convergebench.ids import step_id

UNKNOWN = "unknown"
"""The fingerprint of an editor (or the name of a study) in a recovered run whose manifest was lost. The next command
that knows it fills it in, if the keys of the steps agree."""


def key_fault(step: Mapping[str, Any], editors: Mapping[str, Mapping[str, Any]]) -> str:
    """What is wrong between a step, its key and the manifest's editors, or nothing."""
    editor = step["editor"]
    if editor not in editors:
        return f"step {step['id']} is by '{editor}', which the manifest does not know"
    fingerprint = editors[editor]["fingerprint"]
    if fingerprint == UNKNOWN or fingerprint_fits(step, fingerprint):
        return ""
    return f"step {step['id']} has another history than its key says"


def fingerprint_fits(step: Mapping[str, Any], fingerprint: str) -> bool:
    """Whether this step's key was made with this fingerprint."""
    settings = json.loads(step["settings"])
    try:
        return bool(
            step["id"]
            == step_id(
                parent=step["parent"],
                instruction=step["instruction"],
                settings=settings,
                fingerprint=fingerprint,
                replicate=step["replicate"],
                draw=step.get("draw", 0),
            )
        )
    except ValueError:  # settings that hold no number where one should be
        return False
