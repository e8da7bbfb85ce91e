"""Merging runs of one study into a new one: every row and picture of all of them, or a reason why not.

Runs may share chains if these agree as far as both go. What differs under one key (a step with another picture, an
editor with another fingerprint) is refused. A call that was paid in two runs was paid twice, so both rows are kept; the
same row in two copies of one run is one call.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from convergebench.errors import ChangedMeaning, StudyError
from convergebench.store.images import read_image
from convergebench.store.journal import Journal
from convergebench.store.labels import EVIDENCE
from convergebench.store.lock import require_unlocked
from convergebench.store.manifest import Manifest, grow, read_manifest, write_manifest
from convergebench.store.rating_book import FOLDER as BOOKS
from convergebench.store.records import Records
from convergebench.store.rubrics import FOLDER as RUBRICS
from convergebench.store.run import require_run
from convergebench.store.tables import (
    TABLES,
    AttemptRow,
    CaseRow,
    ChainStatusRow,
    ChainStepRow,
    ImageRow,
    MeasurementRow,
    StepRow,
    TableRow,
)

AT_ONCE = 5000
SLACK = 1e-6
"""How much the values of two machines may differ."""
_SHOWN = 3
_CHECKED = (ImageRow, CaseRow, StepRow, ChainStepRow, ChainStatusRow, AttemptRow)
"""Tables with a rule of their own; of others a row whose key is there already is left out."""
R = TypeVar("R", bound=TableRow)


@dataclass
class Merged:
    """What a merged run holds."""

    chains: int = 0
    dollars: float = 0.0
    shared: int = 0
    """Chains that more than one run had."""
    notes: list[str] = field(default_factory=list)


def merge_runs(roots: Sequence[Path], out: Path, name: str, session: dict[str, Any]) -> Merged:
    """Write the runs as one into the empty folder `out`; `name` is the name of the new run."""
    for root in roots:
        require_run(root)
        require_unlocked(root)
    manifest, merged = _manifest(roots, name, session), Merged()
    with ExitStack() as held:
        runs = {root: held.enter_context(closing(Records(root / "run.sqlite"))) for root in roots}
        for records in runs.values():
            records.freeze()
        merging = _Merging(runs, merged)
        rows = merging.checked()
        _copy_images(merging, out)
        with closing(Journal(out / "run.sqlite")) as journal:
            _write(journal, rows)
            for table in TABLES.values():
                if table not in _CHECKED:
                    for records in runs.values():
                        _write(journal, records.table(table))
            merged.dollars = journal.dollars()
            _note_differences(list(runs.values()), journal, merged)
    for folder in (EVIDENCE, RUBRICS):
        _copy_folder(roots, out, folder)
    merged.notes += [f"ratings under way in {root / BOOKS} stay there" for root in roots if (root / BOOKS).is_dir()]
    write_manifest(out / "manifest.json", manifest)
    os.sync()  # once for all copied files: syncing each would take minutes
    return merged


def _manifest(roots: Sequence[Path], name: str, session: dict[str, Any]) -> Manifest:
    manifests = [read_manifest(root / "manifest.json") for root in roots]
    merged = manifests[0]
    for root, other in zip(roots[1:], manifests[1:], strict=True):
        try:
            merged = grow(merged, other)
        except ChangedMeaning as error:
            found = [line.strip() for line in str(error).splitlines()[1:]]
            more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            cure = "; rename one: cbench rename" if any(line.startswith("editor ") for line in found) else ""
            raise StudyError(
                f"{roots[0]} and {root} cannot be merged, they differ in {'; '.join(found[:_SHOWN])}{more}{cure}"
            ) from error
    created = datetime.now(UTC).isoformat(timespec="seconds")
    entry = {**session, "merged": [str(root) for root in roots]}
    return replace(merged, name=name, created=created, sessions=[*merged.sessions, entry])


class _Merging:
    """Rows of all runs under one key, held against each other."""

    def __init__(self, runs: dict[Path, Records], merged: Merged) -> None:
        self.runs, self.merged = runs, merged
        self.images: dict[str, tuple[Path, ImageRow]] = {}

    def checked(self) -> list[TableRow]:
        """The rows of the tables that have a rule; `StudyError` where two runs contradict each other."""
        for root, records in self.runs.items():
            for image in records.table(ImageRow):
                self.images.setdefault(image.id, (root, image))
        cases = self._agreeing(CaseRow, lambda row: row.id, lambda row: row, "case")
        # the name of an editor is no part of a step's key: one editor may have two names
        steps = self._agreeing(StepRow, lambda row: row.id, lambda row: (row.status, row.image), "step")
        chains, positions = self._chains()
        return [
            *(image for _, image in self.images.values()),
            *(*cases, *steps, *self._attempts(), *positions, *chains),
        ]

    def _agreeing(self, table: type[R], key: Any, content: Any, what: str) -> list[R]:
        found: dict[Any, tuple[Path, R]] = {}
        for root, records in self.runs.items():
            for row in records.table(table):
                first, before = found.setdefault(key(row), (root, row))
                if content(before) != content(row):
                    raise StudyError(
                        f"{first} and {root} cannot be merged: {what} {self._named(records, row)} has other content in "
                        "each; leave one of the runs out"
                    )
        return [row for _, row in found.values()]

    @staticmethod
    def _named(records: Records, row: TableRow) -> str:
        if not isinstance(row, StepRow):
            return str(getattr(row, "id", ""))
        place = next(records.table(ChainStepRow, "where step = ?", (row.id,)), None)
        return f"{place.position} of {place.editor} on '{place.case}'" if place else row.id

    def _chains(self) -> tuple[list[ChainStatusRow], list[ChainStepRow]]:
        """Of a chain that several runs have, the one that came furthest."""
        found: dict[tuple[str, str], tuple[Path, ChainStatusRow, list[ChainStepRow]]] = {}
        for root, records in self.runs.items():
            steps: dict[tuple[str, str], list[ChainStepRow]] = {}
            for position in records.table(ChainStepRow, 'order by editor, "case", position'):
                steps.setdefault((position.editor, position.case), []).append(position)
            for key, chain in records.chains().items():
                own = steps.get(key, [])
                if key not in found:
                    found[key] = (root, chain, own)
                    continue
                self.merged.shared += 1
                first, before, others = found[key]
                if any(one.step != other.step for one, other in zip(own, others, strict=False)):
                    raise StudyError(
                        f"{first} and {root} cannot be merged: the chain of {key[0]} on '{key[1]}' went another way in "
                        "each; rename one editor (cbench rename), or leave one of the runs out"
                    )
                if (len(own), chain.status == "finished") > (len(others), before.status == "finished"):
                    found[key] = (root, chain, own)
        self.merged.chains = len(found)
        return [chain for _, chain, _ in found.values()], [one for *_, steps in found.values() for one in steps]

    def _attempts(self) -> Iterator[AttemptRow]:
        """Every call once; calls of two runs about one step are numbered on."""
        seen: dict[str, list[AttemptRow]] = {}
        for records in self.runs.values():
            for row in records.table(AttemptRow, "order by step, attempt"):
                known = seen.setdefault(row.step, [])
                if any(replace(one, attempt=row.attempt) == row for one in known):
                    continue
                number = row.attempt if row.attempt not in {one.attempt for one in known} else 0
                kept = replace(row, attempt=number or 1 + max(one.attempt for one in known))
                known.append(kept)
                yield kept


def _note_differences(runs: Sequence[Records], journal: Journal, merged: Merged) -> None:
    """Values of one comparison that two runs measured differently; the first run's are kept."""
    if not merged.shared:
        return
    kept = {(row.comparison, row.metric, row.align, row.fingerprint): row for row in journal.table(MeasurementRow)}
    differ = 0
    for records in runs:
        for row in records.table(MeasurementRow):
            first = kept[row.comparison, row.metric, row.align, row.fingerprint]
            differ += first.status != row.status or abs((first.value or 0.0) - (row.value or 0.0)) > SLACK
    if differ:
        merged.notes.append(f"{differ} values of shared chains differ between the runs; those of the first are kept")


def _copy_images(merging: _Merging, out: Path) -> None:
    for root, image in merging.images.values():
        path = out / image.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(read_image(root, image.file, image.id))


def _copy_folder(roots: Sequence[Path], out: Path, folder: str) -> None:
    for root in roots:
        for file in sorted(path for path in (root / folder).glob("*") if path.is_file() and not path.is_symlink()):
            target = out / folder / file.name
            if target.exists() and target.read_bytes() != file.read_bytes():
                raise StudyError(f"{file} and that of another run have one name and other content; rename one")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)


def _write(journal: Journal, rows: Any) -> None:
    rest = iter(rows)
    while several := list(islice(rest, AT_ONCE)):
        journal.commit_now(several)
