"""Which alignment a command uses, and what to type where sizes prevented values."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import get_args

from convergebench.errors import StudyError
from convergebench.images.align import AlignMode
from convergebench.registry import suggest
from convergebench.store.manifest import read_manifest
from convergebench.store.queries.measuring import images_of_other_size
from convergebench.store.records import Records
from convergebench.store.run import is_complete
from convergebench.studies.spec import StudySpec

MODES = "auto, strict, fit or crop-aware"


def check_alignment(align: str | None) -> AlignMode | None:
    """The alignment as given, or one line that says which there are."""
    if align is None:
        return None
    for mode in get_args(AlignMode):
        if mode == align:
            return mode  # type: ignore[no-any-return]
    raise StudyError(f"unknown alignment '{align}'{suggest(align, get_args(AlignMode))} (there are: {MODES})")


def alignment_for(spec: StudySpec, given: AlignMode | None, root: Path) -> AlignMode:
    """As given, else as the study file says, else as the run that is there was begun, else the default."""
    if given is not None:
        return given
    said = "measure" in spec.model_fields_set and "align" in spec.measure.model_fields_set
    if said or not is_complete(root):
        return spec.measure.align
    manifest = read_manifest(root / "manifest.json")
    return check_alignment(manifest.align) or spec.measure.align if manifest.metrics else spec.measure.align


def sizes_note(run: Path, align: str) -> str:
    """Which pictures have no value because alignment is strict, and what to type, in one line; else nothing."""
    if align != "strict":
        return ""
    with closing(Records(run / "run.sqlite")) as records:
        pictures = images_of_other_size(records)
    if not pictures:
        return ""
    has = "picture has" if pictures == 1 else "pictures have"
    return (
        f"{pictures:,} {has} a different size than the source and no value under strict; to measure them as well: "
        f"cbench measure {run} --align auto"
    )
