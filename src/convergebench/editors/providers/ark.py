"""Seedream at BytePlus ModelArk and Volcengine Ark: one call, with the image in and out of it as base64.

Ids that begin with `doubao-` live in Beijing, all others at the international address; `base_url` says otherwise (for
`ep-…` ids of one's own, say). Why not their library: docs/design.
"""

from __future__ import annotations

from typing import Any, ClassVar

from convergebench.editors.providers.download import picture_at, picture_in
from convergebench.editors.providers.proportions import Allowed, size_to_ask
from convergebench.editors.providers.remote import RemoteOptions, data_uri
from convergebench.editors.providers.wired import Shape, WiredEditor, amount, part
from convergebench.errors import BadReply, EditorError, Refused
from convergebench.types import Edited, EditRequest
from convergebench.wire.client import Answer, clean
from convergebench.wire.raw import without_images
from convergebench.wire.verdict import Verdict, judge

CHINA = "https://ark.cn-beijing.volces.com/api/v3"
SPENT = ("accountoverdueerror", "setlimitexceeded", "quotaexceeded")


class ArkShape(Shape):
    """Which sizes a model takes, in pixels in all. Without `most` it is asked for 2K."""

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
            raise self._fault(error, raw, dollars)
        first = part(reply, "data", 0)
        if made == 0 and first is None:  # it says itself that there is nothing to pay for
            raise BadReply(f"{self.name} made no image", raw=raw)
        if part(first, "b64_json") is None and isinstance(part(first, "url"), str):
            data = await picture_at(self.wire, first["url"], who=self.name, raw=raw, dollars=dollars)
        else:
            data = picture_in(part(first, "b64_json"), who=self.name, raw=raw, dollars=dollars)
        data, mime = self.received(data, raw=raw, dollars=dollars)
        model = part(reply, "model")
        told = clean(model) if isinstance(model, str) else self.model.wire_id
        return Edited(data, mime, told, dollars, raw=raw, used=used)

    def _arguments(self, request: EditRequest) -> dict[str, Any]:
        sent: dict[str, Any] = {"response_format": "b64_json", "watermark": False, **self.shape.arguments}
        if self.capabilities.seed:
            sent["seed"] = request.seed
        if self.shape.most is not None:
            # the smallest they take is larger than most pictures: it is asked for in the picture's own aspect
            width, height = size_to_ask(request.image, request.settings, Allowed(self.shape.least, self.shape.most))
            sent["size"] = f"{width}x{height}"
        else:  # of their words for sizes the one that every Seedream knows
            sent["size"] = request.settings.resolution or "2K"
        return sent

    def _fault(self, error: Any, raw: str, dollars: float) -> EditorError:
        """What is said in the place of an image."""
        code, said = clean(str(part(error, "code") or "")), clean(str(part(error, "message") or error))
        if _is_unwilling(code):
            return Refused(f"{self.name}: {said}", reason=code, raw=raw, dollars=dollars)
        return BadReply(f"{self.name} made no image: {said}", raw=raw, dollars=dollars)

    def verdict(self, answer: Answer) -> Verdict:
        """Their filters have many codes, of two families."""
        found = judge(answer, spent=SPENT)
        if _is_unwilling(found.code):
            return found._replace(kind="refused")
        if found.code.lower() in SPENT:  # they come with 429 and do not pass
            return found._replace(kind="credit")
        return found


def _is_unwilling(code: str) -> bool:
    """Such as InputImageSensitiveContentDetected, SensitiveContentDetected.Violence, OutputImageRiskDetection."""
    return "sensitivecontentdetected" in code.lower() or code.lower().endswith("riskdetection")
