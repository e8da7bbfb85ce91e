"""Answering one `Edit`: from the journal, from another run, or by calling the editor; every attempt becomes a row."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from convergebench.editors.base import calls_parts
from convergebench.engine.attempt import Attempt, Charge, Past, Place, Price, Wanted, charge_of, step_row, told
from convergebench.engine.foreign import said
from convergebench.engine.gate import Patience
from convergebench.engine.ledger import Ledger, Payment
from convergebench.engine.line import Line, StepFailed, Together
from convergebench.engine.part_calls import PartCalls
from convergebench.engine.progress import Progress
from convergebench.engine.received import edited_by, image_row
from convergebench.engine.retry import RetryPolicy
from convergebench.engine.reuse import Lender, borrow
from convergebench.errors import (
    BadReply,
    EditorError,
    Exhausted,
    Prerequisite,
    Refused,
    StudyError,
    Transient,
    Unavailable,
    Unstorable,
)
from convergebench.ids import seed_from, step_id
from convergebench.store.images import ImageStore
from convergebench.store.journal import Journal, Row, StepRow
from convergebench.types import Edit, Edited, Editor, EditRequest, State, Turn


class Calls:
    """One editor behind its gate."""

    def __init__(
        self,
        editor: Editor,
        *,
        name: str,
        journal: Journal,
        images: ImageStore,
        ledger: Ledger,
        retry: RetryPolicy,
        progress: Progress,
        reuse: Sequence[Lender] = (),
        patience: Patience | None = None,
    ) -> None:
        if ledger.limited and editor.capabilities.dollars_per_call is None:
            raise StudyError(
                f"--max-cost cannot be kept: nobody knows what {name} charges; in the study file give it, or the "
                "editor inside it, the option dollars = … (per call)"
            )
        Price.of(editor.capabilities.dollars_per_call, name)  # told before the first call
        self.editor, self.name = editor, name
        self._journal, self._images = journal, images
        self._progress = progress
        self._ledger = ledger
        self._made = calls_parts(editor)
        self._reuse = reuse
        self.line = Line(name, editor.limits, retry=retry, progress=progress, patience=patience)
        self._together: Together[StepRow] = Together()

    async def answer(self, edit: Edit, place: Place, rows: list[Row]) -> State:
        """The state after this edit. `rows` (the chain's comparisons so far) are committed along with the step."""
        wanted = Wanted(self.key(edit, place), edit, place, rows)
        step = self._journal.step(wanted.key)
        if step is None:
            step = await self._shared(wanted)
        rows.append(("chain_steps", (self.name, place.case.id, place.position, wanted.key)))
        self._progress.steps_done += 1
        if step.status == "refused":
            raise Refused(step.detail)
        if step.status == "ended":
            raise Exhausted(step.detail)
        assert step.image is not None
        return State(wanted.key, step.image)

    def key(self, edit: Edit, place: Place) -> str:
        """The step's history in one word."""
        return step_id(
            parent=edit.state.id,
            instruction=edit.instruction,
            settings=edit.settings.as_key(),
            fingerprint=self.editor.fingerprint,
            replicate=place.case.replicate,
            draw=edit.draw,
        )

    async def _shared(self, wanted: Wanted) -> StepRow:
        """Two chains that begin alike wait for one call instead of paying twice."""

        async def made() -> StepRow:
            return await self._reused(wanted) or await self._called(wanted)

        return await self._together.once(wanted.key, made)

    async def _reused(self, wanted: Wanted) -> StepRow | None:
        borrowed = await borrow(
            wanted.key, self._reuse, images=self._images, editor=self.name,
            number=self._journal.last_attempt(wanted.key) + 1,
        )  # fmt: skip
        if borrowed is None:
            return None
        step, copied = borrowed
        await self._commit(wanted, copied)
        return step

    async def _called(self, wanted: Wanted) -> StepRow:
        first = self._journal.attempts(wanted.key) + 1
        rows = count(self._journal.last_attempt(wanted.key) + 1)
        return await self.line.tried(lambda number: self._attempt(wanted, number, rows), first=first)

    async def _attempt(self, wanted: Wanted, number: int, rows: Iterator[int]) -> StepRow:
        """One call. Its place among the calls in flight is held until its row is durable, so a kill loses no more."""
        async with self.line.slot():
            request = await self._request(wanted, number)
            attempt = Attempt(wanted.key, next(rows), self.name, self._price(wanted))
            parts = PartCalls(self._journal, self._images, step=wanted.key, editor=self.name, number=lambda: next(rows))
            call = _Call(wanted, attempt, parts, request.seed if self.editor.capabilities.seed else None)
            self._journal.require([step_row(wanted, self.name, call.seed, "ok")])
            async with self._ledger.call(attempt, intent=not self._made) as payment:
                try:
                    step = await self._answered(call, replace(request, call_part=parts), payment)
                except EditorError as error:
                    step = await self._failed(call, error, payment)
                finally:
                    payment.dollars += parts.dollars
        if step.status == "ok":
            self.line.worked()
            self._progress.steps_called += 1
        return step

    async def _answered(self, call: _Call, request: EditRequest, payment: Payment) -> StepRow:
        """The call itself, and its answer as rows."""
        attempt, wanted = call.attempt, call.wanted
        try:
            edited = await self._edited(request)
            kept = await self._images.in_thread(image_row, self._images, edited, self.editor, self.name)
            payment.dollars = max(0.0, edited.dollars - call.parts.dollars)
            charge, inside = Charge(payment.dollars), call.parts.seconds
            paid = attempt.row("ok", charge, model=edited.model, raw=edited.raw, inside=inside)
            identity = str(kept[1][0])
            step = step_row(wanted, self.name, call.seed, "ok", image=identity, edited=edited)
        except Prerequisite as error:  # nothing was sent: the editor could not even begin
            payment.dollars = 0.0
            await self._journal.commit([attempt.row("error", error=str(error), inside=call.parts.seconds)])
            raise
        except (EditorError, StudyError):
            raise
        except Exception as error:  # an editor is foreign code: its slips end a chain, not a run of days
            raise EditorError(said(error), unsettled=True) from error
        await self._commit(wanted, [kept, step, paid])
        return StepRow(wanted.key, "ok", identity, "")

    def _price(self, wanted: Wanted) -> Price:
        """What the call may cost; a price that nobody knows is not held against a budget, for there is none then."""
        turns = len(wanted.place.history)
        return Price.of(self.editor.capabilities.dollars(wanted.edit.settings, turns), self.name)

    async def _edited(self, request: EditRequest) -> Edited:
        try:
            async with asyncio.timeout(self.editor.limits.seconds):
                return await edited_by(self.editor, request)
        except TimeoutError as error:
            raise Transient(f"no answer within {self.editor.limits.seconds:g} s", unsettled=True) from error

    async def _failed(self, call: _Call, error: EditorError, payment: Payment) -> StepRow:
        """A failed attempt as a row; a refusal or a recording's end also answers the step."""
        charge = charge_of(error, Price(0.0) if self._made else call.attempt.price)
        charge = charge._replace(dollars=max(0.0, charge.dollars - call.parts.dollars))
        payment.dollars = charge.dollars
        wanted, row = call.wanted, call.attempt.failure(error, charge, inside=call.parts.seconds)
        if isinstance(error, Transient | BadReply):
            await self._journal.commit([row])
            raise error
        if not isinstance(error, Refused | Exhausted):
            # the request is wrong, or this editor cannot go on: the step stays open for a later run
            await self._commit(wanted, [row])
            if isinstance(error, Unavailable):
                raise error
            self.line.failed(str(error))
            raise StepFailed(told(str(error))) from error
        detail = told(f"{error.reason}: {error}" if isinstance(error, Refused) else str(error))
        status = "refused" if isinstance(error, Refused) else "ended"
        await self._commit(wanted, [step_row(wanted, self.name, call.seed, status, detail=detail), row])
        self._progress.refusals += isinstance(error, Refused)
        return StepRow(wanted.key, status, None, detail)

    async def _request(self, wanted: Wanted, number: int) -> EditRequest:
        edit, place = wanted.edit, wanted.place
        file, mime, _, _ = self._journal.image(edit.state.image)
        data = await self._images.in_thread(self._images.read, file)
        base = edit.settings.seed or 0
        seed = base if edit.settings.seed_policy == "fixed" else seed_from(wanted.key, base)
        return EditRequest(
            image=data,
            mime=mime,
            instruction=edit.instruction,
            settings=edit.settings,
            seed=seed,
            case=place.case.id,
            index=place.position,
            attempt=number,
            history=tuple([await self._turn(past) for past in place.history]),
        )

    async def _turn(self, past: Past) -> Turn:
        read, in_thread = self._images.read, self._images.in_thread
        sent, sent_mime, _, _ = self._journal.image(past.image)
        answer, answer_mime, _, _ = self._journal.image(past.answer)
        _, raw = self._journal.reply(past.step)
        return Turn(
            past.instruction, await in_thread(read, sent), sent_mime, await in_thread(read, answer), answer_mime, raw
        )

    async def _commit(self, wanted: Wanted, more: list[Row]) -> None:
        """Commit the chain's gathered rows with these; what is committed is taken off the chain's list."""
        taken = list(wanted.rows)
        try:
            await self._journal.commit([*more, *taken])
        except Unstorable:  # the chain cannot go on, but what its call cost stays on record
            await self._journal.commit([row for row in more if row[0] == "attempts"])
            raise
        del wanted.rows[: len(taken)]


@dataclass(frozen=True)
class _Call:
    """One attempt while it is under way."""

    wanted: Wanted
    attempt: Attempt
    parts: PartCalls
    seed: int | None
    """None: this editor takes none."""
