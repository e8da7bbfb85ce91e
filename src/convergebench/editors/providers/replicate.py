"""Any model on Replicate: submit a prediction, wait, poll, download. Why not their library: docs/design."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any, ClassVar

from convergebench.editors.models.table import ModelEntry
from convergebench.editors.providers.download import image_at, is_web_url
from convergebench.editors.providers.hosted import HostedEditor, addresses
from convergebench.editors.providers.wired import amount, part
from convergebench.errors import BadReply, EditorError, Refused, StudyError, Transient
from convergebench.types import Edited, EditRequest
from convergebench.wire.client import HttpReply, clean
from convergebench.wire.poll import until_done
from convergebench.wire.raw import without_images
from convergebench.wire.verdict import ErrorVerdict, classify_failure

PREFER_WAIT = "wait=5"
"""How long the server may delay its reply. The id of a slow prediction must be known early: if the connection broke, it
would be lost and paid for again."""
_NAME = re.compile(r"^(?P<model>\w[\w.-]*/\w[\w.-]*)(:(?P<version>[0-9a-f]{6,64}))?$")
_REFUSAL = re.compile(
    r"nsfw|\bE005\b|flagged|moderat|sensitive content|safety (?:check|filter|system)|content polic|prohibited",
    re.IGNORECASE,
)
_RESETS = re.compile(r"resets in ~?(\d+(?:\.\d+)?)\s*s", re.IGNORECASE)


class ReplicateEditor(HostedEditor):
    """`replicate:OWNER/MODEL`, or `replicate:OWNER/MODEL:VERSION`."""

    provider = "replicate"
    keys: ClassVar = ("REPLICATE_API_TOKEN",)
    address = "https://api.replicate.com/v1"
    own_hosts = (".replicate.com",)
    cancel_method = "POST"

    @classmethod
    def unlisted(cls, called: str) -> ModelEntry:
        """A model that the table does not list."""
        if not _NAME.match(called):
            raise StudyError(
                f"'replicate:{called}' is not a model of Replicate; write it as replicate:OWNER/MODEL or with the "
                f"version "
                "from its page, replicate:OWNER/MODEL:VERSION"
            )
        return super().unlisted(called)

    async def edit(self, request: EditRequest) -> Edited:
        """Submit, wait for the server's delayed reply, then poll until it is done."""
        sent, used = self.arguments(request)
        prediction = self.read(await self._submit(sent), success=(200, 201, 202))
        if prediction.get("status") not in ("succeeded", "failed", "canceled", "aborted"):
            prediction = await self._finished(prediction)
        raw = without_images(prediction)
        if prediction.get("status") != "succeeded":
            raise self._failure(prediction, raw)
        dollars = self.price(request)
        found = addresses(prediction.get("output"))
        if not found:
            message = f"{self.name} succeeded but names no image"
            raise BadReply(message, raw=raw, dollars=dollars, unsettled=not dollars)
        data = await image_at(self.wire, found[0], who=self.name, raw=raw, dollars=dollars)
        image, mime = self.received(data, raw=raw, dollars=dollars)
        return Edited(image, mime, self._resolved(prediction), dollars, raw=raw, used=used)

    async def _submit(self, sent: dict[str, Any]) -> HttpReply:
        model, _, version = self.model.wire_id.partition(":")
        path = "/predictions" if version else f"/models/{model}/predictions"
        body = {"version": version, "input": sent} if version else {"input": sent}
        return await self.wire.send("POST", path, json=body, headers={"Prefer": PREFER_WAIT})

    async def _finished(self, begun: dict[str, Any]) -> dict[str, Any]:
        address, raw = part(begun, "urls", "get"), without_images(begun)
        if not is_web_url(address):
            raise BadReply(f"{self.name} started but gave no address for its status", raw=raw, unsettled=True)

        async def poll() -> dict[str, Any] | None:
            prediction = await self.poll_task(address, raw=raw)
            return None if prediction.get("status") in ("starting", "processing") else prediction

        try:
            return await until_done(poll, seconds=self.limits.seconds, who=self.name)
        except (asyncio.CancelledError, Exception):
            self.cancel_task(part(begun, "urls", "cancel"))
            raise

    def _failure(self, prediction: dict[str, Any], raw: str) -> EditorError:
        status, why = prediction.get("status"), clean(str(prediction.get("error") or "it gives no reason"))
        if status in ("failed", "canceled", "aborted"):
            if _REFUSAL.search(why):
                return Refused(f"{self.name}: {why}", reason=_code(why), raw=raw)
            return Transient(f"{self.name} {status}: {why}", raw=raw)
        return BadReply(f"{self.name} says its prediction is '{clean(str(status))}'", raw=raw, unsettled=True)

    def _resolved(self, prediction: dict[str, Any]) -> str:
        model, _, given = self.model.wire_id.partition(":")
        version = prediction.get("version")
        exact = version if isinstance(version, str) and re.fullmatch(r"[0-9a-f]{6,64}", version) else given
        return f"{model}:{exact}" if exact else model

    def verdict(self, answer: HttpReply) -> ErrorVerdict:
        """The body holds the retry time; a model that needs a version is reported as missing."""
        found = classify_failure(answer)
        if found.kind == "busy" and found.retry_after is None:
            found = found._replace(retry_after=_seconds_until_reset(answer.text))
        if found.kind == "gone" and ":" not in self.model.wire_id:
            hint = "models that are not official need a version: replicate:OWNER/MODEL:VERSION"
            found = found._replace(message=f"{found.message} ({hint})")
        if found.kind == "wrong" and not self.model.wire:
            hint = "image_field, prompt_field and arguments set what is sent to the model"
            found = found._replace(message=f"{found.message} ({hint})")
        return found


def _seconds_until_reset(text: str) -> float | None:
    """Seconds until the rate limit resets, from a field of the body or its message."""
    try:
        stated = amount(part(json.loads(text), "retry_after"))
    except (ValueError, RecursionError):
        stated = None
    words = _RESETS.search(text)
    return stated if stated is not None else float(words[1]) if words else None


def _code(why: str) -> str:
    """The platform's code of a refusal, if there is one (`E005`), else the matched text."""
    code = re.search(r"\bE\d{3,4}\b", why)
    found = _REFUSAL.search(why)
    return code[0] if code else found[0].lower() if found else "failed"
