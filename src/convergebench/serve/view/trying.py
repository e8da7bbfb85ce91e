"""*Try it*: a picture that is dropped on the page becomes a run below the served folder.

How a run is made is not known here: a `TryIt` is handed in by whoever starts the server.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from email import policy
from email.parser import BytesParser
from typing import Any, Protocol

from starlette.requests import ClientDisconnect, Request

from convergebench.serve.guard import Refusal

LARGEST = 32 * 2**20
"""Most bytes of a picture that is sent."""
PATIENCE = 60.0
"""Seconds for all of it to arrive."""
_FIELDS = ("picture", "editor", "pair", "rounds")


@dataclass(frozen=True)
class Upload:
    """What the page sends."""

    picture: bytes
    name: str
    """Of the file, as the browser gives it."""
    editor: str
    pair: str
    rounds: int


class TryIt(Protocol):
    """Makes runs out of pictures, one at a time."""

    def offered(self) -> list[dict[str, Any]]:
        """The editors that are ready here, with their pairs of edits; none where trying is off."""
        ...

    def require(self) -> None:
        """`Refusal` where trying is off."""
        ...

    def begin(self, upload: Upload) -> str:
        """Start a run; its name. An error of this package says what is wrong."""
        ...

    def stop(self, run: str) -> None:
        """Stop it; what is there stays."""
        ...

    def close(self) -> None:
        """Stop whatever is going on."""
        ...


class _NoTrying:
    def offered(self) -> list[dict[str, Any]]:
        return []

    def require(self) -> None:
        raise Refusal(403, "Trying editors is off on this server.")

    def begin(self, upload: Upload) -> str:
        raise Refusal(403, "Trying editors is off on this server.")

    def stop(self, run: str) -> None:
        self.require()

    def close(self) -> None:
        """Nothing is going on."""


NO_TRYING: TryIt = _NoTrying()


async def read_upload(request: Request) -> Upload:
    """The form of a request; `Refusal` if it is none."""
    kind = request.headers.get("content-type", "")
    if not kind.lower().startswith("multipart/form-data") or len(kind) > 300 or not kind.isprintable():
        raise Refusal(415, "Send a form with picture, editor, pair and rounds.")
    body = await _body(request)
    head = f"content-type: {kind}\r\nmime-version: 1.0\r\n\r\n".encode("latin-1", "replace")
    parts = BytesParser(policy=policy.HTTP).parsebytes(head + body)
    fields: dict[str, tuple[bytes, str]] = {}
    for part in parts.iter_parts() if parts.is_multipart() else ():
        name = str(part.get_param("name", header="content-disposition") or "")
        data = part.get_payload(decode=True)
        if name not in _FIELDS or name in fields or not isinstance(data, bytes):
            raise Refusal(422, "Send a form with picture, editor, pair and rounds, each once.")
        fields[name] = (data, part.get_filename() or "")
    if set(fields) != set(_FIELDS):
        raise Refusal(422, "Send a form with picture, editor, pair and rounds, each once.")
    editor, pair, rounds = (_word(fields[name][0]) for name in _FIELDS[1:])
    if not (rounds.isascii() and rounds.isdecimal() and len(rounds) < 5):
        raise Refusal(422, "rounds is a whole number.")
    return Upload(fields["picture"][0], fields["picture"][1][:200], editor, pair, int(rounds))


def _word(data: bytes) -> str:
    text = data.decode("utf-8", "replace").strip()
    if len(text) > 200 or not text.isprintable():
        raise Refusal(422, "A field of the form is not a name.")
    return text


async def _body(request: Request) -> bytes:
    length = request.headers.get("content-length", "")
    if length.isdecimal() and len(length) < 20 and int(length) > LARGEST:
        raise Refusal(413, f"A picture has at most {LARGEST // 2**20} MB.")
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(PATIENCE):
            async for part in request.stream():
                parts.append(part)
                size += len(part)
                if size > LARGEST:
                    raise Refusal(413, f"A picture has at most {LARGEST // 2**20} MB.")
    except TimeoutError as error:
        raise Refusal(408, "The picture took too long to arrive.") from error
    except ClientDisconnect as error:
        raise Refusal(400, "The picture did not arrive whole.") from error
    return b"".join(parts)
