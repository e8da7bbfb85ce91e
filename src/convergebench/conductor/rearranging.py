"""Renaming an editor of a run, and merging runs of one study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from convergebench.conductor.study import require_names
from convergebench.conductor.until_question import require_not_stopped
from convergebench.datasets.atomic import require_free, whole_folder
from convergebench.documents import fault_in
from convergebench.errors import StudyError
from convergebench.registry import suggest
from convergebench.store.manifest import command_line, session
from convergebench.store.merge import Merged, merge_runs
from convergebench.store.rename import rename_editor
from convergebench.store.run import Run
from convergebench.store.verify import problems


def rename(root: Path, old: str, new: str) -> int:
    """Give an editor of a run another name; returns how many chains it has."""
    if not new.strip() or new != new.strip() or new.startswith("role:"):
        raise StudyError(f"'{new}' is no name for an editor; give a word such as model-2")
    fault = fault_in(new)
    if fault or not new.isprintable():
        raise StudyError(f"{new!a}: {fault or 'it has a character that cannot be shown'}; choose another name")
    if old == new:
        raise StudyError(f"'{old}' is its name already")
    with Run.existing(root) as run:
        known = run.manifest.editors
        if old not in known:
            raise StudyError(
                f"{root} has no editor '{old}'{suggest(old, known)} (it has: {', '.join(known) or 'none'})"
            )
        return rename_editor(run, old, new, session(command_line()))


def merge(roots: Sequence[Path], into: Path) -> Merged:
    """Merge runs of one study into a new folder; none of them is changed."""
    if len(roots) < 2:
        raise StudyError("give at least two runs to merge")
    where = [root.resolve() for root in roots]
    for place, root in enumerate(where):
        if root in where[:place]:
            raise StudyError(f"{roots[place]} is named twice")
        if root == into.resolve() or root in into.resolve().parents:
            raise StudyError(f"--into {into} lies in {roots[place]}; name a new folder")
    for root in roots:
        require_not_stopped(root, "a merged run")
    require_names(into)
    require_free(into, "--into")
    with whole_folder(into, flag="--into") as folder:
        merged = merge_runs(roots, folder, into.resolve().name, session(command_line()))
        found = problems(folder)
        if found:
            raise StudyError(f"nothing was merged, a run is damaged: {found[0]}; see: cbench verify {roots[0]}")
    return merged
