"""Calls that an editor made of editors makes of its parts: each paid one is journalled as an answer of its own.

`best-of(E, 8)` pays eight times for one step. If the process ends after the fifth, the next session finds five answers
and asks for three.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

from convergebench.engine.attempt import Attempt, Charge, Price, charge_of, told, used_text
from convergebench.engine.received import edited_by, image_row
from convergebench.errors import EditorError, Prerequisite, StudyError
from convergebench.ids import part_id
from convergebench.store.images import ImageStore
from convergebench.store.journal import Journal, Row
from convergebench.types import Edited, Editor, EditRequest


class PartCalls:
    """Handed to an editor with its request; knows afterwards what the parts cost and how long they took."""

    def __init__(
        self, journal: Journal, images: ImageStore, *, step: str, editor: str, number: Callable[[], int]
    ) -> None:
        self._journal, self._images = journal, images
        self._step, self._editor, self._number = step, editor, number
        self._asked: Counter[str] = Counter()
        self.dollars = self.seconds = 0.0

    async def __call__(self, part: Editor, request: EditRequest) -> Edited:
        """The part's answer: from the journal if it is there, else by calling it."""
        price = Price.of(part.capabilities.dollars(request.settings, len(request.history)), part.name)
        if price.free:  # nothing is lost with it
            return await part.edit(request)
        key = self._key(part, request)
        return await self._known(key) or await self._called(key, part, request, price)

    def _key(self, part: Editor, request: EditRequest) -> str:
        """The same question may be put twice on purpose, so the second one has another key."""
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
        file, mime, _, _ = self._journal.image(found.image)
        data = await self._images.in_thread(self._images.read, file)
        # without its price: the session that got it has been charged for it
        return Edited(data, mime, found.model, reasoning=found.reasoning, raw=found.raw, used=json.loads(found.used))

    async def _called(self, key: str, part: Editor, request: EditRequest, price: Price) -> Edited:
        attempt = Attempt(self._step, self._number(), self._editor, price, part=told(part.name))
        await self._journal.commit([attempt.intent()])
        charge = Charge(price.dollars, settled=False)
        try:
            edited = await edited_by(part, request)
            kept = await self._images.in_thread(image_row, self._images, edited, part, part.name)
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
        except StudyError:  # the disk is full, say: what was paid stays on record at its price
            raise
        except Exception as error:
            await self._journal.commit([attempt.row("error", charge, f"{type(error).__name__}: {error}")])
            raise
        finally:
            self.dollars += charge.dollars
            self.seconds += attempt.seconds

    def _answer(self, key: str, part: Editor, kept: Row, edited: Edited) -> Row:
        reasoning = None if edited.reasoning is None else told(edited.reasoning)
        raw = None if edited.raw is None else told(edited.raw)
        values = (
            key, self._step, part.fingerprint, kept[1][0], told(edited.model or ""), reasoning, raw, used_text(edited),
        )  # fmt: skip
        return ("parts", values)
