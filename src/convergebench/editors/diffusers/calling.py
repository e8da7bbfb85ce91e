"""One call of a pipeline for several samples of one size.

Kernels are chosen by shape, and another kernel rounds in another way. So a call always has the full number of samples:
if fewer wait, the last one is repeated and its copies are thrown away. That is meant to make the bits independent of
company; what of it has been measured, and where, stands in docs/design/local-pipelines.md. Every sample has a random
generator of its own, on the processor, where its numbers hang on the seed and nothing else.

Where a processor does the work this is not always enough: in calls of three, the last sample of Qwen-Image-Edit came
out otherwise than in front (traced to the transformer, no further). There samples are drawn one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from convergebench.editors.diffusers.families import Family
from convergebench.editors.diffusers.loading import one_line, out_of_memory
from convergebench.editors.diffusers.options import MEGAPIXEL, Common
from convergebench.editors.diffusers.sizes import Size
from convergebench.errors import BadReply, Refused, StudyError, Unavailable
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels


@dataclass(frozen=True, slots=True)
class Sample:
    """What one chain wants done."""

    pixels: Pixels
    words: str
    seed: int

    @property
    def size(self) -> Size:
        """Of the image."""
        return Size(self.pixels.shape[1], self.pixels.shape[0])


@dataclass(frozen=True, slots=True)
class Drawn:
    """What came of it."""

    png: bytes
    size: Size
    wanted: Size
    """As the rule has it; the pipeline's answer is never made to fit."""
    together: int
    """How many samples the call had, copies included."""


class Caller:
    """Sends samples through a loaded pipeline, and finds out how many fit at once."""

    def __init__(self, name: str, family: Family, options: Common, pipeline: Any, *, together: int) -> None:
        self.room = together
        self._name = name
        self._family = family
        self._options = options
        self._pipeline = pipeline

    def draw(self, samples: Sequence[Sample]) -> list[Drawn | Exception]:
        """An answer or what was wrong with it for each sample; all of one size."""
        answers: list[Drawn | Exception] = []
        while len(answers) < len(samples):
            some = samples[len(answers) : len(answers) + self.room]
            try:
                answers += self._call(some)
            except (BadReply, StudyError, Unavailable):
                raise
            except Exception as error:
                self._recover(error, some[0].size)
        return answers

    def _call(self, samples: Sequence[Sample]) -> list[Drawn | Exception]:
        import torch
        from PIL import Image

        full = [*samples, *[samples[-1]] * (self.room - len(samples))]
        wanted = self._wanted(samples[0].size)
        images = [Image.fromarray(sample.pixels) for sample in full]
        alone = self._family.batching == "alone"
        arguments: dict[str, Any] = {
            "image": images[0] if alone else images,
            "prompt": full[0].words if alone else [sample.words for sample in full],
            "generator": [torch.Generator("cpu").manual_seed(sample.seed) for sample in full],
            "num_inference_steps": self._options.steps,
            "output_type": "np",
            **self._settings(len(full)),
        }
        if self._family.sized:
            arguments |= {"width": wanted.width, "height": wanted.height}
        if self._family.name == "flux-kontext":
            # it scales width and height to this area, whatever they are; theirs leaves them alone
            arguments["max_area"] = wanted.width * wanted.height
        with steady(torch):
            reply = self._pipeline(**arguments)
        flagged = getattr(reply, "nsfw_content_detected", None) or [False] * len(full)
        if len(reply.images) != len(full):
            raise BadReply(f"{self._family.pipeline} gave {len(reply.images)} images for {len(full)} samples")
        return [
            Refused("the safety checker that came with the model blanked the image", reason="nsfw_content_detected")
            if flagged[index]
            else self._drawn(reply.images[index], wanted)
            for index in range(len(samples))
        ]

    def _settings(self, count: int) -> dict[str, Any]:
        given = {keyword: getattr(self._options, option) for option, keyword in self._family.arguments}
        settings = {keyword: value for keyword, value in given.items() if value is not None}
        if "negative_prompt" in settings and self._family.batching != "alone":
            settings["negative_prompt"] = [settings["negative_prompt"]] * count
        return settings

    def _wanted(self, given: Size) -> Size:
        area = getattr(self._options, "max_area", MEGAPIXEL)
        return self._family.size.size(given, area=area, scale=self._pipeline.vae_scale_factor)

    def _drawn(self, image: Any, wanted: Size) -> Drawn | BadReply:
        values = np.asarray(image, np.float32)
        if not np.isfinite(values).all():  # the others of its batch may be fine
            return BadReply(
                f"the pipeline's image is not a number in places; try the option dtype='float32' of '{self._name}'"
            )
        pixels = (values * 255).round().clip(0, 255).astype(np.uint8)
        return Drawn(encode_png(pixels), Size(pixels.shape[1], pixels.shape[0]), wanted, self.room)

    def _recover(self, error: Exception, size: Size) -> None:
        """Halve the number of samples if that may help; otherwise say in one line what is wrong."""
        import torch

        if out_of_memory(error):
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            if self.room > 1:
                self.room //= 2
                return
            cure = "offload='model'" if self._options.offload == "none" else "offload='sequential'"
            raise Unavailable(f"one image of {size} does not fit into the GPU; set the option {cure} of '{self._name}'")
        if isinstance(error, ValueError | TypeError):
            raise StudyError(f"editor '{self._name}' cannot edit an image of {size}: {one_line(error)}") from error
        raise Unavailable(f"editor '{self._name}' failed: {one_line(error)}") from error


class _Steady:
    """No kernels picked by a race or that add in any order, and float32 that means float32; as before afterwards.

    The settings are the process's, and two pipelines may run at once: the first one in sets them, the last one out
    puts them back.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._back = ExitStack()

    @contextmanager
    def __call__(self, torch: Any) -> Iterator[None]:
        with self._lock:
            if self._inside == 0:
                self._set(torch.backends)
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    self._back.close()

    def _set(self, backends: Any) -> None:
        wishes: list[tuple[Any, str, object]] = [
            (backends.cudnn, "deterministic", True),
            (backends.cudnn, "benchmark", False),
        ]
        for backend in (getattr(backends.cudnn, "conv", None), backends.cuda.matmul):
            if hasattr(backend, "fp32_precision"):
                wishes.append((backend, "fp32_precision", "ieee"))
        for backend, setting, value in wishes:
            self._back.callback(setattr, backend, setting, getattr(backend, setting))
            setattr(backend, setting, value)


steady = _Steady()
