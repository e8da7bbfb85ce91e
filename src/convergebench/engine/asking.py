"""Filling in metrics that are asked for: comparisons × metrics − measurements over a run, or loose files."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convergebench.engine.asker import Asker, Matter, asked_fingerprint
from convergebench.engine.progress import Progress
from convergebench.engine.retry import RetryPolicy
from convergebench.errors import StudyError
from convergebench.ids import image_id
from convergebench.metrics.base import Reading
from convergebench.metrics.judged._asked import AskedMetric
from convergebench.roles.base import Role
from convergebench.store.journal import Journal, Row
from convergebench.store.run import Run


@dataclass(frozen=True)
class Asked:
    """How asking ended."""

    added: int = 0
    """Rows that were written; a value that cannot be had is a row with a status."""
    failed: int = 0
    """Comparisons without an answer after all attempts; the next measuring asks again."""
    stopped: str | None = None
    """Why it ended before its time, or None."""


def ask_missing(
    run: Run,
    metrics: Sequence[AskedMetric],
    roles: Mapping[str, Role],
    *,
    max_cost: float | None = None,
    retry: RetryPolicy | None = None,
    progress: Progress | None = None,
) -> Asked:
    """Fill in what is missing; measurements are written as answers come."""
    return asyncio.run(fill_in(asker_of(run, roles, max_cost=max_cost, retry=retry, progress=progress), run, metrics))


def asker_of(run: Run, roles: Mapping[str, Role], **options: Any) -> Asker:
    """An asker over a run's stored pictures; its `stop` ends `fill_in` without loss."""

    async def read(image: str) -> bytes:
        file, _, _, _ = run.journal.image(image)
        try:
            return await run.images.in_thread(run.images.read, file)
        except OSError as error:
            raise StudyError(f"cannot read {file}: {error.strerror}; cbench verify {run.root} says more") from error

    return Asker(run.journal, read, roles, **options)


async def fill_in(asker: Asker, run: Run, metrics: Sequence[AskedMetric]) -> Asked:
    """The same for a caller with an event loop of its own."""
    identities = {metric.facts.name: asked_fingerprint(metric, asker.roles) for metric in metrics}
    wanted = list(_missing(run, metrics, identities))
    asker.progress.chains += len(wanted)
    asker.progress.steps += sum(len(lacking) for _, _, lacking in wanted)
    added = 0

    async def done(index: int, readings: dict[str, Reading]) -> None:
        nonlocal added
        comparison = wanted[index][0]
        rows: list[Row] = [
            ("measurements", (comparison, name, "none", identities[name], *reading))
            for name, reading in readings.items()
        ]
        await run.journal.commit(rows)
        added += len(rows)
        asker.progress.chains_done += 1
        asker.progress.steps_done += len(rows)

    failed = await asker.each([(matter, lacking) for _, matter, lacking in wanted], done)
    return Asked(added, failed, asker.stopped)


def _missing(
    run: Run, metrics: Sequence[AskedMetric], identities: Mapping[str, str]
) -> Iterator[tuple[str, Matter, list[AskedMetric]]]:
    """Comparisons with the metrics that lack a value."""
    have: set[tuple[str, str]] = set()
    query = "select comparison from measurements where metric = ? and align = 'none' and fingerprint = ?"
    for name, identity in identities.items():
        have.update((row[0], name) for row in run.journal.rows(query, (name, identity)))
    # the words of a step with what its editor thought, and beside an undoing those of the edit that it undoes
    rows = run.journal.rows(
        """select k.id, k.role, k.subject, k.reference, k.via, k.operation, s.instruction, s.reasoning,
             f.instruction
           from comparisons k
           left join chain_steps p on p.editor = k.editor and p."case" = k."case" and p.position = k.step
           left join steps s on s.id = p.step
           left join comparisons d on k.role = 'backward' and d.role = 'forward' and d.editor = k.editor
             and d."case" = k."case" and d.round = k.round and d.subject = k.via and d.reference = k.reference
           left join chain_steps q on q.editor = d.editor and q."case" = d."case" and q.position = d.step
           left join steps f on f.id = q.step
           order by k.editor, k."case", k.step, k.id"""
    )
    seen: set[str] = set()
    for identity, role, subject, reference, via, operation, instruction, reasoning, forward in list(rows):
        if identity in seen:  # two forward edits of a round may have given the same picture
            continue
        seen.add(identity)
        lacking = [
            metric
            for metric in metrics
            if metric.concerns(role, operation) and (identity, metric.facts.name) not in have
        ]
        if lacking:
            pictures = {"subject": subject, "reference": reference, "via": via}
            matter = Matter(
                role,
                {name: image for name, image in pictures.items() if image is not None},
                {"instruction": instruction or "", "forward": forward or "", "reasoning": reasoning or ""},
                operation,
            )
            yield identity, matter, lacking


def ask_files(
    files: Sequence[Path],
    metrics: Sequence[AskedMetric],
    roles: Mapping[str, Role],
    *,
    references: Mapping[Path, Path],
    instruction: str = "",
    **options: Any,
) -> list[dict[str, Reading]]:
    """Readings of pictures that belong to no run, file by file; what got no answer has the status `no-answer`.

    A metric that rates single pictures rates them; one that judges a step looks at the reference as the picture before
    and at the file as what `instruction` made of it.
    """
    progress: Progress = options.setdefault("progress", Progress())
    found: list[dict[str, Reading]] = [{} for _ in files]
    where: dict[str, Path] = {}
    wanted: list[tuple[int, Matter, list[AskedMetric]]] = []
    for index, file in enumerate(files):
        pictures = {"subject": _identity(file, where)}
        if file in references:
            pictures["reference"] = _identity(references[file], where)
        for kind in ("return", "forward"):
            fitting = [metric for metric in metrics if _kind_of(metric) == kind]
            if fitting:
                wanted.append((index, Matter(kind, pictures, {"instruction": instruction}), fitting))

    progress.chains += len(wanted)
    progress.steps += sum(len(fitting) for _, _, fitting in wanted)

    async def read(image: str) -> bytes:
        return await asyncio.to_thread(_bytes, where[image])

    async def done(index: int, readings: dict[str, Reading]) -> None:
        found[wanted[index][0]] |= readings
        progress.chains_done += 1
        progress.steps_done += len(readings)

    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "asked.sqlite")
        try:
            asker = Asker(journal, read, roles, **options)
            asyncio.run(asker.each([(matter, fitting) for _, matter, fitting in wanted], done))
        finally:
            journal.close()
    lost = Reading(None, "no-answer", asker.stopped or progress.note)
    return [{metric.facts.name: readings.get(metric.facts.name, lost) for metric in metrics} for readings in found]


def _kind_of(metric: AskedMetric) -> str:
    """As what kind of comparison a loose file is asked about."""
    kind = next((kind for kind in ("return", "forward") if kind in metric.rubrics), None)
    if kind is None:
        raise StudyError(f"{metric.facts.name} looks at a round of a chain; give a run instead of loose files")
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
