"""Seedream at BytePlus ModelArk and Volcengine Ark: one call, with input and output as base64.

Ids that begin with `doubao-` use the address in Beijing, all others the international one; `base_url` overrides it (for
the user's own `ep-…` ids, say). Why not their library: docs/design.
"""

from __future__ import annotations

from typing import Any, ClassVar

from convergebench.editors.providers.download import image_at, image_in
from convergebench.editors.providers.proportions import AllowedSizes, requested_size
from convergebench.editors.providers.remote import RemoteOptions, data_uri
from convergebench.editors.providers.wired import RequestShape, WiredEditor, amount, part
from convergebench.errors import BadReply, EditorError, Refused
from convergebench.types import Edited, EditRequest
from convergebench.wire.client import HttpReply, clean
from convergebench.wire.raw import without_images
from convergebench.wire.verdict import ErrorVerdict, classify_failure

CHINA = "https://ark.cn-beijing.volces.com/api/v3"
NO_CREDIT_CODES = ("accountoverdueerror", "setlimitexceeded", "quotaexceeded")


class ArkShape(RequestShape):
    """Accepted sizes in total pixels. Without `most`, 2K is requested."""

    least: int = 1
    most: int | None = None


class ArkEditor(WiredEditor):
    """Seedream by its maker."""

    Options = RemoteOptions
    WireShape = ArkShape
    provider = "ark"
    keys: ClassVar = ("ARK_API_KEY",)
    address = "https://ark.ap-southeast.bytepluses.com/api/v3"
    takes = frozenset({"image/png", "image/jpeg"})
    shape: ArkShape

    def home(self) -> str:
        """Two clouds with one interface."""
        return CHINA if self.model.wire_id.startswith("doubao-") else self.address

    async def edit(self, request: EditRequest) -> Edited:
        """One call."""
        used = self._arguments(request)
        image = data_uri(*self.sendable(request))
        body = {**used, "model": self.model.wire_id, "prompt": request.instruction, "image": image}
        reply = self.read(await self.wire.send("POST", "/images/generations", json=body))
        raw = without_images(reply)
        made = amount(part(reply, "usage", "generated_images"))
        dollars = self.price(request) * (1.0 if made is None else made)
        error = part(reply, "data", 0, "error") or part(reply, "error")
        if error:
            raise self._error(error, raw, dollars)
        first = part(reply, "data", 0)
        if made == 0 and first is None:  # the reply says that nothing is charged
            raise BadReply(f"{self.name} made no image", raw=raw)
        if part(first, "b64_json") is None and isinstance(part(first, "url"), str):
            data = await image_at(self.wire, first["url"], who=self.name, raw=raw, dollars=dollars)
        else:
            data = image_in(part(first, "b64_json"), who=self.name, raw=raw, dollars=dollars)
        data, mime = self.received(data, raw=raw, dollars=dollars)
        model = part(reply, "model")
        model_id = clean(model) if isinstance(model, str) else self.model.wire_id
        return Edited(data, mime, model_id, dollars, raw=raw, used=used)

    def _arguments(self, request: EditRequest) -> dict[str, Any]:
        sent: dict[str, Any] = {"response_format": "b64_json", "watermark": False, **self.shape.arguments}
        if self.capabilities.seed:
            sent["seed"] = request.seed
        if self.shape.most is not None:
            # the smallest size they accept is larger than most pictures; it is requested in the picture's aspect
            width, height = requested_size(
                request.image, request.settings, AllowedSizes(self.shape.least, self.shape.most)
            )
            sent["size"] = f"{width}x{height}"
        else:  # the only size name that every Seedream model supports
            sent["size"] = request.settings.resolution or "2K"
        return sent

    def _error(self, error: Any, raw: str, dollars: float) -> EditorError:
        """The error that a reply holds in place of an image."""
        code, message = clean(str(part(error, "code") or "")), clean(str(part(error, "message") or error))
        if _is_refusal(code):
            return Refused(f"{self.name}: {message}", reason=code, raw=raw, dollars=dollars)
        return BadReply(f"{self.name} made no image: {message}", raw=raw, dollars=dollars)

    def verdict(self, answer: HttpReply) -> ErrorVerdict:
        """Their filters have many codes, of two families."""
        found = classify_failure(answer, no_credit=NO_CREDIT_CODES)
        if _is_refusal(found.code):
            return found._replace(kind="refused")
        if found.code.lower() in NO_CREDIT_CODES:  # sent with 429, but permanent
            return found._replace(kind="credit")
        return found


def _is_refusal(code: str) -> bool:
    """Such as InputImageSensitiveContentDetected, SensitiveContentDetected.Violence, OutputImageRiskDetection."""
    return "sensitivecontentdetected" in code.lower() or code.lower().endswith("riskdetection")
