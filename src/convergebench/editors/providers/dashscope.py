"""Qwen-Image at Alibaba Cloud Model Studio, by DashScope's own interface. Why not their library: docs/design.

Keys belong to a region. The address here is the international one (Singapore); for a key from Beijing say
`base_url = "https://dashscope.aliyuncs.com/api/v1"`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from convergebench.editors.providers.download import picture_at
from convergebench.editors.providers.proportions import Allowed, size_to_ask
from convergebench.editors.providers.remote import RemoteOptions, data_uri
from convergebench.editors.providers.wired import Shape, WiredEditor, amount, part
from convergebench.errors import BadReply, Refused
from convergebench.types import Edited, EditRequest
from convergebench.wire.client import Answer, clean
from convergebench.wire.raw import without_images
from convergebench.wire.verdict import Verdict, judge

PATH = "/services/aigc/multimodal-generation/generation"


class DashScopeOptions(RemoteOptions):
    """What else a call can carry."""

    negative_prompt: str = " "
    """What the picture should not show. A space, as their own examples send it: nothing in particular."""


class DashScopeShape(Shape):
    """Which sizes a model takes. Without `most` it takes none and answers with about a megapixel."""

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
        """One call; the image it names lies there for a day."""
        used = self._parameters(request)
        content = [{"image": data_uri(*self.sendable(request))}, {"text": request.instruction}]
        body = {
            "model": self.model.wire_id,
            "input": {"messages": [{"role": "user", "content": content}]},
            "parameters": used,
        }
        answer = await self.wire.send("POST", PATH, json=body)
        reply = self.read(answer)
        if reply.get("code") and not reply.get("output"):  # an error in the clothes of a success
            raise self.verdict(answer).as_editor_error()
        dollars = self.price(request) * (amount(part(reply, "usage", "image_count")) or 1.0)
        raw = without_images(reply)
        address, words = _first(reply, "image"), _first(reply, "text")
        if address is None and words is not None:
            said = f"{self.name} answers in words: {clean(words)}"  # of these no price list speaks
            raise Refused(said, reason="no image", raw=raw, unsettled=True)
        if address is None:
            raise BadReply(f"{self.name} answers and names no image", raw=raw, unsettled=True)
        data = await picture_at(self.wire, address, who=self.name, raw=raw, dollars=dollars)
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
            allowed = Allowed(shape.least, shape.most, shape.shortest, shape.longest)
            width, height = size_to_ask(request.image, request.settings, allowed)
            sent["size"] = f"{width}*{height}"
        return sent

    def verdict(self, answer: Answer) -> Verdict:
        """Codes say more than statuses: the same body may come with 400 or with 200.

        `Throttling.AllocationQuota` is a limit per minute and passes; `AllocationQuota.FreeTierOnly` is a free quota
        that is used up, and does not.
        """
        found = judge(answer, status=400 if answer.status == 200 else None)
        code = found.code.lower()
        if code.startswith("datainspection"):
            return found._replace(kind="refused")
        if code.startswith("throttling"):
            return found._replace(kind="busy")
        if code.startswith(("arrearage", "allocationquota", "prepaidbilloverdue", "postpaidbilloverdue")):
            return found._replace(kind="credit")
        if code.startswith("invalidapikey"):
            message = f"{self.name} does not take the key; keys belong to a region (base_url names the address)"
            return found._replace(kind="key", message=message)
        if code.startswith(("accessdenied", "modelnotfound", "model_not_found", "model.accessdenied")):
            return found._replace(kind="gone")
        if code.startswith(("internalerror", "requesttimeout", "modelserviceunavailable", "systemerror")):
            return found._replace(kind="busy")
        return found


def _first(reply: dict[str, Any], kind: str) -> str | None:
    """The first image's address, or the first words, of an answer."""
    content = part(reply, "output", "choices", 0, "message", "content")
    found = [part(one, kind) for one in content] if isinstance(content, list) else []
    return next((one for one in found if isinstance(one, str) and one.strip()), None)
