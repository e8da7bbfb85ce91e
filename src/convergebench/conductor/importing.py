"""Importing chains that somebody else made into a run: nothing is called, fetched or re-encoded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from convergebench.conductor.begin import begin
from convergebench.conductor.editing import edit, note_failures
from convergebench.conductor.observer import Observer
from convergebench.conductor.study import require_names
from convergebench.datasets.layouts import read_chains
from convergebench.datasets.recordings import ImportChoices, prepare_recordings
from convergebench.engine.prepared import Prepared
from convergebench.errors import StudyError
from convergebench.progress import Progress
from convergebench.registry import suggest
from convergebench.store.manifest import Manifest, read_manifest
from convergebench.store.records import Records
from convergebench.store.run import Run, is_complete
from convergebench.studies.restoration_table import DEGRADATIONS, SCENES
from convergebench.texts import one_line
from convergebench.types import KINDS, Kind


@dataclass(frozen=True)
class ImportOptions:
    """What a set does not say itself."""

    layout: str = "auto"
    editor: str | None = None
    """Who made the chains; in a set that says so: only this editor's chains."""
    images: Path | None = None
    """Folder with pictures that the set only names."""
    kind: str | None = None
    """What the pictures show."""
    variant: str | None = None
    """The variant whose words were asked."""
    limit: int | None = None
    skip_broken: bool = False


@dataclass(frozen=True)
class Imported:
    """What came of an import."""

    chains: int
    """Whole chains that are in the run now."""
    edits: int
    editors: tuple[str, ...]
    study: str
    failed: int
    left_out: tuple[str, ...]
    """Broken chains, each with what is wrong."""
    stopped: str | None = None
    interrupted: bool = False


def import_chains(
    source: Path, root: Path, options: ImportOptions | None = None, observer: Observer | None = None
) -> Imported:
    """Import a folder or a table of chains into a run, new or there already."""
    options, observer = options or ImportOptions(), observer or Observer()
    require_names(root, source)
    if options.images is not None and not options.images.is_dir():
        raise StudyError(f"--images {options.images} is not a folder")
    there, known = _already_there(root)
    name, why, found = read_chains(source, options.layout, options.images, run=root if there else None)
    observer.say(one_line(f"read as {name}: {why}; {len(found.chains)} chains"))
    for note in found.notes:
        observer.say(one_line(f"note    {note}"))
    choices = ImportChoices(options.editor, _kind(options.kind), options.variant, options.limit)
    reading = Progress()
    with observer.watch("reading", reading, unit="images"):
        prepared = prepare_recordings(
            found.chains, choices, there=there, known=known, faults=found.faults, progress=reading
        )
    _require_whole(prepared.left_out, len(prepared.chains), skip_broken=options.skip_broken)
    with Run.create(root) as run:
        begin(run, prepared)
        ended = edit(run, prepared, observer=observer, stage="importing", unit="images")
        failed = note_failures(run, observer, {(chain.editor, chain.case.id) for chain in prepared.chains})
    if ended.stopped is None and prepared.left_out:
        lines = [one_line(line) for line in prepared.left_out]
        (root / "left-out.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    whole = [chain for chain in prepared.chains if (chain.editor, chain.case.id) not in failed]
    return Imported(
        chains=len(whole),
        edits=sum(chain.study.calls(chain.case) for chain in whole) - _missing(prepared),
        editors=tuple(prepared.editors),
        study=prepared.study,
        failed=len(failed),
        left_out=prepared.left_out,
        stopped=ended.stopped,
        interrupted=ended.interrupted,
    )


def _missing(prepared: Prepared) -> int:
    """Restorations that were not delivered: they are no recordings."""
    return 0 if prepared.study != "restoration" else len(prepared.chains) - len(prepared.recordings)


def _require_whole(left_out: Sequence[str], others: int, *, skip_broken: bool) -> None:
    if left_out and not skip_broken:
        more = f" and {len(left_out) - 1} more" if len(left_out) > 1 else ""
        raise StudyError(
            f"{left_out[0]}{more}; nothing was imported. Fix the data set, or import the other {others} chains with "
            "--skip-broken"
        )


def _kind(word: str | None) -> Kind | None:
    if word is None:
        return None
    known = (*KINDS, *SCENES, *DEGRADATIONS)
    if word in known:
        return word
    raise StudyError(
        f"--kind {word} is not one of {', '.join(KINDS)} or of the kinds of restoration{suggest(word, known)}"
    )


def _already_there(root: Path) -> tuple[Manifest | None, frozenset[str]]:
    """The manifest of a run that is there, and the images it holds."""
    if not is_complete(root):
        return None, frozenset()
    records = Records(root / "run.sqlite")
    try:
        return read_manifest(root / "manifest.json"), frozenset(records.images())
    finally:
        records.close()
