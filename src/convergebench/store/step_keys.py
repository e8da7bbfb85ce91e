"""Checking step keys: a key is the hash of the step's history and of its editor's fingerprint."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from convergebench.ids import step_id

UNKNOWN = "unknown"
"""The fingerprint of an editor (or the name of a study) in a recovered run whose manifest was lost. The next command
that knows it fills it in, if the keys of the steps agree."""


def key_fault(step: Mapping[str, Any], editors: Mapping[str, Mapping[str, Any]]) -> str:
    """What is wrong with a step's key, given the manifest's editors; empty if it is valid."""
    editor = step["editor"]
    if editor not in editors:
        return f"step {step['id']} is by '{editor}', which is not in the manifest"
    fingerprint = editors[editor]["fingerprint"]
    if fingerprint == UNKNOWN or fingerprint_fits(step, fingerprint):
        return ""
    return f"step {step['id']} has a different history than its key says"


def fingerprint_fits(step: Mapping[str, Any], fingerprint: str) -> bool:
    """Whether this step's key was made with this fingerprint."""
    settings = json.loads(step["settings"])
    history = {name: step[name] for name in ("parent", "instruction", "replicate")}
    try:
        key = step_id(**history, settings=settings, fingerprint=fingerprint, draw=step.get("draw", 0))
    except ValueError:  # settings with a number that is not finite
        return False
    return bool(step["id"] == key)
