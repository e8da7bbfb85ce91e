"""A chain as detectors see it: read from the journal as plain values, opened in a worker process as pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import cast

from convergebench.errors import StudyError
from convergebench.failures.base import ChainView, Compared, StepView
from convergebench.images.decode import decode
from convergebench.images.frame import Frame, Pixels
from convergebench.store.images import ImageReader, open_images
from convergebench.store.queries.examining import cases_by_id, chain_steps, comparisons_of
from convergebench.store.records import Records
from convergebench.types import Operation

RESTORED = "restored"
"""The role of comparisons of a restoration, with the clean picture or by itself; step 0 is the degraded picture."""
KEPT_BYTES = 256 * 2**20
"""Bytes of decoded pictures of one chain that a worker caches for the next detector."""


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One picture of a chain; index 0 is the source."""

    index: int
    image: str
    file: str
    """Relative to the run directory."""
    instruction: str
    operation: Operation | None
    orientation: Operation | None
    compared: Compared
    reasoning: str | None
    parent: int


@dataclass(frozen=True, slots=True)
class CleanRecord:
    """The clean picture that a chain's source is a degraded copy of."""

    image: str
    file: str
    """Relative to the run directory."""


@dataclass(frozen=True, slots=True)
class ChainRecord:
    """Everything the journal holds about a chain, picklable for a worker process."""

    images: ImageReader
    editor: str
    case: str
    source: str
    variant: str
    family: str
    steps: tuple[StepRecord, ...]
    """The source first."""
    history: str
    """Key of the last step, which identifies all steps before it too."""
    restores: bool = False
    clean: CleanRecord | None = None

    @property
    def last(self) -> int:
        """Index of the last picture."""
        return self.steps[-1].index


def read_chains(root: Path, records: Records) -> Iterator[ChainRecord]:
    """Every chain with at least one edited picture; those of one source follow each other."""
    compared = _comparisons(records)
    cases, images, store = cases_by_id(records), records.images(), open_images(root)
    groups = groupby(chain_steps(records), key=lambda row: (row.source, row.editor, row.case, row.status))
    for (image, editor, case, status), group in groups:
        steps = [StepRecord(0, image, images[image].file, "", None, None, "whole", None, 0)]
        positions: dict[str, int] = {}
        history = ""
        for row in group:
            facts = compared.get((editor, case, row.position), {})
            if status == "open" and not facts:
                break  # the run was killed before it recorded this step's comparisons; a resumed run adds them
            positions[row.step] = row.position
            history = row.step
            steps.append(
                StepRecord(
                    *(row.position, row.image, row.file, row.instruction),
                    operation=facts.get("step"),
                    orientation=facts.get("return"),
                    compared=_compared(facts),
                    reasoning=row.reasoning,
                    # a parent that is not a step of this chain is its source
                    parent=positions.get(row.parent, 0),
                )
            )
        if history:
            known = cases[case]
            clean = images.get(known.clean or "")
            yield ChainRecord(
                *(store, editor, case, known.source, known.pair, known.category),
                steps=tuple(steps),
                history=history,
                restores=RESTORED in compared.get((editor, case, 1), {}),
                clean=None if clean is None else CleanRecord(clean.id, clean.file),
            )


def _compared(facts: Mapping[str, Operation | None]) -> Compared:
    if "return" in facts or RESTORED in facts:
        return "whole"
    return "around" if "around" in facts else "no"


def _comparisons(records: Records) -> dict[tuple[str, str, int], dict[str, Operation | None]]:
    """(editor, case, step) → role → operation, for the roles that detectors use."""
    found: dict[tuple[str, str, int], dict[str, Operation | None]] = {}
    for row in comparisons_of(records, "step", "return", "around", RESTORED):
        found.setdefault((row.editor, row.case, row.step), {})[row.role] = cast("Operation | None", row.operation)
    return found


def view_of(record: ChainRecord) -> ChainView:
    """The chain with its pictures, each decoded on first access."""
    gap = next((place for place, step in enumerate(record.steps) if step.index != place), None)
    if gap is not None:
        raise StudyError(f"step {gap} has no picture though later ones have; such a chain cannot be examined")
    pictures = _Pictures(record)
    steps = [
        StepView(
            index=step.index,
            load=pictures.loader(step),
            instruction=step.instruction,
            operation=step.operation,
            orientation=step.orientation,
            compared=step.compared,
            reasoning=step.reasoning,
            parent=step.parent,
        )
        for step in record.steps
    ]
    return ChainView(
        *(record.editor, record.case, record.source, record.variant, record.family, steps, record.restores),
        load_clean=pictures.loader(record.clean) if record.clean else None,
    )


class _Pictures:
    """Caches the pixels of one chain up to `KEPT_BYTES`; every load returns a new frame without derived planes."""

    def __init__(self, record: ChainRecord) -> None:
        self._images = record.images
        self._pixels: dict[str, Pixels] = {}
        self._bytes = 0

    def loader(self, step: StepRecord | CleanRecord) -> Callable[[], Frame]:
        return lambda: Frame(self._load(step), step.image)

    def _load(self, step: StepRecord | CleanRecord) -> Pixels:
        if step.image in self._pixels:
            return self._pixels[step.image]
        data = self._images.read(step.file, step.image)
        pixels = decode(data, what=step.file, alpha="white").pixels
        if self._bytes + pixels.nbytes <= KEPT_BYTES:
            self._pixels[step.image] = pixels
            self._bytes += pixels.nbytes
        return pixels
