"""A study as a command names it: the file, with what the command says in place of the file's own values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from convergebench.documents import fault_in
from convergebench.editors.find import canonical
from convergebench.edits.pairs import choose_pairs
from convergebench.errors import StudyError
from convergebench.studies.spec import StudySpec, parse_spec

WITHOUT_PAIRS = ("replicate", "audit", "session", "factory", "restoration")
"""Built-in studies whose instructions come from elsewhere."""


def require_names(*paths: Path) -> None:
    """Names that go into the manifest and the journal must be Unicode, which names of files need not be."""
    for path in paths:
        fault = fault_in(str(path))
        if fault:
            raise StudyError(f"{str(path)!a}: {fault}; choose another name")


def with_changes(
    spec: StudySpec,
    *,
    editors: Sequence[str | dict[str, Any]] = (),
    suite: str | None = None,
    rounds: int | None = None,
    limit: int | None = None,
    partial: bool | None = None,
    metrics: Sequence[str] = (),
    align: str | None = None,
    pairs: Sequence[str] = (),
    difference: float | None = None,
    where: str = "flags",
) -> StudySpec:
    """The study with these values in place of its own; what is not given stays."""
    content: dict[str, Any] = spec.model_dump(mode="json", by_alias=True)
    if editors:
        # an editor of the study keeps its options and settings, by whichever of its names it is called
        own = {canonical(entry["name"]): entry for entry in content["editors"]}
        own |= {entry["name"]: entry for entry in content["editors"]}
        content["editors"] = [
            own.get(one) or own.get(canonical(one), one) if isinstance(one, str) else one for one in editors
        ]
    if suite is not None:
        # the study's limit was chosen for its own suite
        content["images"] |= {"suite": suite, "limit": 0}
    if limit is not None:
        content["images"]["limit"] = limit
    if partial is not None:
        content["images"]["partial"] = partial
    if rounds is not None:
        word = next((word for word in ("rounds", "steps") if word in content[spec.study]), None)
        if word is None:
            raise StudyError(f"the study '{spec.study}' has no rounds; leave out --rounds")
        content[spec.study][word] = rounds
    if pairs:
        if spec.study in WITHOUT_PAIRS:
            raise StudyError(f"the study '{spec.study}' has no edit pairs; leave out --pair")
        content["edits"]["pairs"] = list(choose_pairs(spec.edits.pairs, pairs))
    if metrics:
        content["measure"]["metrics"] = list(metrics)
    if align:
        content["measure"]["align"] = align
    if difference is not None:
        content["until"] = {**content.get("until", {}), "difference": difference}
    return parse_spec(content, where=where)
