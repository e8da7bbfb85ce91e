"""Calls of an editor: the answer to one `Edit` of a study, from the journal, from another run, or by calling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from convergebench.editors.base import calls_parts, close
from convergebench.engine.attempt import Attempt, Charge, Price, stored_text
from convergebench.engine.caller import Accepted, Endpoint, Exchange
from convergebench.engine.part_calls import PartCalls
from convergebench.engine.received import call_editor, store_image, used_json
from convergebench.engine.reuse import ReusableRun, copy_step
from convergebench.errors import EditorError, Exhausted, Refused
from convergebench.ids import canonical, seed_from, step_id
from convergebench.store.images import ImageStore
from convergebench.store.journal import Journal
from convergebench.store.tables import StepRow, TableRow
from convergebench.types import Edit, Edited, Editor, EditRequest, State, Turn


class ChainPosition(NamedTuple):
    """A place in a chain: which editor, which case, after how many steps."""

    editor: str
    case: str
    step: int


@dataclass(frozen=True)
class PriorTurn:
    """An earlier step of a chain in a single session; its images are read only when a call needs them."""

    step: str
    instruction: str
    image: str
    answer: str


@dataclass(frozen=True)
class StepRequest:
    """A step to be answered. `rows` are the uncommitted rows of its chain, committed with the answer."""

    key: str
    edit: Edit
    position: ChainPosition
    replicate: int
    rows: list[TableRow]
    history: tuple[PriorTurn, ...] = ()

    @property
    def seed(self) -> int:
        """The seed of the call, for editors that take one."""
        base = self.edit.settings.seed or 0
        return base if self.edit.settings.seed_policy == "fixed" else seed_from(self.key, base)


class EditorEndpoint(Endpoint[StepRequest, Edited, StepRow]):
    """An editor under its name in the study."""

    def __init__(
        self, editor: Editor, name: str, *, journal: Journal, images: ImageStore, reuse: Sequence[ReusableRun] = ()
    ) -> None:
        self.editor = editor
        self.name = self.label = name
        self.limits = editor.limits
        self.capacity = getattr(editor, "capacity", None)
        self.composed = calls_parts(editor)
        self.unpriced = (
            f"--max-cost cannot be kept: the price of {name} is unknown; in the study file give it, or the editor "
            f"inside it, the option dollars = … (per call)"
        )
        self._journal, self._images, self._reuse = journal, images, reuse

    def step_key(self, edit: Edit, replicate: int) -> str:
        """The step's history as a hash."""
        return step_id(
            parent=edit.state.id,
            instruction=edit.instruction,
            settings=edit.settings.as_key(),
            fingerprint=self.editor.fingerprint,
            replicate=replicate,
            draw=edit.draw,
        )

    def price(self, request: StepRequest | None = None) -> Price:
        """By resolution and earlier turns, if the editor charges by them."""
        able = self.editor.capabilities
        if request is None:
            return Price.of(able.dollars_per_call, self.name)
        return Price.of(able.dollars(request.edit.settings, len(request.history)), self.name)

    def known(self, key: str) -> StepRow | None:
        """The journalled step."""
        return self._journal.step(key)

    async def reused(self, request: StepRequest) -> Accepted[StepRow] | None:
        """The step as another run has it, copied."""
        number = self._journal.last_attempt(request.key) + 1
        copied = await copy_step(request.key, self._reuse, images=self._images, editor=self.name, number=number)
        return None if copied is None else Accepted(copied.step, copied.rows)

    async def prepare(self, request: StepRequest, number: int, row_numbers: Iterator[int]) -> Exchange[Edited]:
        """Read the image, and the earlier turns of a single session."""
        edit, position = request.edit, request.position
        parts = PartCalls(
            self._journal, self._images, step=request.key, editor=self.name, number=lambda: next(row_numbers)
        )
        image, mime = await self._read(edit.state.image)
        sent = EditRequest(
            image=image,
            mime=mime,
            instruction=edit.instruction,
            settings=edit.settings,
            seed=request.seed,
            case=position.case,
            index=position.step,
            attempt=number,
            history=tuple([await self._turn(turn) for turn in request.history]),
            call_part=parts,
        )
        self._journal.require([self._row(request, "ok")])  # a result that could not be stored is not paid for
        return Exchange(lambda: call_editor(self.editor, sent), parts)

    async def accept(self, request: StepRequest, attempt: Attempt, received: Edited) -> Accepted[StepRow]:
        """The stored image and the step that names it."""
        kept = await self._images.in_thread(store_image, self._images, received, self.editor, self.name)
        step = replace(
            self._row(request, "ok"),
            image=kept.id,
            reasoning=None if received.reasoning is None else stored_text(received.reasoning),
            used=used_json(received),
        )
        return Accepted(step, [kept, step], received.raw)

    def declined(
        self, request: StepRequest, attempt: Attempt, error: EditorError, charge: Charge
    ) -> Accepted[StepRow] | None:
        """A refusal and a recording's end are steps without an image."""
        if isinstance(error, Refused):
            step = self._row(request, "refused", f"{error.reason}: {error}")
        elif isinstance(error, Exhausted):
            step = self._row(request, "ended", str(error))
        else:
            return None
        return Accepted(step, [step])

    async def close(self) -> None:
        """Release the editor's connections or weights."""
        await close(self.editor)

    def _row(self, request: StepRequest, status: str, detail: str = "") -> StepRow:
        edit = request.edit
        return StepRow(
            id=request.key,
            parent=edit.state.id,
            editor=self.name,
            instruction=edit.instruction,
            settings=canonical(edit.settings.as_key()),
            seed=request.seed if self.editor.capabilities.seed else None,
            replicate=request.replicate,
            status=status,
            detail=stored_text(detail),
            draw=edit.draw,
        )

    async def _turn(self, turn: PriorTurn) -> Turn:
        image, mime = await self._read(turn.image)
        answer, answer_mime = await self._read(turn.answer)
        return Turn(turn.instruction, image, mime, answer, answer_mime, self._journal.reply(turn.step).raw)

    async def _read(self, image: str) -> tuple[bytes, str]:
        row = self._journal.image_row(image)
        return await self._images.in_thread(self._images.read, row.file), row.mime


def state_after(step: StepRow) -> State:
    """The state that a step led to; `Refused` or `Exhausted` if there is none."""
    if step.status == "refused":
        raise Refused(step.detail)
    if step.status == "ended":
        raise Exhausted(step.detail)
    assert step.image is not None
    return State(step.id, step.image)
