"""Models that a platform hosts (fal, Replicate): one protocol for all of them, and names of its own for each.

What a listed model calls its fields stands in its row of the model table, under `wire`. For any other model of the
platform the user says it: `image_field = "image_urls[]"` (brackets: a list), `seed_field = "seed"`, `arguments = {…}`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar, Literal

from pydantic import Field

from convergebench.documents import Strict
from convergebench.editors.models.table import Model
from convergebench.editors.providers.proportions import Allowed, size_to_ask
from convergebench.editors.providers.remote import RemoteOptions, data_uri
from convergebench.editors.providers.wired import Shape, WiredEditor
from convergebench.errors import ConvergeBenchError, Prerequisite, StudyError
from convergebench.types import EditRequest

PRICED = ("quality", "num_images")
"""Arguments that change what a call costs: with them, what the table says is no longer known."""
LINGER = 2.0
"""Seconds that `close` waits for tasks to be called off."""


class HostedOptions(RemoteOptions):
    """Names of fields, for models that the table does not know; arguments for any."""

    image_field: str = ""
    """Where the image goes; `image_urls[]` where a list of images is wanted."""
    prompt_field: str = ""
    seed_field: str = ""
    """Named: the model takes a seed."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    """Sent as they are, over the row's own."""


class Sizes(Strict):
    """Where a size can be asked for, and which."""

    field: str
    least: int = 1
    most: int = 1 << 30
    shortest: int = 1
    longest: int = 1 << 30
    step: int = 1


class HostedShape(Shape):
    """What a model calls its fields."""

    image: str = ""
    prompt: str = "prompt"
    aspect: str = "aspect_ratio"
    resolution: str = "resolution"
    resolutions: dict[str, str] = Field(default_factory=dict)
    """Our word → the model's, where it is another one."""
    size: Sizes | None = None


class HostedEditor(WiredEditor):
    """Puts the arguments of a call together, and calls off what nobody waits for any more."""

    Options = HostedOptions
    WireShape = HostedShape
    calls_off_with: ClassVar[Literal["PUT", "POST"]]
    options: HostedOptions
    shape: HostedShape

    def __init__(self, name: str, model: Model, given: Mapping[str, Any]) -> None:
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
            raise StudyError(f"editor '{name}': '{min(taken)}' is filled in for every call and cannot be an argument")
        # what an argument says for every call, no setting can say for one
        if shape.aspect in options.arguments:
            self.capabilities = replace(self.capabilities, aspects=())
        if shape.resolution in options.arguments:
            self.capabilities = replace(self.capabilities, resolutions=())
        if options.dollars is None and options.arguments.keys() & {*PRICED, shape.resolution}:
            self.capabilities = replace(self.capabilities, dollars_per_call=None, dollars_by_resolution={})
        self._calling_off: set[asyncio.Task[None]] = set()

    def lacks(self) -> list[str]:
        """Beside the key: where the image goes, for a model that the table does not know."""
        return [*super().lacks(), *self._unsaid()]

    def _unsaid(self) -> list[str]:
        if self.image_field:
            return []
        return [
            f"image_field: {self.model.wire_id} is not in the table of models; say where its image goes: image_field = "
            f'"image_url", or "image_urls[]" for a list (its page at {self.provider} names the field)'
        ]

    def arguments(self, request: EditRequest) -> tuple[dict[str, Any], dict[str, Any]]:
        """(what is sent, what of it is told): the second without the image and the words."""
        if self._unsaid():
            raise Prerequisite(self._unsaid()[0])
        settings, shape = request.settings, self.shape
        used: dict[str, Any] = {**shape.arguments, **self.options.arguments}
        if settings.resolution and shape.size is None:
            used[shape.resolution] = shape.resolutions.get(settings.resolution, settings.resolution)
        if shape.size is not None:
            allowed = Allowed(**shape.size.model_dump(exclude={"field"}))
            width, height = size_to_ask(request.image, settings, allowed)
            used[shape.size.field] = {"width": width, "height": height}
        elif settings.aspect:
            used[shape.aspect] = settings.aspect
        if self.seed_field:
            used[self.seed_field] = request.seed
        image = data_uri(*self.sendable(request))
        field = self.image_field.removesuffix("[]")
        sent = {**used, self.prompt_field: request.instruction, field: image if field == self.image_field else [image]}
        return sent, {**used, "seed": request.seed} if self.seed_field else used

    def call_off(self, address: Any) -> None:
        """Tell the platform that nobody waits for a task. Does not wait itself: a cancelled call ends at once."""
        if not isinstance(address, str) or not self.trusts(address):
            return
        task = asyncio.get_running_loop().create_task(self._call_off(address))
        self._calling_off.add(task)
        task.add_done_callback(self._calling_off.discard)

    async def _call_off(self, address: str) -> None:
        with suppress(ConvergeBenchError):  # it was a courtesy
            await self.wire.send(self.calls_off_with, address)

    async def close(self) -> None:
        """Let go of the connections, after what is being called off has been."""
        here = asyncio.get_running_loop()
        waiting = [task for task in self._calling_off if task.get_loop() is here]
        if waiting:
            await asyncio.wait(waiting, timeout=LINGER)
        await super().close()


def addresses(output: Any, depth: int = 6) -> list[str]:
    """Every address in an output, in order: a string, a list, or a table with them somewhere inside."""
    if isinstance(output, str):
        return [output] if output.startswith(("http://", "https://", "data:")) else []
    if depth == 0:
        return []
    inside = output.values() if isinstance(output, dict) else output if isinstance(output, list) else ()
    return [found for one in inside for found in addresses(one, depth - 1)]
