"""Groups of editors that a user names, compared on a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from convergebench.analysis.groups import compare_groups, group_sentences
from convergebench.conductor.alignment import check_alignment
from convergebench.conductor.analyse import analyse_run
from convergebench.errors import StudyError
from convergebench.registry import suggest


class Grouped(NamedTuple):
    """What was found, as sentences and as rows for JSON."""

    sentences: list[str]
    rows: list[dict[str, Any]]


def read_groups(texts: Sequence[str], editors: Sequence[str]) -> dict[str, list[str]]:
    """Groups from `NAME=EDITOR,EDITOR`; refuses unknown editors and one that is in two groups."""
    groups: dict[str, list[str]] = {}
    owner: dict[str, str] = {}
    for text in texts:
        name, _, members = text.partition("=")
        names = [one.strip() for one in members.split(",") if one.strip()]
        if not name.strip() or not names:
            raise StudyError(f"--group '{text}' is not NAME=EDITOR,EDITOR; type, for example: --group reasoning=a,b")
        if name.strip() in groups:
            raise StudyError(f"group '{name.strip()}' is given twice; name all its editors in one --group")
        for editor in names:
            if editor not in editors:
                raise StudyError(f"the run has no editor '{editor}'{suggest(editor, editors)}")
            if editor in owner:
                raise StudyError(f"editor '{editor}' is in two groups; leave it in one")
            owner[editor] = name
        groups[name.strip()] = names
    if len(groups) < 2:
        raise StudyError("one group has nothing to be compared with; give two: --group one=a,b --group other=c")
    return groups


def grouped(root: Path, texts: Sequence[str], align: str | None = None) -> Grouped:
    """The comparison of groups of editors in a run."""
    run = analyse_run(root, check_alignment(align))
    if "until" in run.context.results:
        raise StudyError(f"{root} was stopped when its question was decided; groups need a run of a fixed size")
    groups = read_groups(texts, run.context.chains["editor"].unique(maintain_order=True).to_list())
    found = compare_groups(run.context, groups)
    if not found:
        return Grouped(["The groups cannot be compared: their editors have no case in common that was scored."], [])
    rows = [{key: _plain(value) for key, value in one._asdict().items()} for one in found]
    return Grouped(group_sentences(found, run.context.settings), rows)


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
