"""One HTTP request and its reply. The engine does retries, rate limits and budget."""

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
from convergebench.wire.unpack import ACCEPTED, read_body

LONGEST_REPLY = 64_000_000
"""Most bytes of a reply; an endless one would fill the memory."""
LONGEST_MESSAGE = 300
"""Most characters of a server's message that are passed on."""
LONGEST_SEARCHED = 4_000
"""Characters that are searched for keys before the message is cut: encoded keys are long."""
LONGEST_TEXT = 200_000
"""Most bytes of a reply that are read as text."""
NEVER_SENT = ("ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError")
"""Errors before anything was sent, named alike in both HTTP libraries: nothing can have been charged."""

REDIRECT = "convergebench-elsewhere"
"""Extension of a reply that holds the address of a redirect."""

_ABSOLUTE = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:")


@dataclass(frozen=True, slots=True)
class KeySource:
    """Where a key is found and how it is sent."""

    variables: tuple[str, ...] = ()
    """Names in the environment or the keyring, in order of preference; empty: no key is sent."""
    header: str = "Authorization"
    form: str = "Bearer {}"
    optional: bool = False
    """Sent only if it is set; self-hosted servers mostly need none."""
    basic: bool = False
    """The variable holds `user:password`, sent as basic authentication; `form` is ignored."""

    def headers(self, who: str) -> dict[str, str]:
        """The header with the key; `Prerequisite` if a required key is not set."""
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


NO_KEY = KeySource()


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A complete reply."""

    status: int
    headers: Mapping[str, str]
    data: bytes
    address: str

    @property
    def text(self) -> str:
        """The start of the body as text; bytes that are not UTF-8 become replacement characters."""
        return self.data[:LONGEST_TEXT].decode("utf-8", "replace")

    def json(self) -> Any:
        """As JSON, or `BadReply`."""
        try:
            return json.loads(self.data)
        except (ValueError, RecursionError) as error:
            message = f"{origin(self.address)} answered with something that is not JSON"
            raise BadReply(message, unsettled=self.status < 300) from error


class Wire:
    """Connections to one server. Redirects are not followed: they would carry the key to another host."""

    def __init__(self, base_url: str, *, key: KeySource = NO_KEY, seconds: float = 600.0, at_once: int = 4) -> None:
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
        most: int = LONGEST_REPLY,
        **body: Any,
    ) -> HttpReply:
        """One request to a path below the base address or an absolute one. `body`: json, data, files, params (httpx).

        The key is sent only if `keyed`; pass False for an address of another host that came from a reply.
        An error is unsettled if the request was sent and no complete answer came back.
        """
        # a path may hold an address in its query
        address = path if _ABSOLUTE.match(path) else f"{self.base_url}/{path.lstrip('/')}"
        sent = {**(self.key.headers(self.base_url) if keyed else {}), "Accept-Encoding": ACCEPTED, **(headers or {})}
        client, where, status = self._http(), origin(address), 0
        try:
            async with client.stream(method, address, headers=sent, **body) as reply:
                encoding, status = reply.headers.get("content-encoding", ""), reply.status_code
                data = await read_body(reply.aiter_raw(), encoding, where=where, status=status, most=most)
                return HttpReply(status, {**reply.headers, **reply.extensions.get(REDIRECT, {})}, data, address)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
            raise StudyError(f"{where} is not an address; give one such as http://127.0.0.1:8000/v1") from error
        except httpx.TimeoutException as error:
            unsettled = was_sent(error) and status < 300
            raise Transient(f"{where} does not answer ({type(error).__name__})", unsettled=unsettled) from error
        except (httpx.RequestError, OSError) as error:  # some TLS errors are not wrapped
            unsettled = was_sent(error) and status < 300
            raise Transient(connection_error(where, error), unsettled=unsettled) from error

    async def download(self, address: str, *, most: int = LONGEST_REPLY) -> HttpReply:
        """Fetch a file whose address came from a reply; the key is sent only to the same host."""
        try:
            whole = urljoin(f"{self.base_url}/", address)
            same = urlsplit(whole)[:2] == urlsplit(self.base_url)[:2]
            return await self.send("GET", whole, keyed=same, most=most)
        except (StudyError, ValueError) as error:  # the server's mistake, not the study's
            raise BadReply(f"{self.base_url} names a file without a valid address: {clean(address)}") from error

    async def close(self) -> None:
        """Close the connections."""
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
            # the engine has its own time limit; this one is for a client used without it
            timeout = httpx.Timeout(self._seconds + min(5.0, self._seconds), connect=min(10.0, self._seconds))
            limits = httpx.Limits(max_connections=self._at_once, max_keepalive_connections=self._at_once)
            try:
                made = httpx.AsyncClient(timeout=timeout, limits=limits, follow_redirects=False, verify=_certificates())
                # no cookies: one chain's would be sent with the calls of another
                made.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))
                made.event_hooks = {"response": [_without_location]}
                self._client = loop, made
            except (ValueError, ImportError, httpx.InvalidURL) as error:
                raise Prerequisite(f"the proxy set in the environment cannot be used: {clean(str(error))}") from error
        return self._client[1]


async def _without_location(reply: httpx.Response) -> None:
    """Move a redirect's address into the extensions: httpx parses it even if not followed, and may fail."""
    if "location" in reply.headers:
        reply.extensions[REDIRECT] = {"location": reply.headers.pop("location")}


@cache
def _certificates() -> ssl.SSLContext:
    """The trusted certificates, loaded once: loading takes longer than many requests."""
    return httpx.create_ssl_context()


def origin(address: str) -> str:
    """An address without its possible secrets: user name, password, query."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "the server"
    shown = f"{parts.scheme}://{host}{port}{parts.path}" if host else "the server"
    return storable(shown[:LONGEST_MESSAGE])  # it may come from a reply


def was_sent(error: Exception) -> bool:
    """Whether the request may have reached the server before this error; True if in doubt."""
    return not any(kind.__name__ in NEVER_SENT for kind in type(error).__mro__)


def connection_error(where: str, error: Exception) -> str:
    """Error message for a connection that failed before or after the request was sent."""
    what = "gave no complete answer" if was_sent(error) else "cannot be reached"
    return f"{where} {what}: {clean(str(error)) or type(error).__name__}"


def clean(text: str) -> str:
    """One short line without keys and without terminal control codes.

    Cut before it is searched: error bodies can have any length.
    """
    start = storable(text[:LONGEST_TEXT])
    line = " ".join(redact(" ".join(start.split())[:LONGEST_SEARCHED]).split())
    line = printable(line[: LONGEST_MESSAGE + 1])
    return line if len(line) <= LONGEST_MESSAGE else f"{line[:LONGEST_MESSAGE]}…"
