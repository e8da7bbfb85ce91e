"""Asking roles for the missing values of metrics, over the comparisons of a run or over files outside a run."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convergebench.engine.edit_calls import ChainPosition
from convergebench.errors import StudyError
from convergebench.ids import image_id
from convergebench.kinds import measured_as
from convergebench.measuring.asker import AskedComparison, Asker, asked_fingerprint
from convergebench.metrics.base import Reading
from convergebench.metrics.judged._asked import AskedMetric
from convergebench.progress import Progress
from convergebench.roles.base import Role
from convergebench.store.journal import Journal
from convergebench.store.queries.measuring import comparisons_with_words, measured_comparisons
from convergebench.store.run import Run
from convergebench.store.tables import MeasurementRow


@dataclass(frozen=True)
class AskingOutcome:
    """How asking ended."""

    added: int = 0
    """Rows that were written; a value that cannot be had is a row with a status."""
    failed: int = 0
    """Comparisons without an answer after all attempts; the next measuring asks again."""
    stopped: str | None = None
    """Why it ended early, or None."""


def asker_of(run: Run, roles: Mapping[str, Role], **options: Any) -> Asker:
    """An asker for a run's stored pictures; its `stop` ends `fill_in` without loss."""

    async def read(image: str) -> bytes:
        file = run.journal.image_row(image).file
        try:
            return await run.images.in_thread(run.images.read, file)
        except OSError as error:
            raise StudyError(f"cannot read {file}: {error.strerror}; cbench verify {run.root} says more") from error

    return Asker(run.journal, read, roles, **options)


async def fill_in(asker: Asker, run: Run, metrics: Sequence[AskedMetric]) -> AskingOutcome:
    """Ask for every missing value; measurements are written as answers arrive."""
    identities = {metric.facts.name: asked_fingerprint(metric, asker.roles) for metric in metrics}
    requests = list(_missing(run, metrics, identities))
    asker.progress.chains += len(requests)
    asker.progress.steps += sum(len(lacking) for _, _, lacking in requests)
    added = 0

    async def done(index: int, readings: dict[str, Reading]) -> None:
        nonlocal added
        comparison = requests[index][0]
        rows = [
            MeasurementRow(comparison, name, "none", identities[name], *reading) for name, reading in readings.items()
        ]
        await run.journal.commit(rows)
        added += len(rows)
        asker.progress.chains_done += 1
        asker.progress.steps_done += len(rows)

    failed = await asker.each([(about, lacking) for _, about, lacking in requests], done)
    return AskingOutcome(added, failed, asker.stopped)


def _missing(
    run: Run, metrics: Sequence[AskedMetric], identities: Mapping[str, str]
) -> Iterator[tuple[str, AskedComparison, list[AskedMetric]]]:
    """Comparisons with the metrics that lack a value."""
    have = {
        (comparison, name)
        for name, identity in identities.items()
        for comparison in measured_comparisons(run.journal, name, "none", identity)
    }
    for row in comparisons_with_words(run.journal):
        role = measured_as(row.role, has_reference=row.reference is not None)
        lacking = [
            metric
            for metric in metrics
            if metric.concerns(role, row.operation) and (row.id, metric.facts.name) not in have
        ]
        if lacking:
            pictures = {"subject": row.subject, "reference": row.reference, "via": row.via}
            about = AskedComparison(
                role,
                {name: image for name, image in pictures.items() if image is not None},
                {"instruction": row.instruction or "", "forward": row.forward or "", "reasoning": row.reasoning or ""},
                row.operation,
                ChainPosition(row.editor, row.case, row.step),
            )
            yield row.id, about, lacking


def ask_files(
    files: Sequence[Path],
    metrics: Sequence[AskedMetric],
    roles: Mapping[str, Role],
    *,
    references: Mapping[Path, Path],
    instruction: str = "",
    **options: Any,
) -> list[dict[str, Reading]]:
    """Readings of pictures outside a run, file by file; the status `no-answer` marks missing answers.

    A metric that rates single pictures rates them; one that judges a step looks at the reference as the picture before
    and at the file as what `instruction` made of it.
    """
    progress: Progress = options.setdefault("progress", Progress())
    found: list[dict[str, Reading]] = [{} for _ in files]
    where: dict[str, Path] = {}
    requests: list[tuple[int, AskedComparison, list[AskedMetric]]] = []
    for index, file in enumerate(files):
        pictures = {"subject": _identity(file, where)}
        if file in references:
            pictures["reference"] = _identity(references[file], where)
        for kind in ("return", "forward"):
            fitting = [metric for metric in metrics if _kind_of(metric) == kind]
            if fitting:
                requests.append((index, AskedComparison(kind, pictures, {"instruction": instruction}), fitting))

    progress.chains += len(requests)
    progress.steps += sum(len(fitting) for _, _, fitting in requests)

    async def read(image: str) -> bytes:
        return await asyncio.to_thread(_bytes, where[image])

    async def done(index: int, readings: dict[str, Reading]) -> None:
        found[requests[index][0]] |= readings
        progress.chains_done += 1
        progress.steps_done += len(readings)

    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "asked.sqlite")
        try:
            asker = Asker(journal, read, roles, **options)
            asyncio.run(asker.each([(about, fitting) for _, about, fitting in requests], done))
        finally:
            journal.close()
    lost = Reading(None, "no-answer", asker.stopped or progress.note)
    return [{metric.facts.name: readings.get(metric.facts.name, lost) for metric in metrics} for readings in found]


def _kind_of(metric: AskedMetric) -> str:
    """The kind of comparison that a file outside a run is treated as."""
    kind = next((kind for kind in ("return", "forward") if kind in metric.rubrics), None)
    if kind is None:
        raise StudyError(f"{metric.facts.name} needs a round of a chain; give a run instead of files")
    return kind


def _identity(file: Path, where: dict[str, Path]) -> str:
    identity = image_id(_bytes(file))
    where.setdefault(identity, file)
    return identity


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise StudyError(f"cannot read {file}: {error.strerror or error}") from error
