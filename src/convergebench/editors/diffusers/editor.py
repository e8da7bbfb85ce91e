"""A local pipeline as an editor: loaded at the first call, with batches across chains."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from pathlib import Path

from convergebench import ids
from convergebench.editors.base import BaseEditor
from convergebench.editors.diffusers import checkpoints, loading, readiness
from convergebench.editors.diffusers.batcher import Batcher
from convergebench.editors.diffusers.calling import GeneratedImage, PipelineCaller, PipelineRequest
from convergebench.editors.diffusers.families import FAMILIES, MODELS, DiffusersModel
from convergebench.editors.diffusers.options import PipelineOptions
from convergebench.images.decode import decode
from convergebench.types import Capabilities, Edited, EditRequest, Limits, Resources

VERSION = 1
"""Incremented whenever the pipeline is called differently; part of every fingerprint."""
LONGEST = 16384
"""Longest side in pixels; no pipeline uses more."""
CALL_SECONDS = 24 * 3600.0
"""Time limit of a call: the first one loads tens of gigabytes, and a CPU may need hours for one image. A long limit
does no harm, as there is no connection that could break."""


class DiffusersEditor(BaseEditor):
    """One checkpoint with one set of options."""

    def __init__(
        self, name: str, model: DiffusersModel, options: PipelineOptions, *, batch_size: int | None = None
    ) -> None:
        """`batch_size` overrides the options' samples per call, for benchmarks."""
        self.name = name
        self.model = model
        self.family = FAMILIES[model.family]
        self.options = options
        self._source = options.path or model.hub
        self._weights = checkpoints.identity(self._source, options.revision)
        identity = {"family": self.family.name, "weights": self._weights, **options.identity()}
        builtin = next((known for known, one in MODELS.items() if one == model), "diffusers")
        self.fingerprint = ids.fingerprint(builtin, VERSION, identity)
        self.capabilities = Capabilities(
            seed=True, sides=(self.family.shortest, LONGEST), seconds_per_call=options.steps * 0.5
        )
        # the next batch is decoded while the current one is generated
        self.limits = Limits(at_once=2 * options.batch_size, seconds=CALL_SECONDS)
        self.resources = Resources(gpus=0.0 if options.device == "cpu" else 1.0)
        self._batch_size = batch_size or options.batch_size
        self._caller: PipelineCaller | None = None
        self._device = ""
        self._batcher: Batcher[PipelineRequest, GeneratedImage] = Batcher(self._generate, most=self._batch_size)

    def lacks(self) -> list[str]:
        """Missing packages, weights or GPU; see `readiness`."""
        return readiness.lacks(self.name, self.model, self.family, self.options)

    async def edit(self, request: EditRequest) -> Edited:
        """Run the pipeline, in a batch with other requests of the same size."""
        frame = await asyncio.to_thread(decode, request.image, what="the image to edit", alpha="white")
        sample = PipelineRequest(frame.pixels, request.instruction, request.seed)
        generated = await self._batcher.ask(self._key(sample), sample)
        return Edited(generated.png, "image/png", self._resolved(), used=self._used(sample, generated))

    async def close(self) -> None:
        """Release the model's memory."""
        await self._batcher.close()
        self._caller = None

    def _key(self, sample: PipelineRequest) -> Hashable:
        return (sample.size, sample.words if self.family.same_prompt else None)

    def _generate(self, samples: Sequence[PipelineRequest]) -> list[GeneratedImage | Exception]:
        if self._caller is None:
            pipeline = loading.load(self.name, self.model, self.family, self.options)
            self._device = readiness.device_description(self.options.device)
            self._caller = PipelineCaller(self.name, self.family, self.options, pipeline, batch_size=self._batch_size)
        answers = self._caller.generate(samples)
        self._batcher.most = self._caller.batch_size
        return answers

    def _resolved(self) -> str:
        found = checkpoints.find(self._source, self.options.revision)
        if found.commit is not None:
            return f"{found.name}@{found.commit}"
        return f"{Path(found.name).name}@{self._weights.removeprefix('files:')[:12]}"

    def _used(self, sample: PipelineRequest, generated: GeneratedImage) -> dict[str, object]:
        settings = {option: getattr(self.options, option) for option, _ in self.family.arguments}
        return {
            "seed": sample.seed,
            "size": str(generated.size),
            "input_size": str(sample.size),
            "size_rule": self.family.size.words,
            "steps": self.options.steps,
            "dtype": self.options.precision,
            "device": self._device,
            "offload": self.options.offload,
            "batch": generated.batch_size,
            **{option: value for option, value in settings.items() if value is not None},
        }
