"""Base of composites that correct an answer by comparing it with the input."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from convergebench.editors.composite.base import CompositeEditor, CompositePart, adding_cost, answer_of, request_for
from convergebench.errors import BadReply, StudyError
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.types import Edited, Editor, EditRequest


class Correction(NamedTuple):
    """New pixels, or None to return the answer unchanged; and a record of the correction."""

    pixels: Pixels | None
    record: Mapping[str, Any]


class CorrectedEditor(CompositeEditor):
    """An editor with one part, whose answer is corrected.

    It has no sessions: earlier turns hold the provider's own images, but the chain continues from corrected ones.
    """

    def __init__(self, name: str, fingerprint: str, of: Editor) -> None:
        super().__init__(name, fingerprint, [CompositePart(of)])
        self.of = of

    @abstractmethod
    def correct(self, after: Pixels, before: Pixels) -> Correction:
        """Correct the answer `after` to the input `before`. Runs in a thread."""

    async def edit(self, request: EditRequest) -> Edited:
        """Call the part, then correct its answer."""
        before = await asyncio.to_thread(_decoded, request.image, "the image to edit")
        inner = await answer_of(self.of, request_for(self.of, request))
        with adding_cost(inner.dollars):
            return await asyncio.to_thread(self._corrected, inner, before)

    def _corrected(self, inner: Edited, before: Pixels) -> Edited:
        try:
            after = _decoded(inner.image, f"the image from {self.of.name}")
        except StudyError as error:
            raise BadReply(str(error), raw=inner.raw) from error
        done = self.correct(after, before)
        used = {**done.record, **({"of": dict(inner.used)} if inner.used else {})}
        if done.pixels is None:
            return replace(inner, used=used)
        return replace(inner, image=encode_png(done.pixels), mime="image/png", used=used)


def _decoded(data: bytes, what: str) -> Pixels:
    return decode(data, what=what, alpha="white").pixels
