"""Any model on Replicate: ask for a prediction, wait, look, download. Why not their library: docs/design."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any, ClassVar

from convergebench.editors.models.table import Model
from convergebench.editors.providers.download import is_web, picture_at
from convergebench.editors.providers.hosted import HostedEditor, addresses
from convergebench.editors.providers.wired import amount, part
from convergebench.errors import BadReply, EditorError, Refused, StudyError, Transient
from convergebench.types import Edited, EditRequest
from convergebench.wire.client import Answer, clean
from convergebench.wire.poll import until_done
from convergebench.wire.raw import without_images
from convergebench.wire.verdict import Verdict, judge

HOLD = "wait=5"
"""Seconds that the server may hold the line. A slow prediction's number must be known early: a connection that breaks
would lose it, and it would be paid for again."""
_NAME = re.compile(r"^(?P<model>\w[\w.-]*/\w[\w.-]*)(:(?P<version>[0-9a-f]{6,64}))?$")
_UNWILLING = re.compile(
    r"nsfw|\bE005\b|flagged|moderat|sensitive content|safety (?:check|filter|system)|content polic|prohibited",
    re.IGNORECASE,
)
_RESETS = re.compile(r"resets in ~?(\d+(?:\.\d+)?)\s*s", re.IGNORECASE)


class ReplicateEditor(HostedEditor):
    """`replicate:OWNER/MODEL`, or `replicate:OWNER/MODEL:VERSION`."""

    provider = "replicate"
    keys: ClassVar = ("REPLICATE_API_TOKEN",)
    address = "https://api.replicate.com/v1"
    relatives = (".replicate.com",)
    calls_off_with = "POST"

    @classmethod
    def unlisted(cls, called: str) -> Model:
        """Any model of theirs."""
        if not _NAME.match(called):
            raise StudyError(
                f"'replicate:{called}' is no model of Replicate; write it as replicate:OWNER/MODEL or with the version "
                "from its page, replicate:OWNER/MODEL:VERSION"
            )
        return super().unlisted(called)

    async def edit(self, request: EditRequest) -> Edited:
        """Ask, wait as long as the server holds the line, then look until it is done."""
        sent, used = self.arguments(request)
        prediction = self.read(await self._ask(sent), fine=(200, 201, 202))
        if prediction.get("status") not in ("succeeded", "failed", "canceled", "aborted"):
            prediction = await self._finished(prediction)
        raw = without_images(prediction)
        if prediction.get("status") != "succeeded":
            raise self._ended(prediction, raw)
        dollars = self.price(request)
        found = addresses(prediction.get("output"))
        if not found:
            message = f"{self.name} succeeded and names no image"
            raise BadReply(message, raw=raw, dollars=dollars, unsettled=not dollars)
        data = await picture_at(self.wire, found[0], who=self.name, raw=raw, dollars=dollars)
        image, mime = self.received(data, raw=raw, dollars=dollars)
        return Edited(image, mime, self._resolved(prediction), dollars, raw=raw, used=used)

    async def _ask(self, sent: dict[str, Any]) -> Answer:
        model, _, version = self.model.wire_id.partition(":")
        path = "/predictions" if version else f"/models/{model}/predictions"
        body = {"version": version, "input": sent} if version else {"input": sent}
        return await self.wire.send("POST", path, json=body, headers={"Prefer": HOLD})

    async def _finished(self, begun: dict[str, Any]) -> dict[str, Any]:
        address, raw = part(begun, "urls", "get"), without_images(begun)
        if not is_web(address):
            raise BadReply(f"{self.name} began and does not say where to look", raw=raw, unsettled=True)

        async def look() -> dict[str, Any] | None:
            prediction = await self.look_at(address, raw=raw)
            return None if prediction.get("status") in ("starting", "processing") else prediction

        try:
            return await until_done(look, seconds=self.limits.seconds, who=self.name)
        except (asyncio.CancelledError, Exception):
            self.call_off(part(begun, "urls", "cancel"))
            raise

    def _ended(self, prediction: dict[str, Any], raw: str) -> EditorError:
        status, why = prediction.get("status"), clean(str(prediction.get("error") or "it gives no reason"))
        if status in ("failed", "canceled", "aborted"):
            if _UNWILLING.search(why):
                return Refused(f"{self.name}: {why}", reason=_code(why), raw=raw)
            return Transient(f"{self.name} {status}: {why}", raw=raw)
        return BadReply(f"{self.name} says its prediction is '{clean(str(status))}'", raw=raw, unsettled=True)

    def _resolved(self, prediction: dict[str, Any]) -> str:
        model, _, given = self.model.wire_id.partition(":")
        version = prediction.get("version")
        exact = version if isinstance(version, str) and re.fullmatch(r"[0-9a-f]{6,64}", version) else given
        return f"{model}:{exact}" if exact else model

    def verdict(self, answer: Answer) -> Verdict:
        """When to come back stands in the body; a model without a version of its own is said to be missing."""
        found = judge(answer)
        if found.kind == "busy" and found.retry_after is None:
            found = found._replace(retry_after=_wish(answer.text))
        if found.kind == "gone" and ":" not in self.model.wire_id:
            hint = "models that are not official want a version: replicate:OWNER/MODEL:VERSION"
            found = found._replace(message=f"{found.message} ({hint})")
        if found.kind == "wrong" and not self.model.wire:
            hint = "image_field, prompt_field and arguments say what the model is sent"
            found = found._replace(message=f"{found.message} ({hint})")
        return found


def _wish(text: str) -> float | None:
    """Seconds until the limit is lifted, in the body's own field or its words."""
    try:
        stated = amount(part(json.loads(text), "retry_after"))
    except (ValueError, RecursionError):
        stated = None
    words = _RESETS.search(text)
    return stated if stated is not None else float(words[1]) if words else None


def _code(why: str) -> str:
    """The platform's own word for a refusal, where there is one (`E005`), else what was matched."""
    code = re.search(r"\bE\d{3,4}\b", why)
    found = _UNWILLING.search(why)
    return code[0] if code else found[0].lower() if found else "failed"
