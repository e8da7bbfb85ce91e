"""Calls that a composed editor makes to its parts: each paid answer is journalled on its own.

`best-of(E, 8)` pays eight times for one step. If the process ends after the fifth, the next session makes only three
calls.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

from convergebench.engine.attempt import Attempt, Charge, Price, Spending, charge_of, stored_text
from convergebench.engine.received import call_editor, store_image, used_json
from convergebench.errors import EditorError, Prerequisite, StudyError
from convergebench.ids import part_id
from convergebench.store.images import ImageStore
from convergebench.store.journal import Journal
from convergebench.store.tables import ImageRow, PartRow
from convergebench.types import Edited, Editor, EditRequest


class PartCalls(Spending):
    """Given to an editor with its request; counts what the parts cost and how long they took."""

    def __init__(
        self, journal: Journal, images: ImageStore, *, step: str, editor: str, number: Callable[[], int]
    ) -> None:
        self._journal, self._images = journal, images
        self._step, self._editor, self._number = step, editor, number
        self._asked: Counter[str] = Counter()

    async def __call__(self, part: Editor, request: EditRequest) -> Edited:
        """The part's answer: from the journal if it is there, else by calling it."""
        price = Price.of(part.capabilities.dollars(request.settings, len(request.history)), part.name)
        if price.free:  # repeating it costs nothing
            return await part.edit(request)
        key = self._key(part, request)
        return await self._known(key) or await self._called(key, part, request, price)

    def _key(self, part: Editor, request: EditRequest) -> str:
        """A repeated request is numbered, so that it has another key and is sampled again."""
        asked = {"instruction": request.instruction, "settings": request.settings.as_key(), "seed": request.seed}
        history = tuple(turn.instruction for turn in request.history)

        def numbered(number: int) -> str:
            return part_id(
                step=self._step, fingerprint=part.fingerprint, request=asked, image=request.image, history=history,
                number=number,
            )  # fmt: skip

        first = numbered(0)
        self._asked[first] += 1
        return numbered(self._asked[first] - 1)

    async def _known(self, key: str) -> Edited | None:
        found = self._journal.part(key)
        if found is None:
            return None
        image = self._journal.image_row(found.image)
        data = await self._images.in_thread(self._images.read, image.file)
        # without its price: an earlier session has paid it
        return Edited(
            data, image.mime, found.model, reasoning=found.reasoning, raw=found.raw, used=json.loads(found.used)
        )

    async def _called(self, key: str, part: Editor, request: EditRequest, price: Price) -> Edited:
        attempt = Attempt(self._step, self._number(), self._editor, price, part=stored_text(part.name))
        charge = Charge(price.dollars, settled=False)
        try:
            await self._journal.commit([attempt.intent()])  # written even if a time limit ends the wait for it
            edited = await call_editor(part, request)
            kept = await self._images.in_thread(store_image, self._images, edited, part, part.name)
            charge = Charge(edited.dollars)
            answer = self._answer(key, part, kept, edited)
            row = attempt.row("ok", charge, model=edited.model, raw=edited.raw)
            await self._journal.commit([kept, answer, row])
            return edited
        except Prerequisite as error:
            charge = Charge(0.0)
            await self._journal.commit([attempt.row("error", charge, str(error))])
            raise
        except EditorError as error:
            charge = charge_of(error, price)
            await self._journal.commit([attempt.failure(error, charge)])
            error.dollars, error.unsettled = charge.dollars, False  # it is on record
            raise
        except StudyError:  # e.g. a full disk: the call stays on record at its price
            raise
        except Exception as error:
            await self._journal.commit([attempt.row("error", charge, f"{type(error).__name__}: {error}")])
            raise
        finally:
            self.dollars += charge.dollars
            self.seconds += attempt.seconds

    def _answer(self, key: str, part: Editor, kept: ImageRow, edited: Edited) -> PartRow:
        return PartRow(
            id=key,
            step=self._step,
            fingerprint=part.fingerprint,
            image=kept.id,
            model=stored_text(edited.model or ""),
            reasoning=None if edited.reasoning is None else stored_text(edited.reasoning),
            raw=None if edited.raw is None else stored_text(edited.raw),
            used=used_json(edited),
        )
