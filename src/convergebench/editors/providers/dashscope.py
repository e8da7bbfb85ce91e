"""Qwen-Image at Alibaba Cloud Model Studio, by DashScope's own interface. Why not their library: docs/design.

Keys belong to a region. The address here is the international one (Singapore); for a key from Beijing say
`base_url = "https://dashscope.aliyuncs.com/api/v1"`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from convergebench.editors.providers.download import image_at
from convergebench.editors.providers.proportions import AllowedSizes, requested_size
from convergebench.editors.providers.remote import RemoteOptions, data_uri
from convergebench.editors.providers.wired import RequestShape, WiredEditor, amount, part
from convergebench.errors import BadReply, Refused
from convergebench.types import Edited, EditRequest
from convergebench.wire.client import HttpReply, clean
from convergebench.wire.raw import without_images
from convergebench.wire.verdict import ErrorVerdict, classify_failure

PATH = "/services/aigc/multimodal-generation/generation"


class DashScopeOptions(RemoteOptions):
    """Optional arguments of a call."""

    negative_prompt: str = " "
    """What the image should not show; a space, as in their examples, means nothing in particular."""


class DashScopeShape(RequestShape):
    """Accepted sizes. Without `most` none can be requested, and answers have about a megapixel."""

    least: int = 1
    most: int | None = None
    shortest: int = 1
    longest: int = 1 << 30


class DashScopeEditor(WiredEditor):
    """Qwen-Image-Edit and the later models that do both, by their maker."""

    Options = DashScopeOptions
    WireShape = DashScopeShape
    provider = "dashscope"
    keys: ClassVar = ("DASHSCOPE_API_KEY",)
    address = "https://dashscope-intl.aliyuncs.com/api/v1"
    takes = frozenset({"image/png", "image/jpeg", "image/webp", "image/bmp", "image/tiff"})
    options: DashScopeOptions
    shape: DashScopeShape

    async def edit(self, request: EditRequest) -> Edited:
        """One call; the image can be downloaded for a day."""
        used = self._parameters(request)
        content = [{"image": data_uri(*self.sendable(request))}, {"text": request.instruction}]
        body = {
            "model": self.model.wire_id,
            "input": {"messages": [{"role": "user", "content": content}]},
            "parameters": used,
        }
        answer = await self.wire.send("POST", PATH, json=body)
        reply = self.read(answer)
        if reply.get("code") and not reply.get("output"):  # an error with status 200
            raise self.verdict(answer).as_editor_error()
        dollars = self.price(request) * (amount(part(reply, "usage", "image_count")) or 1.0)
        raw = without_images(reply)
        address, words = _first(reply, "image"), _first(reply, "text")
        if address is None and words is not None:
            message = f"{self.name} answered with text only: {clean(words)}"  # price lists do not mention these
            raise Refused(message, reason="no image", raw=raw, unsettled=True)
        if address is None:
            raise BadReply(f"{self.name} answered but names no image", raw=raw, unsettled=True)
        data = await image_at(self.wire, address, who=self.name, raw=raw, dollars=dollars)
        image, mime = self.received(data, raw=raw, dollars=dollars)
        return Edited(image, mime, self.model.wire_id, dollars, raw=raw, used=used)

    def _parameters(self, request: EditRequest) -> dict[str, Any]:
        sent: dict[str, Any] = {
            "n": 1,
            "watermark": False,
            "negative_prompt": self.options.negative_prompt,
            **self.shape.arguments,
        }
        if self.capabilities.seed:
            sent["seed"] = request.seed
        shape = self.shape
        if shape.most is not None:
            allowed = AllowedSizes(shape.least, shape.most, shape.shortest, shape.longest)
            width, height = requested_size(request.image, request.settings, allowed)
            sent["size"] = f"{width}*{height}"
        return sent

    def verdict(self, answer: HttpReply) -> ErrorVerdict:
        """Codes are more precise than statuses: the same body may come with 400 or 200.

        `Throttling.AllocationQuota` is a limit per minute and temporary; `AllocationQuota.FreeTierOnly` is a free quota
        that is used up, and permanent.
        """
        found = classify_failure(answer, status=400 if answer.status == 200 else None)
        code = found.code.lower()
        if code.startswith("datainspection"):
            return found._replace(kind="refused")
        if code.startswith("throttling"):
            return found._replace(kind="busy")
        if code.startswith(("arrearage", "allocationquota", "prepaidbilloverdue", "postpaidbilloverdue")):
            return found._replace(kind="credit")
        if code.startswith("invalidapikey"):
            message = f"{self.name} rejects the key; keys belong to a region (base_url sets the address)"
            return found._replace(kind="key", message=message)
        if code.startswith(("accessdenied", "modelnotfound", "model_not_found", "model.accessdenied")):
            return found._replace(kind="gone")
        if code.startswith(("internalerror", "requesttimeout", "modelserviceunavailable", "systemerror")):
            return found._replace(kind="busy")
        return found


def _first(reply: dict[str, Any], kind: str) -> str | None:
    """The address of the first image, or the first text, of an answer."""
    content = part(reply, "output", "choices", 0, "message", "content")
    found = [part(one, kind) for one in content] if isinstance(content, list) else []
    return next((one for one in found if isinstance(one, str) and one.strip()), None)
