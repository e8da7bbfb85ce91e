"""`--align` of every command: which alignment is meant, and what to type where sizes kept values away."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from convergebench.images.align import AlignMode
    from convergebench.studies.spec import StudySpec

MODES = "auto, strict, fit or crop-aware"


def checked(align: str | None) -> AlignMode | None:
    """The alignment as typed, or one line that says which there are."""
    from typing import get_args

    from convergebench.errors import StudyError
    from convergebench.images.align import AlignMode
    from convergebench.registry import suggest

    if align is None:
        return None
    for mode in get_args(AlignMode):
        if mode == align:
            return mode  # type: ignore[no-any-return]
    raise StudyError(f"unknown alignment '{align}'{suggest(align, get_args(AlignMode))} (there are: {MODES})")


def of_run(spec: StudySpec, typed: AlignMode | None, root: Path) -> AlignMode:
    """As typed, else as the study file says, else as the run that is there was begun, else the default."""
    from convergebench.store.manifest import read_manifest
    from convergebench.store.run import is_complete

    if typed is not None:
        return typed
    said = "measure" in spec.model_fields_set and "align" in spec.measure.model_fields_set
    if said or not is_complete(root):
        return spec.measure.align
    manifest = read_manifest(root / "manifest.json")
    return checked(manifest.align) or spec.measure.align if manifest.metrics else spec.measure.align


def tell_sizes(run: Path, align: str) -> None:
    """Which pictures have no value because alignment is strict, and what to type, in one line; else nothing."""
    from convergebench.cli.display import say_beside
    from convergebench.store.journal import Records

    if align != "strict":
        return
    records = Records(run / "run.sqlite")
    try:
        ((pictures,),) = records.rows(
            """select count(*) from (select distinct k.editor, k."case", k.step
               from measurements m join comparisons k on k.id = m.comparison
               where m.align = 'strict' and m.status = 'size' and k.role in ('return', 'around'))"""
        )
    finally:
        records.close()
    if pictures:
        has = "picture has" if pictures == 1 else "pictures have"
        say_beside(
            f"{pictures:,} {has} another size than the source and no value under strict; to measure them too: "
            f"cbench measure {run} --align auto"
        )
