"""A local pipeline as an editor: loaded at the first call, shared by the chains that wait together."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from pathlib import Path

from convergebench import ids
from convergebench.editors.base import BaseEditor
from convergebench.editors.diffusers import checkpoints, loading, readiness
from convergebench.editors.diffusers.batcher import Batcher
from convergebench.editors.diffusers.calling import Caller, Drawn, Sample
from convergebench.editors.diffusers.families import FAMILIES, MODELS, Model
from convergebench.editors.diffusers.options import Common
from convergebench.images.decode import decode
from convergebench.types import Capabilities, Edited, EditRequest, Limits

VERSION = 1
"""Raised whenever the same pipeline would be called in another way; part of every fingerprint."""
LONGEST = 16384
"""Pixels a side; no pipeline looks at more."""
PATIENCE = 24 * 3600.0
"""Seconds. The first call loads tens of gigabytes, and a processor may need hours for one image. Nothing is lost by
waiting: there is no connection that could have died."""


class DiffusersEditor(BaseEditor):
    """One checkpoint with one set of options."""

    def __init__(self, name: str, model: Model, options: Common, *, together: int | None = None) -> None:
        """`together` is for measuring: so many samples a call, also where the options would draw them one by one."""
        self.name = name
        self.model = model
        self.family = FAMILIES[model.family]
        self.options = options
        self._where = options.path or model.hub
        self._weights = checkpoints.identity(self._where, options.revision)
        identity = {"family": self.family.name, "weights": self._weights, **options.identity()}
        builtin = next((known for known, one in MODELS.items() if one == model), "diffusers")
        self.fingerprint = ids.fingerprint(builtin, VERSION, identity)
        self.capabilities = Capabilities(
            seed=True, sides=(self.family.shortest, LONGEST), seconds_per_call=options.steps * 0.5
        )
        # the next batch is decoded and waiting while the last one is drawn
        self.limits = Limits(at_once=2 * options.together, seconds=PATIENCE)
        self._together = together or options.together
        self._caller: Caller | None = None
        self._device = ""
        self._batcher: Batcher[Sample, Drawn] = Batcher(self._draw, most=self._together)

    def lacks(self) -> list[str]:
        """Packages, weights or a GPU; see `readiness`."""
        return readiness.lacks(self.name, self.model, self.family, self.options)

    async def edit(self, request: EditRequest) -> Edited:
        """Wait for others of the same size, go through the pipeline with them."""
        frame = await asyncio.to_thread(decode, request.image, what="the image to edit", alpha="white")
        sample = Sample(frame.pixels, request.instruction, request.seed)
        drawn = await self._batcher.ask(self._key(sample), sample)
        return Edited(drawn.png, "image/png", self._resolved(), used=self._used(sample, drawn))

    async def close(self) -> None:
        """Let the model's memory go."""
        await self._batcher.close()
        self._caller = None

    def _key(self, sample: Sample) -> Hashable:
        return (sample.size, sample.words if self.family.same_words else None)

    def _draw(self, samples: Sequence[Sample]) -> list[Drawn | Exception]:
        if self._caller is None:
            pipeline = loading.load(self.name, self.model, self.family, self.options)
            self._device = readiness.device_in_words(self.options.device)
            self._caller = Caller(self.name, self.family, self.options, pipeline, together=self._together)
        answers = self._caller.draw(samples)
        self._batcher.most = self._caller.room
        return answers

    def _resolved(self) -> str:
        found = checkpoints.find(self._where, self.options.revision)
        if found.commit is not None:
            return f"{found.name}@{found.commit}"
        return f"{Path(found.name).name}@{self._weights.removeprefix('files:')[:12]}"

    def _used(self, sample: Sample, drawn: Drawn) -> dict[str, object]:
        settings = {option: getattr(self.options, option) for option, _ in self.family.arguments}
        return {
            "seed": sample.seed,
            "size": str(drawn.size),
            "input_size": str(sample.size),
            "size_rule": self.family.size.words,
            "steps": self.options.steps,
            "dtype": self.options.precision,
            "device": self._device,
            "offload": self.options.offload,
            "batch": drawn.together,
            **{option: value for option, value in settings.items() if value is not None},
        }
