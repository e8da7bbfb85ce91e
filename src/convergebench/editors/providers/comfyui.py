"""ComfyUI: the user's own workflow, with placeholders for image, instruction and seed."""

from __future__ import annotations

import asyncio
import itertools
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import Field

from convergebench import ids
from convergebench.editors.models.table import ModelEntry
from convergebench.editors.providers.comfyui_workflow import Place, read_workflow
from convergebench.editors.providers.download import with_retries
from convergebench.editors.providers.own_server import OwnServerEditor, size_in_steps
from convergebench.editors.providers.remote import RemoteOptions
from convergebench.errors import BadReply, ConvergeBenchError, EditorError, StudyError, Transient, Unavailable
from convergebench.texts import storable
from convergebench.types import Edited, EditRequest
from convergebench.wire.client import HttpReply, clean
from convergebench.wire.poll import until_done
from convergebench.wire.raw import without_images

FOLDER = "convergebench"
"""Subfolder of the server's input folder for uploaded images."""
SECONDS_TO_WITHDRAW = 2.0
POLLS_PER_QUEUE_CHECK = 5
"""Polls of a job between checks of the queue, which is large: it lists all graphs."""


class ComfyUIOptions(RemoteOptions):
    """The workflow file and its placeholders."""

    workflow: str
    """Path of the workflow in API format."""
    output: str = ""
    """Number of the output node; empty: the only SaveImage node."""
    places: dict[Place, str] = Field(default_factory=dict)
    """For a workflow without placeholders: `{ image = "10.image", instruction = "6.text", seed = "3.seed" }`."""


class ComfyUIEditor(OwnServerEditor):
    """The user's own workflow on a ComfyUI server."""

    Options = ComfyUIOptions
    provider = "comfyui"
    address = "http://127.0.0.1:8188"
    example = "http://127.0.0.1:8188"
    options: ComfyUIOptions

    def __init__(self, name: str, model: ModelEntry, given: Mapping[str, Any]) -> None:
        if "workflow" not in given:
            entry = f'{{ name = "mine", use = "{model.id}", workflow = "edit_api.json" }}'
            raise StudyError(f"editor '{name}' needs its workflow in API format; in the study file: {entry}")
        super().__init__(name, model, given)
        self.workflow = read_workflow(Path(self.options.workflow), self.options.places, self.options.output)
        identity = {"workflow": self.workflow.identity}
        self.fingerprint = ids.fingerprint(f"{self.provider}:{model.wire_id}", self.version, identity)
        self.capabilities = replace(self.capabilities, seed="seed" in self.workflow.places)
        self._client = uuid.uuid4().hex
        self._withdrawals: set[asyncio.Task[None]] = set()

    async def edit(self, request: EditRequest) -> Edited:
        """Upload, submit, poll until it is done, download."""
        job = str(uuid.uuid4())
        width, height = size_in_steps(request.image, 8)
        values: dict[str, str | int] = {"seed": request.seed, "width": width, "height": height}
        used = {place: value for place, value in values.items() if place in self.workflow.places}
        used["workflow"] = self.workflow.identity
        graph = self.workflow.filled(
            {**values, "image": await self._upload(request, job), "instruction": request.instruction}
        )
        price = self.price(request)
        try:
            job = await self._submit(graph, job)
            entry = await self._finished(job, price)
        except (asyncio.CancelledError, Transient, BadReply):
            self._cancel(job)
            raise
        raw = without_images({part: entry.get(part) for part in ("outputs", "status")})
        self._require_success(entry, raw, price)
        found = self._output_image(entry, raw, price)
        answer = await with_retries(lambda: self._wire.send("GET", "/view", params=found), dollars=price, raw=raw)
        if answer.status != 200:
            message = f"the image of {self.name} cannot be fetched: {answer.status}"
            raise Transient(message, raw=raw, dollars=price, unsettled=not price)
        image, mime = self.received(answer.data, raw=raw, dollars=price)
        return Edited(image, mime, self.model.wire_id, price, raw=raw, used=used)

    async def close(self) -> None:
        """Cancel queued jobs and close the connections."""
        here = asyncio.get_running_loop()
        waiting = [task for task in self._withdrawals if task.get_loop() is here]
        if waiting:
            await asyncio.wait(waiting, timeout=SECONDS_TO_WITHDRAW)
        await super().close()

    async def _upload(self, request: EditRequest, job: str) -> str:
        """The image's name on the server. Every job has its own file: a shared one could change while a job waits."""
        data, mime = self.sendable(request)
        file = (f"{job}.{mime.partition('/')[2]}", data, mime)
        form = {"type": "input", "subfolder": FOLDER, "overwrite": "true"}
        try:
            body = self.read(await self._wire.send("POST", "/upload/image", data=form, files={"image": file}))
        except EditorError as error:
            error.unsettled = False  # an upload costs nothing, even if it failed
            raise
        name, folder = body.get("name"), body.get("subfolder")
        if not isinstance(name, str) or not name:
            raise BadReply(f"{self.name} accepted the image but gave it no name", raw=without_images(body))
        return storable(f"{folder}/{name}" if isinstance(folder, str) and folder else name)

    async def _submit(self, graph: Any, job: str) -> str:
        """Submit a job and return its id."""
        sent = {"prompt": graph, "prompt_id": job, "client_id": self._client}
        answer = await self._wire.send("POST", "/prompt", json=sent)
        if answer.status == 400:
            self._require_valid(answer)
        body = self.read(answer)
        if body.get("node_errors"):  # the valid part of the graph would run and give half an edit
            self._require_valid(answer)
        given = body.get("prompt_id")
        return storable(given) if isinstance(given, str) and given else job

    def _require_valid(self, answer: HttpReply) -> None:
        """`Unavailable` with the nodes' errors if the server rejects the graph: it would reject every retry."""
        try:
            body = answer.json()
        except BadReply:
            return
        nodes = body.get("node_errors") if isinstance(body, dict) else None
        if isinstance(nodes, dict) and nodes:
            line = "; ".join(_node_error(number, node) for number, node in list(nodes.items())[:3])
            raise Unavailable(f"{self.name}: the server rejects the workflow: {clean(line)}", raw=clean(answer.text))

    async def _finished(self, job: str, price: float) -> dict[str, Any]:
        """The job's entry in the history once it exists. A job keeps running even if polling fails."""
        try:
            return await until_done(self._poller(job, price), seconds=self.limits.seconds, who=self.name, dollars=price)
        except EditorError as error:
            error.unsettled = not error.dollars
            raise

    def _poller(self, job: str, price: float) -> Callable[[], Awaitable[dict[str, Any] | None]]:
        """A function that returns the job's entry, or None while it waits or runs."""
        looks = itertools.count(1)

        async def poll() -> dict[str, Any] | None:
            entry = await self._entry(job, price)
            if entry is not None or next(looks) % POLLS_PER_QUEUE_CHECK or job in await self._queued_jobs():
                return entry
            entry = await self._entry(job, price)  # it may have ended between the two requests
            if entry is None:
                raise Transient(f"{self.name} has lost the job: the server was restarted or its queue was cleared")
            return entry

        return poll

    async def _queued_jobs(self) -> list[Any]:
        """Ids of all running and waiting jobs."""
        queue = self.read(await self._wire.send("GET", "/queue"))
        return [*_job_ids(queue.get("queue_running")), *_job_ids(queue.get("queue_pending"))]

    async def _entry(self, job: str, price: float) -> dict[str, Any] | None:
        answer = await with_retries(lambda: self._wire.send("GET", f"/history/{job}"), dollars=price)
        entry = self.read(answer, price).get(job)
        return entry if isinstance(entry, dict) else None

    def _require_success(self, entry: Mapping[str, Any], raw: str, price: float) -> None:
        status = entry.get("status")
        messages = status.get("messages") if isinstance(status, dict) else None
        for message in messages if isinstance(messages, list) else []:
            kind, error = message if isinstance(message, list) and len(message) == 2 else ("", None)
            error = error if isinstance(error, dict) else {}
            if kind == "execution_interrupted":
                raise Transient(f"{self.name}: the job was stopped on the server", raw=raw, dollars=price)
            if kind == "execution_error":
                node = clean(f"node {error.get('node_id')} ({error.get('node_type')})")
                line = f"{self.name}: {node}: {clean(str(error.get('exception_message') or 'failed'))}"
                if "OutOfMemory" in str(error.get("exception_type")):  # another job may have used the memory
                    raise Transient(line, raw=raw, dollars=price)
                raise EditorError(line, raw=raw, dollars=price)
        if isinstance(status, dict) and status.get("status_str") == "error":
            raise EditorError(f"{self.name}: the job failed without a reason", raw=raw, dollars=price)

    def _output_image(self, entry: Mapping[str, Any], raw: str, price: float) -> dict[str, str]:
        """The file that the output node wrote."""
        outputs = entry.get("outputs")
        node = outputs.get(self.workflow.output) if isinstance(outputs, dict) else None
        images = node.get("images") if isinstance(node, dict) else None
        if not isinstance(images, list) or not images or not isinstance(images[0], dict):
            message = f"{self.name}: node {self.workflow.output} gave no image"
            raise BadReply(message, raw=raw, dollars=price, unsettled=not price)
        if len(images) > 1:
            line = f"node {self.workflow.output} gave {len(images)} images instead of one; set its batch to 1"
            raise Unavailable(f"{self.name}: {line}", raw=raw, dollars=price)
        parts = {part: images[0].get(part, "") for part in ("filename", "subfolder", "type")}
        if not all(isinstance(value, str) for value in parts.values()) or not parts["filename"]:
            message = f"{self.name}: node {self.workflow.output} names no file"
            raise BadReply(message, raw=raw, dollars=price, unsettled=not price)
        return parts

    def _cancel(self, job: str) -> None:
        """Remove an abandoned job from the queue, or stop it, in the background."""

        async def cancel() -> None:
            try:
                async with asyncio.timeout(SECONDS_TO_WITHDRAW):
                    await self._wire.send("POST", "/queue", json={"delete": [job]})
                    # older servers ignore the id and would stop any running job
                    running = self.read(await self._wire.send("GET", "/queue")).get("queue_running")
                    if job in _job_ids(running):
                        await self._wire.send("POST", "/interrupt", json={"prompt_id": job})
            except (ConvergeBenchError, TimeoutError):
                pass  # the server is down or busy; the job then ends on its own

        task = asyncio.get_running_loop().create_task(cancel())
        self._withdrawals.add(task)
        task.add_done_callback(self._withdrawals.discard)


def _job_ids(listed: Any) -> list[Any]:
    """Each job is a list whose second item is its id."""
    items = listed if isinstance(listed, list) else []
    return [item[1] for item in items if isinstance(item, list) and len(item) > 1]


def _node_error(number: str, node: Any) -> str:
    errors = node.get("errors") if isinstance(node, dict) else None
    kind = f" ({node.get('class_type')})" if isinstance(node, dict) else ""
    listed = [one for one in errors if isinstance(one, dict)] if isinstance(errors, list) else []
    error = "; ".join(f"{one.get('message')}: {one.get('details')}" for one in listed[:3])
    return f"node {number}{kind}: {error or 'is wrong'}"
