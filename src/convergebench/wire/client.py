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
from convergebench.texts import printable, storable
from convergebench.wire.proxies import require_usable_proxies
from convergebench.wire.unpack import ACCEPTED, whole

MOST = 64_000_000
"""Bytes of an answer that is read. A server that never ends would fill the memory."""
LONGEST = 300
"""Characters of a server's message that are passed on."""
MARGIN = 4_000
"""Characters that are looked through for keys so that so many can be passed on: spellings of a key are long."""
SPOKEN = 200_000
"""Bytes of an answer that are read as words."""
NEVER_SENT = ("ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError")
"""Failures before anything was sent, by the names that both HTTP libraries have for them: nothing can be charged."""

ELSEWHERE = "convergebench-elsewhere"
"""Where the address of a redirect is kept with a reply."""

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
        if self.optional:
            value = find_key(self.variables, login=self.basic)
        else:
            value = require_key(self.variables, who, login=self.basic)
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
        """Its beginning as words; what is no text becomes question marks."""
        return self.data[:SPOKEN].decode("utf-8", "replace")

    def json(self) -> Any:
        """As JSON, or `BadReply`."""
        try:
            return json.loads(self.data)
        except (ValueError, RecursionError) as error:
            message = f"{origin(self.address)} answered with something that is not JSON"
            raise BadReply(message, unsettled=self.status < 300) from error


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
        An error is unsettled if the request was sent and no whole answer came back.
        """
        # a path may hold an address in its question
        address = path if _WHOLE.match(path) else f"{self.base_url}/{path.lstrip('/')}"
        sent = {**(self.key.headers(self.base_url) if keyed else {}), "Accept-Encoding": ACCEPTED, **(headers or {})}
        client, where, status = self._http(), origin(address), 0
        try:
            async with client.stream(method, address, headers=sent, **body) as reply:
                encoding, status = reply.headers.get("content-encoding", ""), reply.status_code
                data = await whole(reply.aiter_raw(), encoding, where=where, status=status, most=most)
                return Answer(status, {**reply.headers, **reply.extensions.get(ELSEWHERE, {})}, data, address)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
            raise StudyError(f"{where} is no address; give one such as http://127.0.0.1:8000/v1") from error
        except httpx.TimeoutException as error:
            unsettled = was_sent(error) and status < 300
            raise Transient(f"{where} does not answer ({type(error).__name__})", unsettled=unsettled) from error
        except (httpx.RequestError, OSError) as error:  # some failures of TLS come as they are
            unsettled = was_sent(error) and status < 300
            raise Transient(broken(where, error), unsettled=unsettled) from error

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
            require_usable_proxies()
            # the engine gives up after the same time; this one only catches a client used without it
            timeout = httpx.Timeout(self._seconds + min(5.0, self._seconds), connect=min(10.0, self._seconds))
            limits = httpx.Limits(max_connections=self._at_once, max_keepalive_connections=self._at_once)
            try:
                made = httpx.AsyncClient(timeout=timeout, limits=limits, follow_redirects=False, verify=_trusted())
                # no cookies: what one call left behind would go along with the next one, of another chain
                made.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))
                made.event_hooks = {"response": [_without_location]}
                self._client = loop, made
            except (ValueError, ImportError, httpx.InvalidURL) as error:
                raise Prerequisite(f"the proxy that the environment names is of no use: {clean(str(error))}") from error
        return self._client[1]


async def _without_location(reply: httpx.Response) -> None:
    """Lay a redirect's address aside: the library takes it apart even where it does not go there, and fails."""
    if "location" in reply.headers:
        reply.extensions[ELSEWHERE] = {"location": reply.headers.pop("location")}


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
    shown = f"{parts.scheme}://{host}{port}{parts.path}" if host else "the server"
    return storable(shown[:LONGEST])  # it may have come out of a reply


def was_sent(error: Exception) -> bool:
    """Whether a request may have reached the server before this happened; if in doubt it has."""
    return not any(kind.__name__ in NEVER_SENT for kind in type(error).__mro__)


def broken(where: str, error: Exception) -> str:
    """What happened on the way there, or on the way back."""
    what = "gave no whole answer" if was_sent(error) else "cannot be reached"
    return f"{where} {what}: {clean(str(error)) or type(error).__name__}"


def clean(text: str) -> str:
    """One short line without any key, and without the codes by which a terminal is told to do things.

    Cut before it is looked through: bodies of errors can have any length.
    """
    beginning = storable(text[:SPOKEN])
    line = " ".join(redact(" ".join(beginning.split())[:MARGIN]).split())
    line = printable(line[: LONGEST + 1])
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
