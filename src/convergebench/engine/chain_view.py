"""A chain as detectors see it: read out of the journal as plain values, opened in a worker as pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from convergebench.errors import StudyError
from convergebench.failures.base import ChainView, Compared, StepView
from convergebench.images.decode import decode
from convergebench.images.frame import Frame, Pixels
from convergebench.store.images import read_image
from convergebench.store.journal import Records
from convergebench.types import Operation

KEPT_BYTES = 256 * 2**20
"""Decoded pictures of one chain that a worker keeps for the next detector; what does not fit is decoded again."""


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One picture of a chain; index 0 is the source."""

    index: int
    image: str
    file: str
    """Relative to the run directory."""
    instruction: str
    operation: Operation | None
    lies: Operation | None
    compared: Compared
    reasoning: str | None
    parent: int


@dataclass(frozen=True, slots=True)
class ChainRecord:
    """All that the journal says of a chain, ready to be sent to a worker."""

    root: str
    editor: str
    case: str
    source: str
    variant: str
    family: str
    steps: tuple[StepRecord, ...]
    """The source first."""
    history: str
    """Key of the last step, which stands for all before it."""

    @property
    def last(self) -> int:
        """Index of the last picture."""
        return self.steps[-1].index


def read_chains(root: Path, records: Records) -> Iterator[ChainRecord]:
    """Every chain with at least one edited picture; those of one source follow each other."""
    told = _comparisons(records)
    cases = {
        case: (source, pair, category, image, file)
        for case, source, pair, category, image, file in records.rows(
            """select c.id, c.source, c.pair, c.category, c.image, i.file
               from cases c join images i on i.id = c.image"""
        )
    }
    rows = records.rows(
        """select c.image, p.editor, p."case", h.status,
             p.position, s.id, s.parent, s.image, i.file, s.instruction, s.reasoning
           from chain_steps p join steps s on s.id = p.step join cases c on c.id = p."case"
           join chains h on h.editor = p.editor and h."case" = p."case" left join images i on i.id = s.image
           where s.status = 'ok' order by c.image, p.editor, p."case", p.position"""
    )
    for (_, editor, case, status), group in groupby(rows, key=lambda row: row[:4]):
        name, pair, category, image, file = cases[case]
        steps = [StepRecord(0, image, file, "", None, None, "whole", None, 0)]
        places: dict[str, int] = {}
        history = ""
        for *_, position, identity, parent, made, path, words, reasoning in group:
            if status == "open" and (editor, case, position) not in told:
                break  # the session was killed before it wrote down what this step is compared with; it will
            places[identity] = position
            history = identity
            facts = told.get((editor, case, position), {})
            steps.append(
                StepRecord(
                    *(position, made, path, words),
                    operation=facts.get("step"),
                    lies=facts.get("return"),
                    compared="whole" if "return" in facts else "around" if "around" in facts else "no",
                    reasoning=reasoning,
                    # a parent that is no step of this chain is its source, whatever key that has
                    parent=places.get(parent, 0),
                )
            )
        if history:
            yield ChainRecord(str(root), editor, case, name, pair, category, tuple(steps), history)


def _comparisons(records: Records) -> dict[tuple[str, str, int], dict[str, Operation | None]]:
    """(editor, case, step) → role → operation, of the roles that tell a detector something."""
    found: dict[tuple[str, str, int], dict[str, Operation | None]] = {}
    query = (
        """select editor, "case", step, role, operation from comparisons where role in ('step', 'return', 'around')"""
    )
    for editor, case, step, role, operation in records.rows(query):
        found.setdefault((editor, case, step), {})[role] = operation
    return found


def view_of(record: ChainRecord) -> ChainView:
    """The chain with its pictures, each decoded when it is asked for."""
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
            lies=step.lies,
            compared=step.compared,
            reasoning=step.reasoning,
            parent=step.parent,
        )
        for step in record.steps
    ]
    return ChainView(record.editor, record.case, record.source, record.variant, record.family, steps)


class _Pictures:
    """Bare pixels of one chain, as many as fit; a frame made of them is new each time, without others' planes."""

    def __init__(self, record: ChainRecord) -> None:
        self._root = Path(record.root)
        self._pixels: dict[str, Pixels] = {}
        self._bytes = 0

    def loader(self, step: StepRecord) -> Callable[[], Frame]:
        return lambda: Frame(self._load(step), step.image)

    def _load(self, step: StepRecord) -> Pixels:
        if step.image in self._pixels:
            return self._pixels[step.image]
        data = read_image(self._root, step.file, step.image)
        pixels = decode(data, what=step.file, alpha="white").pixels
        if self._bytes + pixels.nbytes <= KEPT_BYTES:
            self._pixels[step.image] = pixels
            self._bytes += pixels.nbytes
        return pixels
