"""Submitting a run to a leaderboard: its result bundle as one file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from convergebench.conductor.until_question import require_not_stopped
from convergebench.documents import fault_in
from convergebench.errors import StudyError
from convergebench.leaderboard.checking import check_bytes
from convergebench.leaderboard.layout import SUFFIX
from convergebench.leaderboard.signing import read_key
from convergebench.leaderboard.submission import Submission, SubmitOptions, SubmitterFacts, make_bundle
from convergebench.redaction import redact
from convergebench.report.output import write_whole
from convergebench.store.run import require_run
from convergebench.texts import plain_line

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Submitter:
    """Who submits and how, as typed."""

    name: str = ""
    contact: str = ""
    key: Path | None = None
    challenge: str = ""


def submit(
    run: Path, submitter: Submitter, into: Path | None = None, *, dry_run: bool = False
) -> tuple[Submission, Path]:
    """Make the bundle of a run and write it, unless this is a dry run; returns it and its path."""
    require_run(run)
    require_not_stopped(run, "the leaderboard")
    target = into or Path(f"{run.resolve().name}{SUFFIX}")
    _require_target(target)
    words = {
        "--by": submitter.name,
        "--contact": submitter.contact,
        "--challenge": submitter.challenge,
    }
    for flag, text in words.items():
        if fault := fault_in(text) or ("" if len(text) <= _LONGEST else f"is longer than {_LONGEST} characters"):
            raise StudyError(f"{flag}: {fault}")
        if redact(text) != text:
            raise StudyError(f"{flag} holds what looks like a key of yours; nothing was written")
    key = read_key(submitter.key) if submitter.key is not None else None
    facts = SubmitterFacts(plain_line(submitter.name), plain_line(submitter.contact))
    made = make_bundle(run, SubmitOptions(facts, key, submitter.challenge))
    faults = check_bytes(target.name, made.data, measure_again=False).faults
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise StudyError(f"{run} would not be accepted: {faults[0]}{more}; nothing was written")
    if not dry_run:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, made.data)
    return made, target


def _require_target(target: Path) -> None:
    if target.is_dir():
        raise StudyError(f"--into {target} is a folder; name a file, e.g. --into {target / f'run{SUFFIX}'}")
    if target.suffix.lower() != ".zip":
        raise StudyError(f"--into {target}: a bundle is a zip file; name it e.g. {target.stem}{SUFFIX}")
