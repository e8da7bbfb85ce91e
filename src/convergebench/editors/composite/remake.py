"""Any editor at the size and in the file format of a large model.

    picture ─▶ about a megapixel, sides on a grid ─▶ editor ─▶ that size or the picture's own ─▶ JPEG, WebP or PNG

Large models make the whole picture anew at a size of their own. A picture that already has such a size is not resized,
so only the first step of a chain resamples it; with `back = "same"` every step does.
"""

from __future__ import annotations

import asyncio
import io
from dataclasses import replace
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from PIL import Image
from pydantic import Field

from convergebench import ids
from convergebench.documents import Strict, check_document
from convergebench.editors.base import PROCESSOR, ImageSize
from convergebench.editors.composite.base import (
    CompositeEditor,
    CompositePart,
    adding_cost,
    answer_of,
    check_name,
    part_of,
    request_for,
)
from convergebench.editors.providers.proportions import AllowedSizes, nearest_size
from convergebench.errors import BadReply, StudyError
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.types import Edited, Editor, EditRequest

VERSION = 1
MEGAPIXEL = 1024**2
LOSSY_QUALITY = 90
WIDEST = 4.0
"""Widest aspect ratio, and its inverse the narrowest; a picture beyond is squeezed to it."""
SMALL = 512**2
"""The area that `seconds_per_call` of a learned editor is given for."""

FileFormat = Literal["jpeg", "webp", "png"]


class FloorOptions(Strict):
    """The size that the model works at, and how it hands its picture back."""

    megapixels: Annotated[float, Field(ge=0.001, le=16)] = 1.0
    """Area in units of 1024 × 1024 pixels."""
    multiple: Annotated[int, Field(ge=1, le=256)] = 16
    """Both sides are multiples of this; the aspect ratio becomes the nearest one that this allows."""
    format: FileFormat = "jpeg"
    """File format of the answer."""
    quality: Annotated[int, Field(ge=1, le=100)] | None = None
    """Quality of a JPEG or WebP file; unset: 90."""
    back: Literal["model", "same"] = "model"
    """Size of the answer: the `model`'s, or the `same` as that of the picture it was given."""


class RemakeOptions(FloorOptions):
    """The same, of any editor."""

    of: Any = None


class SizedInput(NamedTuple):
    """The picture as the model gets it, and its size before."""

    image: bytes
    mime: str
    before: ImageSize
    model: ImageSize


class RemakeEditor(CompositeEditor):
    """Calls its part at the model's size. It has no sessions, since no turn holds the resized picture."""

    def __init__(self, name: str, of: Editor, options: FloorOptions) -> None:
        if options.format == "png" and options.quality is not None:
            raise StudyError(f"editor '{name}': PNG has no quality; leave 'quality' out, or set format = 'jpeg'")
        self.of, self.options = of, options
        self.quality = None if options.format == "png" else options.quality or LOSSY_QUALITY
        identity = {
            "of": of.fingerprint,
            **options.model_dump(include={"megapixels", "multiple", "format", "back"}),
            "quality": self.quality,
        }
        super().__init__(name, ids.fingerprint("remake", VERSION, identity), [CompositePart(of)])
        seconds = self.capabilities.seconds_per_call
        if of.limits.account == PROCESSOR and not of.capabilities.simulated:
            seconds *= options.megapixels * MEGAPIXEL / SMALL
        # the part never sees the picture's own size
        self.capabilities = replace(self.capabilities, sides=None, seconds_per_call=seconds)

    async def edit(self, request: EditRequest) -> Edited:
        """Resize, call the part, and save its answer in the chosen format."""
        sized = await asyncio.to_thread(self._sized, request)
        inner = await answer_of(self.of, request_for(self.of, replace(request, image=sized.image, mime=sized.mime)))
        with adding_cost(inner.dollars):
            return await asyncio.to_thread(self._returned, inner, sized)

    def _sized(self, request: EditRequest) -> SizedInput:
        pixels = decode(request.image, what=f"the image given to {self.name}", alpha="white").pixels
        before = ImageSize(pixels.shape[1], pixels.shape[0])
        model = model_size(before, self.options)
        if model == before:
            return SizedInput(request.image, request.mime, before, model)
        return SizedInput(encode_png(_resized(pixels, model)), "image/png", before, model)

    def _returned(self, inner: Edited, sized: SizedInput) -> Edited:
        try:
            pixels = decode(inner.image, what=f"the image from {self.of.name}", alpha="white").pixels
        except StudyError as error:
            raise BadReply(str(error), raw=inner.raw) from error
        answered = ImageSize(pixels.shape[1], pixels.shape[0])
        if self.options.back == "same" and answered != sized.before:
            pixels = _resized(pixels, sized.before)
        used = {
            "given": str(sized.before),
            "size": str(sized.model),
            "format": self.options.format,
            **({} if self.quality is None else {"quality": self.quality}),
            "back": self.options.back,
            **({"of": dict(inner.used)} if inner.used else {}),
        }
        image = _encoded(pixels, self.options.format, self.quality)
        return replace(inner, image=image, mime=f"image/{self.options.format}", used=used)


def model_size(given: ImageSize, options: FloorOptions) -> ImageSize:
    """The size on the grid that is nearest to the picture's aspect ratio at the model's area.

    A size that the model makes is kept, so that a chain is resized once and does not wander over the grid.
    """
    area, step = options.megapixels * MEGAPIXEL, options.multiple
    ratio = given.width / given.height
    on_grid = given.width % step == given.height % step == 0
    least, most = ((given.width + way) * (given.height + way) for way in (-step, step))
    if on_grid and least < area < most and 1 / WIDEST <= ratio <= WIDEST:
        return given
    allowed = AllowedSizes(shortest=step, step=step)
    return ImageSize(*nearest_size(min(max(ratio, 1 / WIDEST), WIDEST), area, allowed))


def _resized(pixels: Pixels, size: ImageSize) -> Pixels:
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.LANCZOS), np.uint8)


def _encoded(pixels: Pixels, kind: FileFormat, quality: int | None) -> bytes:
    if quality is None:
        return encode_png(pixels)
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, kind, quality=quality)
    return data.getvalue()


def remake(name: str, **options: Any) -> RemakeEditor:
    """`remake`: works at a megapixel and returns a JPEG, as large models do; `remake(E)`."""
    read = check_document(options, RemakeOptions, where=name)
    of = part_of(name, "of", read.of)
    check_name("remake", name, [CompositePart(of)])
    return RemakeEditor(name, of, read)


remake.positional = ("of",)  # type: ignore[attr-defined]  # read by the parser of expressions
