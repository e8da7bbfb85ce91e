"""Answering one `Edit`: from the journal, from another run, or by calling the editor; every attempt becomes a row."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from convergebench.engine.attempt import Attempt, Past, Place, Wanted, require_sound
from convergebench.engine.budget import Budget
from convergebench.engine.gate import Patience
from convergebench.engine.line import Line, StepFailed, Together
from convergebench.engine.progress import Progress
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
)
from convergebench.ids import seed_from, step_id
from convergebench.images.decode import decode, probe
from convergebench.redaction import redact
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
        budget: Budget,
        retry: RetryPolicy,
        progress: Progress,
        reuse: Sequence[Lender] = (),
        patience: Patience | None = None,
    ) -> None:
        if budget.limit is not None and editor.capabilities.dollars_per_call is None:
            raise StudyError(
                f"--max-cost cannot be kept: nobody knows what {name} charges; in the study file give it, or the "
                "editor inside it, the option dollars = … (per call)"
            )
        self.editor, self.name = editor, name
        self._journal, self._images = journal, images
        self._budget, self._progress = budget, progress
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
        borrowed = await borrow(wanted.key, self._reuse, images=self._images, editor=self.name)
        if borrowed is None:
            return None
        step, copied = borrowed
        await self._commit(wanted, copied)
        return step

    async def _called(self, wanted: Wanted) -> StepRow:
        first = self._journal.attempts(wanted.key) + 1
        return await self.line.tried(lambda number: self._attempt(wanted, number), first=first)

    async def _attempt(self, wanted: Wanted, number: int) -> StepRow:
        """One call. Its place among the calls in flight is held until its row is durable, so a kill loses no more."""
        price = self._price(wanted)
        async with self.line.slot():
            request = await self._request(wanted, number)
            self._budget.reserve(price)
            seed = request.seed if self.editor.capabilities.seed else None
            actual, attempt = price, Attempt(wanted, self.name, number, seed)
            self._progress.in_flight += 1
            try:
                edited = await self._edited(request, price)
                actual = edited.dollars
                kept = await self._images.in_thread(self._kept, edited)
            except (Prerequisite, StudyError):
                actual = 0.0
                raise
            except EditorError as error:
                actual = error.dollars
                return await self._failed(attempt, error)
            except Exception as error:  # an editor is foreign code: its slips end a chain, not a run of days
                actual = 0.0
                note = redact(f"{type(error).__name__}: {error}")
                await self._commit(wanted, [attempt.row("error", note)])
                self.line.failed(note)
                raise StepFailed(note) from error
            finally:
                self._progress.in_flight -= 1
                self._budget.settle(price, actual)
                self._progress.dollars = self._budget.spent
            identity = str(kept[1][0])
            paid = attempt.row("ok", dollars=edited.dollars, model=edited.model, raw=edited.raw)
            await self._commit(wanted, [kept, attempt.step("ok", image=identity, edited=edited), paid])
        self.line.worked()
        self._progress.steps_called += 1
        return StepRow(wanted.key, "ok", identity, "")

    def _price(self, wanted: Wanted) -> float:
        """What the call may cost; a price that nobody knows is not held against a budget, for there is none then."""
        turns = len(wanted.place.history)
        return self.editor.capabilities.dollars(wanted.edit.settings, turns) or 0.0

    async def _edited(self, request: EditRequest, price: float) -> Edited:
        try:
            async with asyncio.timeout(self.editor.limits.seconds):
                edited = await self.editor.edit(request)
        except TimeoutError as error:
            # nobody knows whether the provider charges for it, so the budget counts it
            raise Transient(f"no answer within {self.editor.limits.seconds:g} s", dollars=price) from error
        except StudyError as error:  # the study was found good before the first call, so this image is the trouble
            raise EditorError(str(error)) from error
        require_sound(edited)
        return edited

    async def _failed(self, attempt: Attempt, error: EditorError) -> StepRow:
        """A failed attempt as a row; a refusal or a recording's end also answers the step."""
        row = attempt.failure(error)
        if isinstance(error, Transient | BadReply):
            await self._journal.commit([row])
            raise error
        if not isinstance(error, Refused | Exhausted):
            # the request is wrong, or this editor cannot go on: the step stays open for a later run
            await self._commit(attempt.wanted, [row])
            if isinstance(error, Unavailable):
                raise error
            self.line.failed(str(error))
            raise StepFailed(redact(str(error))) from error
        detail = redact(f"{error.reason}: {error}" if isinstance(error, Refused) else str(error))
        status = "refused" if isinstance(error, Refused) else "ended"
        await self._commit(attempt.wanted, [attempt.step(status, detail=detail), row])
        self._progress.refusals += isinstance(error, Refused)
        return StepRow(attempt.wanted.key, status, None, detail)

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
        query = "select raw from attempts where step = ? and raw is not null and outcome in ('ok', 'reused')"
        (raw,) = next(self._journal.rows(query, (past.step,)), (None,))
        return Turn(
            past.instruction, await in_thread(read, sent), sent_mime, await in_thread(read, answer), answer_mime, raw
        )

    def _kept(self, edited: Edited) -> Row:
        """Store what came back and give its row; bytes that are no whole image are a bad reply."""
        try:
            mime, width, height = probe(edited.image)
            if not self.editor.capabilities.simulated:  # our own encoders need no second look
                decode(edited.image, what=f"the image from {self.name}", alpha="white")
        except StudyError as error:
            raise BadReply(str(error), dollars=edited.dollars, raw=edited.raw) from error
        identity = self._images.put(edited.image, mime)
        return ("images", (identity, self._images.file_of(identity, mime), mime, width, height, len(edited.image)))

    async def _commit(self, wanted: Wanted, more: list[Row]) -> None:
        """Commit the chain's gathered rows with these; what is committed is taken off the chain's list."""
        taken = list(wanted.rows)
        await self._journal.commit([*more, *taken])
        del wanted.rows[: len(taken)]
