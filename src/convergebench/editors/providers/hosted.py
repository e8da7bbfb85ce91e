"""Models that a platform hosts (fal, Replicate): one protocol for all, with each model's own field names.

The field names of a listed model are in its row of the model table, under `wire`. For any other model the user gives
them: `image_field = "image_urls[]"` (brackets: a list), `seed_field = "seed"`, `arguments = {…}`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar, Literal

from pydantic import Field

from convergebench.documents import Strict
from convergebench.editors.models.table import ModelEntry
from convergebench.editors.providers.proportions import AllowedSizes, requested_size
from convergebench.editors.providers.remote import RemoteOptions, data_uri
from convergebench.editors.providers.wired import RequestShape, WiredEditor
from convergebench.errors import ConvergeBenchError, Prerequisite, StudyError
from convergebench.types import EditRequest

PRICE_CHANGING = ("quality", "num_images")
"""Arguments that change the price: with them the table's price is no longer valid."""
CANCEL_SECONDS = 2.0
"""Seconds that `close` waits for tasks to be cancelled."""


class HostedOptions(RemoteOptions):
    """Field names, for models that the table does not list; arguments for any model."""

    image_field: str = ""
    """Field of the image; `image_urls[]` for a list of images."""
    prompt_field: str = ""
    seed_field: str = ""
    """Field of the seed; if set, the model takes a seed."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    """Sent as they are; they override those of the table."""


class SizeParameters(Strict):
    """Fields that set a size, and the allowed sizes."""

    field: str
    least: int = 1
    most: int = 1 << 30
    shortest: int = 1
    longest: int = 1 << 30
    step: int = 1


class HostedShape(RequestShape):
    """The field names of a model."""

    image: str = ""
    prompt: str = "prompt"
    aspect: str = "aspect_ratio"
    resolution: str = "resolution"
    resolutions: dict[str, str] = Field(default_factory=dict)
    """Our name → the model's, if it differs."""
    size: SizeParameters | None = None


class HostedEditor(WiredEditor):
    """Builds the arguments of a call, and cancels abandoned tasks."""

    Options = HostedOptions
    WireShape = HostedShape
    cancel_method: ClassVar[Literal["PUT", "POST"]]
    options: HostedOptions
    shape: HostedShape

    def __init__(self, name: str, model: ModelEntry, given: Mapping[str, Any]) -> None:
        super().__init__(name, model, given)
        options, shape = self.options, self.shape
        self.image_field = options.image_field or shape.image
        self.prompt_field = options.prompt_field or shape.prompt
        self.seed_field = options.seed_field or ("seed" if model.seed != "none" else "")
        if self.seed_field:
            self.capabilities = replace(self.capabilities, seed=True)
        filled = {self.image_field.removesuffix("[]"), self.prompt_field, self.seed_field}
        taken = (filled | ({shape.size.field} if shape.size else set())) & options.arguments.keys()
        if taken:
            raise StudyError(f"editor '{name}': '{min(taken)}' is set for every call and cannot be an argument")
        # a setting cannot override a fixed argument
        if shape.aspect in options.arguments:
            self.capabilities = replace(self.capabilities, aspects=())
        if shape.resolution in options.arguments:
            self.capabilities = replace(self.capabilities, resolutions=())
        if options.dollars is None and options.arguments.keys() & {*PRICE_CHANGING, shape.resolution}:
            self.capabilities = replace(self.capabilities, dollars_per_call=None, dollars_by_resolution={})
        self._calling_off: set[asyncio.Task[None]] = set()

    def lacks(self) -> list[str]:
        """The key, and the image field of a model that the table does not list."""
        return [*super().lacks(), *self._missing_field()]

    def _missing_field(self) -> list[str]:
        if self.image_field:
            return []
        return [
            f"image_field: {self.model.wire_id} is not in the table of models; give the field for its image: "
            f"image_field = "
            f'"image_url", or "image_urls[]" for a list (its page at {self.provider} names the field)'
        ]

    def arguments(self, request: EditRequest) -> tuple[dict[str, Any], dict[str, Any]]:
        """(arguments to send, arguments to record); the second without image and instruction."""
        if self._missing_field():
            raise Prerequisite(self._missing_field()[0])
        settings, shape = request.settings, self.shape
        used: dict[str, Any] = {**shape.arguments, **self.options.arguments}
        if settings.resolution and shape.size is None:
            used[shape.resolution] = shape.resolutions.get(settings.resolution, settings.resolution)
        if shape.size is not None:
            allowed = AllowedSizes(**shape.size.model_dump(exclude={"field"}))
            width, height = requested_size(request.image, settings, allowed)
            used[shape.size.field] = {"width": width, "height": height}
        elif settings.aspect:
            used[shape.aspect] = settings.aspect
        if self.seed_field:
            used[self.seed_field] = request.seed
        image = data_uri(*self.sendable(request))
        field = self.image_field.removesuffix("[]")
        sent = {**used, self.prompt_field: request.instruction, field: image if field == self.image_field else [image]}
        return sent, {**used, "seed": request.seed} if self.seed_field else used

    def cancel_task(self, address: Any) -> None:
        """Cancel an abandoned task in the background: a cancelled call must end at once."""
        if not isinstance(address, str) or not self.trusts(address):
            return
        task = asyncio.get_running_loop().create_task(self._cancel(address))
        self._calling_off.add(task)
        task.add_done_callback(self._calling_off.discard)

    async def _cancel(self, address: str) -> None:
        with suppress(ConvergeBenchError):  # cancelling is optional
            await self.wire.send(self.cancel_method, address)

    async def close(self) -> None:
        """Close the connections once pending cancellations are done."""
        here = asyncio.get_running_loop()
        waiting = [task for task in self._calling_off if task.get_loop() is here]
        if waiting:
            await asyncio.wait(waiting, timeout=CANCEL_SECONDS)
        await super().close()


def addresses(output: Any, depth: int = 6) -> list[str]:
    """Every address in an output, in order: a string, a list, or a table with them somewhere inside."""
    if isinstance(output, str):
        return [output] if output.startswith(("http://", "https://", "data:")) else []
    if depth == 0:
        return []
    inside = output.values() if isinstance(output, dict) else output if isinstance(output, list) else ()
    return [found for one in inside for found in addresses(one, depth - 1)]
