"""One request over HTTP and what came back. Trying again, pace and budget are the engine's business."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from http.cookiejar import DefaultCookiePolicy
from typing import Any, Literal
from urllib.parse import urljoin, urlsplit

import httpx

from convergebench.errors import BadReply, Prerequisite, StudyError, Transient
from convergebench.keys import find_key, require_key
from convergebench.redaction import redact

MOST = 64_000_000
"""Bytes of an answer that is read. A server that never ends would fill the memory."""
LONGEST = 300
"""Characters of a server's message that are passed on."""

_WHOLE = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:")


@dataclass(frozen=True, slots=True)
class Key:
    """Where a key is found and how it travels."""

    variables: tuple[str, ...] = ()
    """Names in the environment or the keyring, first one first; none = no key is sent."""
    header: str = "Authorization"
    form: str = "Bearer {}"
    optional: bool = False
    """Sent if there is one; servers of one's own mostly want none."""
    basic: bool = False
    """The variable holds `user:password`, which travels as basic authentication; `form` is not looked at."""

    def headers(self, who: str) -> dict[str, str]:
        """The header with the key, or what to type."""
        if not self.variables:
            return {}
        value = find_key(self.variables) if self.optional else require_key(self.variables, who)
        if not value:
            return {}
        if self.basic:
            return {self.header: f"Basic {base64.b64encode(value.encode()).decode()}"}
        return {self.header: self.form.replace("{}", value)}


NO_KEY = Key()


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole reply."""

    status: int
    headers: Mapping[str, str]
    data: bytes
    address: str

    @property
    def text(self) -> str:
        """As words; what is no text becomes question marks, and halves of characters too, which no file can hold."""
        return self.data.decode("utf-8", "replace").encode("utf-8", "replace").decode("utf-8")

    def json(self) -> Any:
        """As JSON, or `BadReply`."""
        try:
            return json.loads(self.data)
        except (ValueError, RecursionError) as error:
            raise BadReply(f"{origin(self.address)} answered with something that is not JSON") from error


class Wire:
    """Connections to one server. Redirects are not followed: they would carry the key to somewhere nobody named."""

    def __init__(self, base_url: str, *, key: Key = NO_KEY, seconds: float = 600.0, at_once: int = 4) -> None:
        self.base_url, self.key = base_url.rstrip("/"), key
        self._seconds, self._at_once = seconds, at_once
        self._client: tuple[asyncio.AbstractEventLoop, httpx.AsyncClient] | None = None

    async def send(
        self,
        method: Literal["GET", "POST", "PUT", "DELETE"],
        path: str,
        *,
        keyed: bool = True,
        headers: Mapping[str, str] | None = None,
        most: int = MOST,
        **body: Any,
    ) -> Answer:
        """One request: a path below the base address, or a whole address. `body`: json, data, files, params (httpx).

        The key goes along only if `keyed`; leave it behind when an address came out of a reply and is another host's.
        """
        # a path may hold an address in its question
        address = path if _WHOLE.match(path) else f"{self.base_url}/{path.lstrip('/')}"
        sent = {**(self.key.headers(self.base_url) if keyed else {}), **(headers or {})}
        client = self._http()
        try:
            async with client.stream(method, address, headers=sent, **body) as reply:
                data = bytearray()
                async for piece in reply.aiter_bytes():
                    data += piece
                    if len(data) > most:
                        raise BadReply(f"{origin(address)} answers {reply.status_code} and does not come to an end")
                return Answer(reply.status_code, dict(reply.headers), bytes(data), address)
        except httpx.TimeoutException as error:
            raise Transient(f"{origin(address)} does not answer ({type(error).__name__})") from error
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise StudyError(f"{origin(address)} is no address; give one such as http://127.0.0.1:8000/v1") from error
        except httpx.RequestError as error:
            raise Transient(f"{origin(address)} cannot be reached: {clean(str(error))}") from error

    async def download(self, address: str, *, most: int = MOST) -> Answer:
        """A file whose address came out of a reply: without the key, unless it lies at the same host."""
        try:
            whole = urljoin(f"{self.base_url}/", address)
            same = urlsplit(whole)[:2] == urlsplit(self.base_url)[:2]
            return await self.send("GET", whole, keyed=same, most=most)
        except (StudyError, ValueError) as error:  # the server's slip, not the study's
            raise BadReply(f"{self.base_url} names a file at no address: {clean(address)}") from error

    async def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            loop, client = self._client
            self._client = None
            if loop is asyncio.get_running_loop():
                await client.aclose()

    def _http(self) -> httpx.AsyncClient:
        """Connections belong to an event loop; a new loop gets new ones."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._client[0] is not loop:
            # the engine gives up after the same time; this one only catches a client used without it
            timeout = httpx.Timeout(self._seconds + min(5.0, self._seconds), connect=min(10.0, self._seconds))
            limits = httpx.Limits(max_connections=self._at_once, max_keepalive_connections=self._at_once)
            try:
                made = httpx.AsyncClient(timeout=timeout, limits=limits, follow_redirects=False, verify=_trusted())
                # no cookies: what one call left behind would go along with the next one, of another chain
                made.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))
                self._client = loop, made
            except (ValueError, ImportError, httpx.InvalidURL) as error:
                raise Prerequisite(f"the proxy that the environment names is of no use: {clean(str(error))}") from error
        return self._client[1]


@cache
def _trusted() -> ssl.SSLContext:
    """Whose certificates are believed; reading them takes longer than many a request."""
    return httpx.create_ssl_context()


def origin(address: str) -> str:
    """An address without what may be secret in it: names, passwords, signatures after the question mark."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "the server"
    return f"{parts.scheme}://{host}{port}{parts.path}" if host else "the server"


def clean(text: str) -> str:
    """One short line without any key."""
    line = " ".join(redact(text.encode("utf-8", "replace").decode("utf-8")).split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
