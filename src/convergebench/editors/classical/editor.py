"""A classical method as an editor: restores the image at its own size and ignores the instruction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import cv2

from convergebench import ids
from convergebench.documents import Strict, check_document
from convergebench.editors.base import BaseEditor, cpu_limits
from convergebench.editors.classical.answer import ClassicalAnswer
from convergebench.editors.classical.deconvolution import DeconvolutionOptions, given_psf
from convergebench.errors import StudyError
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.types import Capabilities, Edited, EditRequest

SMALLEST = 4
"""Shorter side in pixels below which a picture comes back as it is: there is nothing to estimate from."""


@dataclass(frozen=True, slots=True)
class ClassicalMethod:
    """The definition of a named method."""

    name: str
    options: type[Strict]
    function: Callable[[Pixels, Any], ClassicalAnswer]
    seconds: float
    """For 1024 × 1024 pixels on one core."""
    version: int = 1
    """Raised whenever the output pixels change; part of the fingerprint."""


class ClassicalEditor(BaseEditor):
    """Restores images. Equal images give equal bytes, for any number of parallel calls and cores."""

    def __init__(self, name: str, method: ClassicalMethod, options: Mapping[str, Any]) -> None:
        self.name = name
        self.method = method
        self.options = check_document(options, method.options, where=f"editor '{name}'")
        if isinstance(self.options, DeconvolutionOptions):
            try:
                given_psf(self.options)
            except StudyError as error:
                raise StudyError(f"editor '{name}': {error}") from error
        self.fingerprint = ids.fingerprint(method.name, method.version, self.options.model_dump())
        self.capabilities = Capabilities(deterministic=True, instructed=False, seconds_per_call=method.seconds)
        self.limits = cpu_limits()

    async def edit(self, request: EditRequest) -> Edited:
        """One restoration, in a thread."""
        return await asyncio.to_thread(self._edit, request.image)

    def _edit(self, image: bytes) -> Edited:
        pixels = decode(image, what=f"the image given to {self.name}", alpha="white").pixels
        done = ClassicalAnswer(pixels, {"too small": True})
        if min(pixels.shape[:2]) >= SMALLEST:
            done = self.method.function(pixels, self.options)
        used = {**done.used, "opencv": cv2.__version__}
        return Edited(encode_png(done.pixels), "image/png", self.method.name, used=used)
