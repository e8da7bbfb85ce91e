"""One call of a pipeline for several samples of one size.

Kernels are chosen by shape, and kernels round differently. So a call always has the full number of samples: if fewer
are waiting, the last one is repeated and its copies are discarded. This is meant to make a result independent of the
other samples; docs/design/local-pipelines.md says what of it has been measured. Every sample has its own random
generator, on the CPU, where its numbers depend only on the seed.

On a CPU this is not always enough: in calls of three, the last sample of Qwen-Image-Edit differed from the same sample
in first position (traced to the transformer, no further). There samples are generated one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from convergebench.editors.base import ImageSize
from convergebench.editors.diffusers.families import PipelineFamily
from convergebench.editors.diffusers.loading import one_line, out_of_memory
from convergebench.editors.diffusers.options import MEGAPIXEL, PipelineOptions
from convergebench.errors import BadReply, Refused, StudyError, Unavailable
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels


@dataclass(frozen=True, slots=True)
class PipelineRequest:
    """The request of one chain."""

    pixels: Pixels
    words: str
    seed: int

    @property
    def size(self) -> ImageSize:
        """Size of the input image."""
        return ImageSize(self.pixels.shape[1], self.pixels.shape[0])


@dataclass(frozen=True, slots=True)
class GeneratedImage:
    """The result of one request."""

    png: bytes
    size: ImageSize
    target: ImageSize
    """Requested size; an answer of another size is not resized."""
    batch_size: int
    """Samples in the call, copies included."""


class PipelineCaller:
    """Runs a loaded pipeline on samples, and adapts the batch size to the memory."""

    def __init__(
        self, name: str, family: PipelineFamily, options: PipelineOptions, pipeline: Any, *, batch_size: int
    ) -> None:
        self.batch_size = batch_size
        self._name = name
        self._family = family
        self._options = options
        self._pipeline = pipeline

    def generate(self, samples: Sequence[PipelineRequest]) -> list[GeneratedImage | Exception]:
        """An answer or an exception for each sample; all samples have the same size."""
        answers: list[GeneratedImage | Exception] = []
        while len(answers) < len(samples):
            batch = samples[len(answers) : len(answers) + self.batch_size]
            try:
                answers += self._call(batch)
            except (BadReply, StudyError, Unavailable):
                raise
            except Exception as error:
                self._recover(error, batch[0].size)
        return answers

    def _call(self, samples: Sequence[PipelineRequest]) -> list[GeneratedImage | Exception]:
        import torch
        from PIL import Image

        full = [*samples, *[samples[-1]] * (self.batch_size - len(samples))]
        target = self._target_size(samples[0].size)
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
            arguments |= {"width": target.width, "height": target.height}
        if self._family.name == "flux-kontext":
            # the pipeline scales width and height to this area; their own area leaves them unchanged
            arguments["max_area"] = target.width * target.height
        with deterministic_kernels(torch):
            reply = self._pipeline(**arguments)
        flagged = getattr(reply, "nsfw_content_detected", None) or [False] * len(full)
        if len(reply.images) != len(full):
            raise BadReply(f"{self._family.pipeline} gave {len(reply.images)} images for {len(full)} samples")
        return [
            Refused("the safety checker that came with the model blanked the image", reason="nsfw_content_detected")
            if flagged[index]
            else self._generated(reply.images[index], target)
            for index in range(len(samples))
        ]

    def _settings(self, count: int) -> dict[str, Any]:
        given = {keyword: getattr(self._options, option) for option, keyword in self._family.arguments}
        settings = {keyword: value for keyword, value in given.items() if value is not None}
        if "negative_prompt" in settings and self._family.batching != "alone":
            settings["negative_prompt"] = [settings["negative_prompt"]] * count
        return settings

    def _target_size(self, given: ImageSize) -> ImageSize:
        area = getattr(self._options, "max_area", MEGAPIXEL)
        return self._family.size.size(given, area=area, scale=self._pipeline.vae_scale_factor)

    def _generated(self, image: Any, target: ImageSize) -> GeneratedImage | BadReply:
        values = np.asarray(image, np.float32)
        if not np.isfinite(values).all():  # other samples of the batch may be valid
            return BadReply(f"the pipeline returned NaN pixels; try the option dtype='float32' of '{self._name}'")
        pixels = (values * 255).round().clip(0, 255).astype(np.uint8)
        return GeneratedImage(encode_png(pixels), ImageSize(pixels.shape[1], pixels.shape[0]), target, self.batch_size)

    def _recover(self, error: Exception, size: ImageSize) -> None:
        """Halve the batch size if memory ran out; otherwise raise a one-line error."""
        import torch

        if out_of_memory(error):
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            if self.batch_size > 1:
                self.batch_size //= 2
                return
            fix = "offload='model'" if self._options.offload == "none" else "offload='sequential'"
            raise Unavailable(
                f"one image of {size} does not fit into GPU memory; set the option {fix} of '{self._name}'"
            )
        if isinstance(error, ValueError | TypeError):
            raise StudyError(f"editor '{self._name}' cannot edit an image of {size}: {one_line(error)}") from error
        raise Unavailable(f"editor '{self._name}' failed: {one_line(error)}") from error


class _DeterministicKernels:
    """Deterministic kernels without autotuning, and full float32 precision, while the context is active.

    The settings are global, and two pipelines may run at once: the first one sets them, the last one restores them.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._restore = ExitStack()

    @contextmanager
    def __call__(self, torch: Any) -> Iterator[None]:
        with self._lock:
            if self._users == 0:
                self._set(torch.backends)
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._restore.close()

    def _set(self, backends: Any) -> None:
        settings: list[tuple[Any, str, object]] = [
            (backends.cudnn, "deterministic", True),
            (backends.cudnn, "benchmark", False),
        ]
        for backend in (getattr(backends.cudnn, "conv", None), backends.cuda.matmul):
            if hasattr(backend, "fp32_precision"):
                settings.append((backend, "fp32_precision", "ieee"))
        for backend, setting, value in settings:
            self._restore.callback(setattr, backend, setting, getattr(backend, setting))
            setattr(backend, setting, value)


deterministic_kernels = _DeterministicKernels()
