"""An editor that answers as a test tells it to, and remembers what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.types import Capabilities, Edited, Editor, EditRequest, Limits

Pixels = NDArray[np.uint8]
Answer = Callable[[EditRequest], Edited]


def pixels(data: bytes) -> Pixels:
    """Of an image file."""
    return decode(data).pixels


def painted(change: Callable[[Pixels], Any], dollars: float = 0.0, **rest: Any) -> Answer:
    """An answer that is the input with its pixels changed."""

    def answer(request: EditRequest) -> Edited:
        changed = np.clip(np.rint(change(pixels(request.image).copy())), 0, 255).astype(np.uint8)
        return Edited(encode_png(np.ascontiguousarray(changed)), "image/png", "model-1", dollars, **rest)

    return answer


def same(dollars: float = 0.0, **rest: Any) -> Answer:
    """An answer that is the input."""
    return painted(lambda image: image, dollars, **rest)


class Scripted:
    """Gives one outcome after the other, the last one for ever; an exception is raised."""

    def __init__(
        self,
        *outcomes: Answer | Exception,
        name: str = "scripted",
        capabilities: Capabilities | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.name = name
        self.fingerprint = f"{name}@1:0"
        self.capabilities = capabilities or Capabilities(seed=True)
        self.limits = limits or Limits()
        self.outcomes = list(outcomes) or [same()]
        self.asked: list[EditRequest] = []
        self.closed = 0
        self.missing: list[str] = []

    async def edit(self, request: EditRequest) -> Edited:
        """The next outcome."""
        outcome = self.outcomes[min(len(self.asked), len(self.outcomes) - 1)]
        self.asked.append(request)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome(request)

    def lacks(self) -> list[str]:
        """What the test says."""
        return list(self.missing)

    async def close(self) -> None:
        """Counted."""
        self.closed += 1


class Slow(Scripted):
    """The call of this number, counted from 0, is never answered; the others are."""

    def __init__(self, *outcomes: Answer | Exception, slow: int, **rest: Any) -> None:
        super().__init__(*outcomes, **rest)
        self.slow = slow

    async def edit(self, request: EditRequest) -> Edited:
        """Like the others, or never."""
        if len(self.asked) == self.slow:
            self.asked.append(request)
            await asyncio.Event().wait()
        return await super().edit(request)


def give_up(editor: Editor, image: Pixels, seconds: float = 0.5) -> None:
    """A call that is cancelled for taking too long."""

    async def once() -> None:
        request = EditRequest(encode_png(image), "image/png", "add a ball", seed=7)
        await asyncio.wait_for(editor.edit(request), seconds)

    try:
        asyncio.run(once())
    except TimeoutError:
        return
    raise AssertionError("it answered")


def call(editor: Editor, image: Pixels | bytes, words: str = "add a ball", **rest: Any) -> Edited:
    """One call."""
    data = image if isinstance(image, bytes) else encode_png(image)

    async def once() -> Edited:
        return await editor.edit(EditRequest(data, "image/png", words, **{"seed": 7, **rest}))

    return asyncio.run(once())


def picture(seed: int = 0, side: int = 96) -> Pixels:
    """Something with soft light, some edges and some texture, away from black and white."""
    random = np.random.default_rng(seed)
    rows, columns = np.mgrid[:side, :side]
    image = np.stack([90 + rows * 0.5, 110 + columns * 0.4, 130 - rows * 0.3], axis=-1)
    for _ in range(12):
        left, top, right, bottom = random.integers(0, side, 4)
        colour = [float(level) for level in random.integers(60, 190, 3)]
        cv2.rectangle(image, (int(left), int(top)), (int(right), int(bottom)), colour, -1)
    image = np.asarray(cv2.GaussianBlur(image, (0, 0), 0.7), np.float64)  # no photograph has edges without any width
    texture = cv2.GaussianBlur(random.normal(0, 12, image.shape), (0, 0), 1.0)
    return np.clip(np.rint(image + texture), 40, 215).astype(np.uint8)


def with_disc(image: Pixels, colour: tuple[int, int, int] = (230, 30, 30), radius: int = 12) -> Pixels:
    """A disc put into the picture, right of the middle."""
    done = image.copy()
    cv2.circle(done, (60, 50), radius, colour, -1)
    return done


def disc(side: int = 96, radius: int = 12) -> NDArray[np.bool_]:
    """Where that disc is."""
    mask = np.zeros((side, side), np.uint8)
    cv2.circle(mask, (60, 50), radius, 1, -1)
    return mask > 0
