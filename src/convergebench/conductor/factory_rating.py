"""The page on which people rate edits of a factory run: chosen, rendered and written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from convergebench.conductor.factory_sample import JudgedEdit, in_order, judged_edits, sample
from convergebench.errors import StudyError
from convergebench.report.output import write_whole
from convergebench.report.rating_page import RatingPage, ShownEdit, rating_page
from convergebench.rubrics.rubric import load_rubric
from convergebench.sheets import guarded
from convergebench.store.frames import RunFrames
from convergebench.store.images import open_images
from convergebench.store.manifest import Manifest, read_manifest
from convergebench.texts import printable

POOLED = "people"
"""The name under which reports put all persons together; nobody else may have it."""
LONGEST_NAME = 60
RUBRIC = "judge-edit"


@dataclass(frozen=True)
class RatingPageWritten:
    """What is on a rating page."""

    path: Path
    edits: int
    accepted: int
    repeated: int
    judged: int
    """How many edits there were to choose from."""
    other_rubric: bool
    """The judge was asked with another version of the rubric than the one whose words the page shows."""


def write_rating_page(root: Path, out: Path, *, count: int = 60, seed: int = 0, rater: str = "") -> RatingPageWritten:
    """Write one page with a blinded sample of the run's judged edits; nothing in the run is changed."""
    if out.is_dir() or out.suffix.lower() not in (".html", ".htm"):
        raise StudyError(f"--out {out}: name a file that ends in .html")
    if rater and (fault := name_fault(rater)):
        raise StudyError(f"--rater '{printable(rater)}': {fault}")
    frames = RunFrames(root)
    try:
        manifest = factory_manifest(root)
        judged = judged_edits(frames)
    finally:
        frames.close()
    if not judged:
        raise StudyError(f"{root} has no judged edits to rate yet; make some with: cbench run STUDY.toml --run {root}")
    chosen = sample(judged, count, seed)
    shown = in_order(chosen, seed)
    rubric = load_rubric(RUBRIC)
    about = RatingPage(run_mark(manifest), rater, rubric.template)
    page = rating_page(about, [_without_verdict(one) for one in shown], open_images(root).read)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_whole(out, page)
    except OSError as error:
        raise StudyError(f"cannot write {out}: {error.strerror or error}") from error
    return RatingPageWritten(
        out,
        len(chosen),
        sum(one.accepted for one in chosen),
        len(shown) - len(chosen),
        len(judged),
        manifest.fixed.get("rubrics", {}).get(RUBRIC, rubric.fingerprint) != rubric.fingerprint,
    )


def _without_verdict(one: JudgedEdit) -> ShownEdit:
    return ShownEdit(*one.place, one.image, one.before, one.after, one.instruction)


def factory_manifest(root: Path) -> Manifest:
    """The manifest of a factory run; `StudyError` for a run of another study."""
    manifest = read_manifest(root / "manifest.json")
    if manifest.study != "factory":
        raise StudyError(f"{root} is a run of the study '{manifest.study}'; only runs of 'factory' have judged edits")
    return manifest


def run_mark(manifest: Manifest) -> str:
    """What a run is called in a file of ratings; copies of a run keep it."""
    return f"{manifest.name} {manifest.created}"


def name_fault(name: str) -> str:
    """What is wrong with a rater's name; empty if nothing is."""
    if not name.strip():
        return "say who rated"
    if name.casefold() == POOLED:
        return f"'{POOLED}' stands for all raters; give another name"
    if guarded(name) != name:
        return "a spreadsheet would take this for a formula; begin with a letter"
    if printable(name) != name or len(name) > LONGEST_NAME:
        return f"give a name of at most {LONGEST_NAME} letters, without line breaks"
    return ""
