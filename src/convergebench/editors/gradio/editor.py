"""Calls of a Gradio app through its own client library, `gradio_client`."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from pathlib import Path
from typing import Any

from convergebench import ids
from convergebench.documents import check_document
from convergebench.editors.base import BaseEditor
from convergebench.editors.gradio.options import GradioOptions
from convergebench.editors.http.template import EditValues, filled, placeholders
from convergebench.errors import BadReply, EditorError, StudyError, Transient
from convergebench.images.decode import probe
from convergebench.keys import find_key, lacking_key
from convergebench.texts import storable
from convergebench.types import Capabilities, Edited, EditRequest, Limits
from convergebench.wire.client import LONGEST_REPLY, clean
from convergebench.wire.raw import truncated

LIBRARY = "gradio_client"


def gradio(name: str, **options: Any) -> GradioEditor:
    """`gradio`: an app made with Gradio, or a Hugging Face Space: docs/add-an-editor.md."""
    if not options:
        raise StudyError(f'editor \'{name}\': name the app: space = "owner/name" or url = "http://127.0.0.1:7860"')
    return GradioEditor(name, options)


class GradioEditor(BaseEditor):
    """An endpoint of a Gradio app. The library is loaded, and the app asked what it takes, at the first call."""

    def __init__(self, name: str, given: Mapping[str, Any]) -> None:
        self.name = name
        self.options = options = check_document(dict(given), GradioOptions, where=f"editor '{name}'")
        self.app = options.space or options.url.rstrip("/")
        parts = ("api_name", "arguments", "output", "version")
        self.fingerprint = ids.fingerprint(f"gradio:{self.app}", 1, {part: getattr(options, part) for part in parts})
        used = set(placeholders(options.arguments))
        self.capabilities = Capabilities(
            seed="seed" in used, instructed="instruction" in used, dollars_per_call=options.dollars
        )
        account = f"gradio:{options.key or self.app}"
        self.limits = Limits(options.at_once, options.per_minute, options.seconds, account)
        self._client: Any = None
        self._folder: Path | None = None
        self._making = threading.Lock()

    def lacks(self) -> list[str]:
        """The library, and the token if one is named."""
        missing = [] if importlib.util.find_spec(LIBRARY) else [f"{LIBRARY}: pip install 'convergebench[gradio]'"]
        return [*missing, *(lacking_key((self.options.key,), self.name) if self.options.key else ())]

    async def edit(self, request: EditRequest) -> Edited:
        """Upload the picture, wait for the app, read the picture that it gives."""
        client = await asyncio.to_thread(self._connected)
        folder = Path(tempfile.mkdtemp(prefix="call-", dir=self._folder))
        try:
            job = await asyncio.to_thread(self._submit, client, request, folder)
            answer = await self._result(job)
            return await asyncio.to_thread(self._edited, answer, request)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def close(self) -> None:
        """End the connection and remove what was downloaded."""
        client, folder = self._client, self._folder
        self._client = self._folder = None
        if client is not None:
            with suppress(Exception):  # whatever the library does at its end
                await asyncio.to_thread(client.close)
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    def _connected(self) -> Any:
        """The library's client, made once; it asks the app for its endpoints."""
        with self._making:
            if self._client is None:
                os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # the argument alone does not switch it off
                from gradio_client import Client

                self._folder = self._folder or Path(tempfile.mkdtemp(prefix="convergebench-gradio-"))
                # False: a token that happens to be saved on this machine is not sent
                token: Any = find_key((self.options.key,)) if self.options.key else False
                timeout = {"timeout": self.options.seconds + min(5.0, self.options.seconds)}
                self._client = Client(
                    self.app, token=token, verbose=False, download_files=str(self._folder), httpx_kwargs=timeout,
                    analytics_enabled=False,
                )  # fmt: skip
            return self._client

    def _submit(self, client: Any, request: EditRequest, folder: Path) -> Any:
        from gradio_client import handle_file

        size = probe(request.image)
        file = folder / f"image.{size.mime.partition('/')[2]}"
        file.write_bytes(request.image)
        values = EditValues(request.instruction, request.seed, size.width, size.height, size.mime, request.image)
        given = {
            name: handle_file(str(file)) if value == "{image}" else filled(value, values)
            for name, value in self.options.arguments.items()
        }
        try:
            return client.submit(api_name=self.options.api_name, **given)
        except (ValueError, TypeError) as error:  # an argument or an endpoint that the app does not have
            raise EditorError(f"{self.app} cannot be called so: {clean(str(error))}") from error

    async def _result(self, job: Any) -> Any:
        """What the app gives. Its own errors end a chain; a full queue is a passing trouble."""
        try:
            return await asyncio.to_thread(job.result, self.options.seconds)
        except (asyncio.CancelledError, TimeoutError):
            with suppress(Exception):
                job.cancel()
            raise
        except CancelledError as error:  # the stream of events broke
            raise Transient(f"{self.app} ended the call without an answer", unsettled=True) from error
        except Exception as error:
            names = {kind.__name__ for kind in type(error).__mro__}
            if "QueueError" in names or "TooManyRequestsError" in names:
                raise Transient(f"{self.app}: {clean(str(error))}") from error
            if "AppError" in names or "ValidationError" in names:
                raise EditorError(f"{self.app} answers: {clean(str(error))}", unsettled=True) from error
            raise  # the engine knows time-outs and broken connections by their names

    def _edited(self, answer: Any, request: EditRequest) -> Edited:
        outputs = list(answer) if isinstance(answer, tuple) else [answer]
        dollars, raw = self.options.dollars, truncated(storable(repr(self._named(answer))))
        chosen = self.options.output
        if chosen is not None and chosen >= len(outputs):
            message = (
                f"{self.app} gives {len(outputs)} outputs, and output = {chosen} is not one of them (they begin at 0)"
            )
            raise BadReply(message, raw=raw, dollars=dollars, unsettled=not dollars)
        for file in _files(outputs if chosen is None else outputs[chosen]):
            data = self._read(file)
            with suppress(StudyError):
                mime = probe(data).mime if data else ""
                if mime:
                    used = {"seed": request.seed} if self.capabilities.seed else {}
                    return Edited(data, mime, f"{self.app}{self.options.api_name}", dollars, raw=raw, used=used)
        raise BadReply(f"{self.app} gives no picture", raw=raw, dollars=dollars, unsettled=not dollars)

    def _named(self, answer: Any) -> Any:
        """The answer without the folder of this call."""
        if isinstance(answer, str) and self._folder is not None:
            return answer.replace(str(self._folder), "")
        if isinstance(answer, list | tuple):
            return [self._named(one) for one in answer]
        return {key: self._named(one) for key, one in answer.items()} if isinstance(answer, dict) else answer

    def _read(self, name: str) -> bytes:
        """The bytes of a downloaded file, which is removed. Of any other, none: an app must not choose what is read."""
        try:
            file = Path(name).resolve()
            inside = self._folder is not None and file.is_relative_to(self._folder.resolve())
            if not inside or not file.is_file() or file.stat().st_size > LONGEST_REPLY:
                return b""
            data = file.read_bytes()
            file.unlink()
            return data
        except (OSError, ValueError):
            return b""


def _files(output: Any, depth: int = 5) -> Iterator[str]:
    """Every text in an output that may be a file: a path, a gallery of tables, a table with `path`."""
    if isinstance(output, str):
        yield output
    elif depth and isinstance(output, list | tuple):
        for one in output:
            yield from _files(one, depth - 1)
    elif depth and isinstance(output, dict):
        for one in output.values():
            yield from _files(one, depth - 1)
