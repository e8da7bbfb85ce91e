"""FLUX at Black Forest Labs: submit, poll, download. They have no Python library of their own."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from convergebench.editors.models.table import ModelEntry
from convergebench.editors.providers.download import image_at, is_web_url
from convergebench.editors.providers.proportions import AllowedSizes, requested_size
from convergebench.editors.providers.remote import RemoteOptions
from convergebench.editors.providers.wired import RequestShape, WiredEditor, amount, part
from convergebench.errors import BadReply, EditorError, Refused, StudyError, Transient
from convergebench.images.decode import probe
from convergebench.types import Edited, EditRequest
from convergebench.wire.client import clean
from convergebench.wire.poll import until_done
from convergebench.wire.raw import without_images

MODERATED = ("Request Moderated", "Content Moderated")
WAITING = ("Pending", "Queued", "Processing", "Reasoning")
MEGAPIXEL = 1024**2
SIZES = AllowedSizes(shortest=64, most=4 * MEGAPIXEL, step=16)
"""Sizes of FLUX.2."""


class BlackForestLabsOptions(RemoteOptions):
    """Optional arguments of a call."""

    output_format: Literal["png", "jpeg"] = "png"
    safety_tolerance: Annotated[int, Field(ge=0, le=6)] | None = None
    steps: Annotated[int, Field(ge=1, le=50)] | None = None
    """Only for FLUX.2 flex."""
    guidance: Annotated[float, Field(ge=1.5, le=10)] | None = None
    """Only for FLUX.2 flex."""


class BlackForestLabsShape(RequestShape):
    """Differences between the endpoints."""

    ignored: ClassVar = frozenset({"tolerance"})
    sized: bool = False
    """Accepts width and height; other endpoints follow the input or `aspect_ratio`."""
    stepped: bool = False
    """Accepts steps and guidance."""
    tolerance: int = 6
    """The highest safety tolerance."""


class BlackForestLabsEditor(WiredEditor):
    """FLUX.1 Kontext and FLUX.2 by their maker."""

    Options = BlackForestLabsOptions
    WireShape = BlackForestLabsShape
    provider = "bfl"
    keys: ClassVar = ("BFL_API_KEY",)
    key_header = "x-key"
    key_form = "{}"
    address = "https://api.bfl.ai"
    own_hosts = (".bfl.ai",)
    options: BlackForestLabsOptions
    shape: BlackForestLabsShape

    def __init__(self, name: str, model: ModelEntry, given: Mapping[str, Any]) -> None:
        super().__init__(name, model, given)
        options = self.options
        if not self.shape.stepped and (options.steps is not None or options.guidance is not None):
            raise StudyError(f"editor '{name}': {model.id} takes no steps and no guidance; flux-2-flex does")
        if (options.safety_tolerance or 0) > self.shape.tolerance:
            raise StudyError(f"editor '{name}': safety_tolerance of {model.id} is at most {self.shape.tolerance}")

    async def edit(self, request: EditRequest) -> Edited:
        """Submit, poll until it is ready, download at once: the address expires after ten minutes."""
        used = self._arguments(request)
        data, _ = self.sendable(request)
        body = {**used, "prompt": request.instruction, "input_image": base64.b64encode(data).decode()}
        task = self.read(await self.wire.send("POST", f"/v1/{self.model.wire_id}", json=body))
        dollars = self._dollars(task, request, used)
        result = await self._ready(task, dollars)
        raw = without_images({"task": task, "result": result})
        sample = part(result, "result", "sample")
        if not isinstance(sample, str):
            message = f"{self.name} is ready but names no image"
            raise BadReply(message, raw=raw, dollars=dollars, unsettled=not dollars)
        data = await image_at(self.wire, sample, who=self.name, raw=raw, dollars=dollars)
        image, mime = self.received(data, raw=raw, dollars=dollars)
        return Edited(image, mime, self.model.wire_id, dollars, raw=raw, used=used)

    def _arguments(self, request: EditRequest) -> dict[str, Any]:
        """All arguments except instruction and image. Without an aspect, Kontext keeps the input's."""
        options, settings = self.options, request.settings
        sent: dict[str, Any] = {**self.shape.arguments, "output_format": options.output_format}
        if self.capabilities.seed:
            sent["seed"] = request.seed
        for name in ("safety_tolerance", "steps", "guidance"):
            if getattr(options, name) is not None:
                sent[name] = getattr(options, name)
        if self.shape.sized:
            sent["width"], sent["height"] = requested_size(request.image, settings, SIZES)
        elif settings.aspect:
            sent["aspect_ratio"] = settings.aspect
        return sent

    def _dollars(self, task: dict[str, Any], request: EditRequest, used: Mapping[str, Any]) -> float:
        """The cost that the reply states, in cents; else by the table, which depends on the pixels."""
        stated, price = amount(task.get("cost")), self.model.price
        if stated is not None:
            return stated / 100
        if self.options.dollars is not None or price is None or price.call is None or price.megapixel is None:
            return self.price(request)
        own = probe(request.image)
        pixels = (own.width * own.height, int(used.get("width", 0)) * int(used.get("height", 0)))
        return price.call + price.megapixel * sum(max(0.0, one / MEGAPIXEL - 1) for one in pixels)

    async def _ready(self, task: dict[str, Any], dollars: float) -> dict[str, Any]:
        address, raw = task.get("polling_url"), without_images(task)
        if not is_web_url(address):
            message = f"{self.name} accepted the task but gave no polling address"
            raise BadReply(message, raw=raw, dollars=dollars, unsettled=not dollars)

        async def poll() -> dict[str, Any] | None:
            result = await self.poll_task(address, dollars=dollars, raw=raw)
            status = result.get("status")
            if status == "Ready":
                return result
            if status not in WAITING:
                raise self._failure(str(status), result, dollars)
            return None

        return await until_done(poll, seconds=self.limits.seconds, who=self.name, dollars=dollars)

    def _failure(self, status: str, result: dict[str, Any], dollars: float) -> EditorError:
        """A task that ended without an image: stopped by the filter, failed (`Error`), or lost (`Task not found`)."""
        raw = without_images(result)
        why = clean(str(result.get("details") or result.get("result") or status))
        if status in MODERATED:
            return Refused(f"{status}: {why}", reason=status, raw=raw, dollars=dollars)
        return Transient(f"{self.name} answers {clean(status)}: {why}", raw=raw, dollars=dollars)
