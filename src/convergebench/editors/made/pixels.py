"""An editor whose answer is corrected before it is handed on, by comparing it with the image it was given."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from convergebench.editors.made.base import MadeEditor, Part, answer_of, counting, request_for
from convergebench.errors import BadReply, StudyError
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.types import Edited, Editor, EditRequest


class Corrected(NamedTuple):
    """New pixels, or None to hand the answer on as it came; and what is to be told of it."""

    pixels: Pixels | None
    told: Mapping[str, Any]


class CorrectedEditor(MadeEditor):
    """One part, whose answer is corrected.

    It keeps no session: the turns that a provider remembers, or is sent again, hold its own images, and the chain goes
    on from others.
    """

    def __init__(self, name: str, fingerprint: str, of: Editor) -> None:
        super().__init__(name, fingerprint, [Part(of)])
        self.of = of

    @abstractmethod
    def correct(self, after: Pixels, before: Pixels) -> Corrected:
        """The answer, corrected by the image it was made from. Runs in a thread."""

    async def edit(self, request: EditRequest) -> Edited:
        """Let the part answer, then correct it."""
        before = await asyncio.to_thread(_decoded, request.image, "the image to edit")
        inner = await answer_of(self.of, request_for(self.of, request))
        with counting(inner.dollars):
            return await asyncio.to_thread(self._corrected, inner, before)

    def _corrected(self, inner: Edited, before: Pixels) -> Edited:
        try:
            after = _decoded(inner.image, f"the image from {self.of.name}")
        except StudyError as error:
            raise BadReply(str(error), raw=inner.raw) from error
        done = self.correct(after, before)
        used = {**done.told, **({"of": dict(inner.used)} if inner.used else {})}
        if done.pixels is None:
            return replace(inner, used=used)
        return replace(inner, image=encode_png(done.pixels), mime="image/png", used=used)


def _decoded(data: bytes, what: str) -> Pixels:
    return decode(data, what=what, alpha="white").pixels
