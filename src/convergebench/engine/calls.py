"""Answering one `Edit`: from the journal, from another run, or by calling the editor; every attempt becomes a row."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from convergebench.engine.budget import Budget
from convergebench.engine.gate import Gate
from convergebench.engine.progress import Progress
from convergebench.engine.retry import RetryPolicy
from convergebench.engine.reuse import Lender, borrow, now
from convergebench.errors import (
    BadReply,
    ConvergeBenchError,
    EditorError,
    Exhausted,
    Prerequisite,
    Refused,
    StudyError,
    Transient,
)
from convergebench.ids import canonical, seed_from, step_id
from convergebench.images.decode import decode, probe
from convergebench.store.images import ImageStore
from convergebench.store.journal import Journal, Row, StepRow
from convergebench.types import Case, Edit, Edited, Editor, EditRequest, State, Turn

HOPELESS = 25
"""So many calls of one editor failing in a row means the editor, not the image, is the trouble."""

OUTCOMES: dict[type[EditorError], str] = {
    Transient: "transient",
    BadReply: "bad-reply",
    Refused: "refused",
    Exhausted: "ended",
}


class StepFailed(ConvergeBenchError):
    """All attempts are spent; the step stays open and is tried again by the next run."""


class Stopped(ConvergeBenchError):
    """The run is winding down; this step was not begun."""


@dataclass(frozen=True)
class Place:
    """Where in which chain a step stands."""

    case: Case
    position: int
    history: tuple[Turn, ...] = ()


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
    ) -> None:
        self.editor, self.name = editor, name
        self._journal, self._images = journal, images
        self._budget, self._retry, self._progress = budget, retry, progress
        self._reuse = reuse
        self._gate = Gate(editor.limits)
        self._under_way: dict[str, asyncio.Future[StepRow]] = {}
        self._failures_in_a_row = 0
        self.stopping: ConvergeBenchError | None = None
        """Why no further call is begun."""

    def stop(self, reason: ConvergeBenchError) -> None:
        """Begin no further call, and wake those that wait for one; the first reason stands."""
        self.stopping = self.stopping or reason
        self._gate.halt()

    async def answer(self, edit: Edit, place: Place, rows: list[Row]) -> State:
        """The state after this edit. `rows` (the chain's comparisons so far) are committed along with the step."""
        key = self.key(edit, place)
        step = self._journal.step(key)
        if step is None:
            step = await self._shared(key, edit, place, rows)
        rows.append(("chain_steps", (self.name, place.case.id, place.position, key)))
        self._progress.steps_done += 1
        if step.status == "refused":
            raise Refused(step.detail)
        if step.status == "ended":
            raise Exhausted(step.detail)
        assert step.image is not None
        return State(key, step.image)

    def key(self, edit: Edit, place: Place) -> str:
        """The step's history in one word."""
        return step_id(
            parent=edit.state.id,
            instruction=edit.instruction,
            settings=edit.settings.as_key(),
            fingerprint=self.editor.fingerprint,
            replicate=place.case.replicate,
        )

    async def _shared(self, key: str, edit: Edit, place: Place, rows: list[Row]) -> StepRow:
        """Two chains that begin alike wait for one call instead of paying twice."""
        if key in self._under_way:
            return await asyncio.shield(self._under_way[key])
        future: asyncio.Future[StepRow] = asyncio.get_running_loop().create_future()
        self._under_way[key] = future
        try:
            step = await self._reused(key, rows) or await self._called(key, edit, place, rows)
            future.set_result(step)
            return step
        except BaseException as error:
            future.set_exception(error if isinstance(error, Exception) else Stopped("interrupted"))
            future.exception()  # mark as seen: nobody may be waiting
            raise
        finally:
            del self._under_way[key]

    async def _reused(self, key: str, rows: list[Row]) -> StepRow | None:
        borrowed = await borrow(key, self._reuse, images=self._images, editor=self.name)
        if borrowed is None:
            return None
        step, copied = borrowed
        await self._commit(rows, copied)
        return step

    async def _called(self, key: str, edit: Edit, place: Place, rows: list[Row]) -> StepRow:
        first = self._journal.attempts(key) + 1
        for attempt in range(first, first + self._retry.attempts):
            try:
                return await self._attempt(key, edit, place, rows, attempt)
            except (Transient, BadReply) as error:
                tried = attempt - first + 1
                self._count_failure(str(error))
                if tried == self._retry.attempts:
                    raise StepFailed(f"{tried} attempts failed, last: {error}") from error
                self._progress.retries += 1
                wait = self._retry.wait(tried, error)
                if isinstance(error, Transient) and error.retry_after is not None:
                    self._pause(error.retry_after)
                await self._gate.rest(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _pause(self, seconds: float) -> None:
        """The provider wants to be left alone: for a while, or for longer than a run should sit and wait."""
        self._gate.pause(seconds)
        self._progress.note = f"{self.name} asks to wait {seconds:,.0f} s"
        if seconds > self._retry.patience:
            self.stop(Stopped(self._progress.note))

    async def _attempt(self, key: str, edit: Edit, place: Place, rows: list[Row], attempt: int) -> StepRow:
        """One call. Its place among the calls in flight is held until its row is durable, so a kill loses no more."""
        price = self.editor.capabilities.dollars_per_call
        async with self._gate.slot():
            if self.stopping is not None:
                raise type(self.stopping)(str(self.stopping))
            request = await self._request(key, edit, place, attempt)
            self._budget.reserve(price)
            actual, timing = price, (attempt, now(), time.perf_counter())
            self._progress.in_flight += 1
            try:
                edited = await self._edited(request)
                actual = edited.dollars
                kept = await self._images.in_thread(self._kept, edited)
            except (Prerequisite, StudyError):
                actual = 0.0
                raise
            except EditorError as error:
                actual = error.dollars
                return await self._recorded(key, edit, place, rows, timing, request.seed, error)
            except Exception as error:  # an editor is foreign code: its slips end a chain, not a run of days
                actual = 0.0
                note = f"{type(error).__name__}: {error}"
                await self._commit(rows, [self._attempt_row(key, timing, "error", note)])
                self._count_failure(note)
                raise StepFailed(note) from error
            finally:
                self._progress.in_flight -= 1
                self._budget.settle(price, actual)
                self._progress.dollars = self._budget.spent
            identity = str(kept[1][0])
            paid = self._attempt_row(key, timing, "ok", "", edited.dollars, model=edited.model, raw=edited.raw)
            step = self._step_row(key, edit, place, request.seed, "ok", identity, "", edited.reasoning)
            await self._commit(rows, [kept, step, paid])
        self._failures_in_a_row = 0
        self._progress.steps_called += 1
        return StepRow(key, "ok", identity, "")

    async def _edited(self, request: EditRequest) -> Edited:
        try:
            async with asyncio.timeout(self.editor.limits.seconds):
                return await self.editor.edit(request)
        except TimeoutError as error:
            # nobody knows whether the provider charges for it, so the budget counts it
            price = self.editor.capabilities.dollars_per_call
            raise Transient(f"no answer within {self.editor.limits.seconds:g} s", dollars=price) from error

    def _count_failure(self, note: str) -> None:
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= HOPELESS:
            self.stop(Stopped(f"{self.name} failed {HOPELESS} times in a row (last: {note})"))

    async def _recorded(
        self,
        key: str,
        edit: Edit,
        place: Place,
        rows: list[Row],
        timing: tuple[int, str, float],
        seed: int,
        error: EditorError,
    ) -> StepRow:
        """A failed attempt as a row; a refusal or a recording's end also answers the step."""
        outcome = next(word for kind, word in OUTCOMES.items() if isinstance(error, kind))
        row = self._attempt_row(key, timing, outcome, str(error), error.dollars, raw=error.raw)
        if isinstance(error, Transient | BadReply):
            await self._journal.commit([row])
            raise error
        detail = f"{error.reason}: {error}" if isinstance(error, Refused) else str(error)
        step = self._step_row(key, edit, place, seed, outcome, None, detail, None)
        await self._commit(rows, [step, row])
        self._progress.refusals += isinstance(error, Refused)
        return StepRow(key, outcome, None, detail)

    async def _request(self, key: str, edit: Edit, place: Place, attempt: int) -> EditRequest:
        file, mime, _, _ = self._journal.image(edit.state.image)
        data = await self._images.in_thread(self._images.read, file)
        base = edit.settings.seed or 0
        seed = base if edit.settings.seed_policy == "fixed" else seed_from(key, base)
        return EditRequest(
            image=data,
            mime=mime,
            instruction=edit.instruction,
            settings=edit.settings,
            seed=seed,
            case=place.case.id,
            index=place.position,
            attempt=attempt,
            history=place.history,
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

    async def _commit(self, rows: list[Row], more: list[Row]) -> None:
        """Commit the chain's gathered rows with these; what is committed is taken off the chain's list."""
        taken = list(rows)
        await self._journal.commit([*more, *taken])
        del rows[: len(taken)]

    def _attempt_row(
        self,
        key: str,
        timing: tuple[int, str, float],
        outcome: str,
        error: str,
        dollars: float = 0.0,
        *,
        model: str | None = None,
        raw: str | None = None,
    ) -> Row:
        attempt, started, begun = timing
        seconds = time.perf_counter() - begun
        return ("attempts", (key, attempt, self.name, started, seconds, dollars, outcome, error, model, raw))

    def _step_row(
        self,
        key: str,
        edit: Edit,
        place: Place,
        seed: int,
        status: str,
        image: str | None,
        detail: str,
        reasoning: str | None,
    ) -> Row:
        settings = canonical(edit.settings.as_key())
        values = (
            key, edit.state.id, self.name, edit.instruction, settings, seed, place.case.replicate, status, image,
            detail, reasoning,
        )  # fmt: skip
        return ("steps", values)
