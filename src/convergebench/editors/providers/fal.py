"""Any model on fal, by its queue: submit, poll, fetch the result, download. Why not their library: docs/design."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any, ClassVar

from convergebench.editors.models.table import ModelEntry
from convergebench.editors.providers.download import image_at, is_web_url
from convergebench.editors.providers.hosted import HostedEditor
from convergebench.editors.providers.wired import part
from convergebench.errors import BadReply, Refused, StudyError
from convergebench.types import Edited, EditRequest
from convergebench.wire.client import HttpReply, clean, origin
from convergebench.wire.poll import until_done
from convergebench.wire.raw import without_images
from convergebench.wire.verdict import ErrorVerdict, classify_failure

REJECTED = (400, 422)
"""Statuses of a rejected task, which made nothing and is not charged."""
_PATH = re.compile(r"^\w[\w.-]*(/\w[\w.-]*)+$")


class FalEditor(HostedEditor):
    """`fal:OWNER/PATH`."""

    provider = "fal"
    keys: ClassVar = ("FAL_KEY",)
    key_form = "Key {}"
    address = "https://queue.fal.run"
    own_hosts = (".fal.run", ".fal.ai")
    cancel_method = "PUT"

    @classmethod
    def unlisted(cls, called: str) -> ModelEntry:
        """A model that the table does not list, by its path."""
        if not _PATH.match(called):
            raise StudyError(
                f"'fal:{called}' is not a model of fal; write it as on its page: fal:fal-ai/flux-pro/kontext"
            )
        return super().unlisted(called)

    async def edit(self, request: EditRequest) -> Edited:
        """Submit, poll until it is completed, fetch the result and the image it names."""
        sent, used = self.arguments(request)
        task = self.read(await self.wire.send("POST", f"/{self.model.wire_id}", json=sent))
        result = await self._result(task)
        dollars = self.price(request)  # fal does not charge failed tasks
        raw = without_images({"task": task, "result": result})
        if part(result, "has_nsfw_concepts", 0) is True:
            message = f"{self.name}: its filter flagged the image as not safe for work"
            raise Refused(message, reason="has_nsfw_concepts", raw=raw, dollars=dollars)
        address = part(result, "images", 0, "url") or part(result, "image", "url")
        if not isinstance(address, str):
            words = part(result, "description")
            if isinstance(words, str) and words.strip():
                message = f"{self.name} answered with text only: {clean(words)}"  # price lists do not mention these
                raise Refused(message, reason="no image", raw=raw, unsettled=True)
            message = f"{self.name} completed the task but names no image"
            raise BadReply(message, raw=raw, dollars=dollars, unsettled=not dollars)
        data = await image_at(self.wire, address, who=self.name, raw=raw, dollars=dollars)
        image, mime = self.received(data, raw=raw, dollars=dollars)
        return Edited(image, mime, self.model.wire_id, dollars, raw=raw, used=used)

    async def _result(self, task: dict[str, Any]) -> dict[str, Any]:
        status_url, response_url, raw = task.get("status_url"), task.get("response_url"), without_images(task)
        if not (is_web_url(status_url) and is_web_url(response_url)):
            message = f"{self.name} accepted the task but gave no address for its status"
            raise BadReply(message, raw=raw, unsettled=True)

        async def poll() -> bool | None:
            status = (await self.poll_task(status_url, raw=raw, success=(200, 202))).get("status")
            if status == "COMPLETED":
                return True
            if status not in ("IN_QUEUE", "IN_PROGRESS"):
                raise BadReply(f"{self.name} says its task is '{clean(str(status))}'", raw=raw, unsettled=True)
            return None

        try:
            await until_done(poll, seconds=self.limits.seconds, who=self.name)
        except (asyncio.CancelledError, Exception):
            self.cancel_task(task.get("cancel_url"))
            raise
        return await self.poll_task(response_url, raw=raw, failed_statuses=REJECTED)

    def verdict(self, answer: HttpReply) -> ErrorVerdict:
        """Errors are a list, each with a type; a header says whether to retry."""
        found = classify_failure(answer)
        faults = _faults(answer.text)
        if faults:
            hint = "" if self.model.wire else " (image_field, prompt_field and arguments set what is sent to the model)"
            detail = "; ".join(text for text, _ in faults)
            message = f"{origin(answer.address)} answers {answer.status}: {clean(detail)}{hint}"
            found = found._replace(message=message, code=faults[0][1] or found.code)
        headers = {name.lower(): value for name, value in answer.headers.items()}
        again = headers.get("x-fal-retryable", "").strip().lower()
        if any(kind == "content_policy_violation" for _, kind in faults):
            return found._replace(kind="refused", code="content_policy_violation")
        if again == "true" and found.kind == "wrong":
            return found._replace(kind="busy")
        if again == "false" and found.kind == "busy" and answer.status != 429:
            return found._replace(kind="wrong")
        return found


def _faults(text: str) -> list[tuple[str, str]]:
    """(field and message, type) of each error in the body."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return []
    detail = part(body, "detail")
    faults = [one for one in detail if isinstance(one, dict)] if isinstance(detail, list) else []
    return [
        (f"{_place(one)}{one.get('msg') or one.get('type') or ''}", clean(str(one.get("type") or ""))) for one in faults
    ]


def _place(fault: dict[str, Any]) -> str:
    where = fault.get("loc")
    return f"{'.'.join(map(str, where))}: " if isinstance(where, list) and where else ""
