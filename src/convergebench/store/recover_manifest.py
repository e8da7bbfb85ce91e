"""The manifest of a damaged run: its intact parts, with the rest filled in from the journal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from convergebench.errors import StudyError
from convergebench.store.manifest import Manifest, read_manifest
from convergebench.store.manifest_model import faults, load_document
from convergebench.store.salvage import Salvage
from convergebench.store.step_keys import UNKNOWN

_TRIES = 1000


StudyFaults = Callable[[Mapping[str, Any]], list[tuple[tuple[str, ...], str]]]
"""Gives the paths of invalid values in a study, each with the reason."""


def recovered_manifest(root: Path, found: Salvage, study_faults: StudyFaults) -> tuple[Manifest, list[str]]:
    """The manifest to continue with, and notes for the user."""
    path = root / "manifest.json"
    notes: list[str] = []
    try:
        manifest = read_manifest(path)
    except StudyError as error:
        if "newer convergebench" in str(error):
            raise
        manifest, notes = _valid_parts(path)
    wrong = study_faults(manifest.spec)
    if wrong:
        spec = dict(manifest.spec)
        for place, _ in wrong:
            spec = _without(spec, place)
        manifest = replace(manifest, spec=spec)
        notes.append(f"these values of the study are lost: {', '.join('.'.join(place) for place, _ in wrong)}")
    unknown_editors = sorted({row["editor"] for row in found.rows("steps")} - manifest.editors.keys())
    if unknown_editors:
        facts: dict[str, Any] = {"fingerprint": UNKNOWN, "simulated": False, "deterministic": False}
        manifest = replace(manifest, editors={**manifest.editors, **{name: dict(facts) for name in unknown_editors}})
        notes.append(
            f"who {', '.join(unknown_editors)} is (the fingerprint) is lost; running the same study on the new "
            f"folder restores it if the keys of the steps agree"
        )
    return manifest, notes


def _without(spec: Mapping[str, Any], place: tuple[str, ...]) -> dict[str, Any]:
    """The spec without the value at this path; a list is removed as a whole."""
    name, *rest = place
    inner = spec.get(name)
    if rest and isinstance(inner, Mapping) and rest[0] in inner:
        return {**spec, name: _without(inner, tuple(rest))}
    return {key: value for key, value in spec.items() if key != name}


def _valid_parts(path: Path) -> tuple[Manifest, list[str]]:
    empty = Manifest(
        name=path.parent.name,
        study=UNKNOWN,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        spec={},
        fixed={},
    )
    try:
        content = load_document(path)
    except ValueError as error:
        return empty, [f"manifest.json is lost ({error}): settings, sources and edits are taken from the study"]
    if not isinstance(content, dict):
        return empty, ["manifest.json is lost (it contains no table)"]
    known = vars(empty)
    content = {**known, **{name: value for name, value in content.items() if name in known}}
    lost: list[str] = []
    for _ in range(_TRIES):
        wrong = faults(content)
        if not wrong:
            manifest = Manifest(**content)
            return manifest, [f"these parts of manifest.json are lost: {', '.join(lost)}"] if lost else []
        where = wrong[0].partition(": ")[0]
        lost.append(where)
        _remove(content, where, known)
    return empty, ["manifest.json is lost (too much of it is damaged)"]


def _remove(content: dict[str, Any], where: str, known: dict[str, Any]) -> None:
    """Remove a faulty entry from its table, or reset a whole part to its default."""
    part, _, rest = where.partition(".")
    table = content.get(part)
    if isinstance(table, dict) and part != "fixed":
        # names may hold dots themselves
        names = [name for name in table if rest == name or rest.startswith(f"{name}.")]
        if names:
            content[part] = {name: value for name, value in table.items() if name != max(names, key=len)}
            return
    content[part] = known.get(part)
