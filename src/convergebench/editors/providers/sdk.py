"""Base of editors that use their provider's client library (google-genai, openai).

Both libraries use httpx2. They get connections made here: one pool for each event loop, no redirects (they would carry
the key to another host). Replies are read as plain JSON, so that an unexpected one is a `BadReply` and not a library's
validation error, and so that no field is lost.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from convergebench.editors.models.table import ModelEntry, ModelPrice
from convergebench.editors.providers.remote import RemoteEditor
from convergebench.errors import BadReply, EditorError, Prerequisite, StudyError, Transient
from convergebench.texts import storable
from convergebench.types import EditRequest
from convergebench.wire.client import LONGEST_REPLY, HttpReply, clean, connection_error, origin, was_sent
from convergebench.wire.proxies import require_usable_proxies
from convergebench.wire.raw import without_images
from convergebench.wire.unpack import ACCEPTED, read_body

if TYPE_CHECKING:
    import ssl

    import httpx2


MOST_TOKENS = 1_000_000_000
"""Larger token counts in a reply are ignored."""


class LibraryEditor(RemoteEditor):
    """An editor that uses a client library. Subclasses create their client on `_connections`."""

    def __init__(self, name: str, model: ModelEntry, given: Mapping[str, Any]) -> None:
        super().__init__(name, model, given)
        self._open_client: tuple[asyncio.AbstractEventLoop, httpx2.AsyncClient, Any] | None = None

    @abstractmethod
    def _make(self, connections: httpx2.AsyncClient) -> Any:
        """Create the library's client."""

    def _client(self) -> Any:
        """The library's client for this event loop; connections cannot be shared between loops."""
        loop = asyncio.get_running_loop()
        if self._open_client is None or self._open_client[0] is not loop:
            connections = self._connections()
            self._open_client = loop, connections, self._make(connections)
        return self._open_client[2]

    def _connections(self) -> httpx2.AsyncClient:
        try:
            import httpx2
        except ImportError as error:
            extra = next(iter(self.needs.values()))
            raise Prerequisite(f"{self.name} needs its library: pip install 'convergebench[{extra}]'") from error
        require_usable_proxies()
        limits = httpx2.Limits(max_connections=self.limits.at_once, max_keepalive_connections=self.limits.at_once)
        timeout = httpx2.Timeout(self.request_seconds, connect=min(10.0, self.limits.seconds))
        try:
            client = httpx2.AsyncClient(
                timeout=timeout,
                limits=limits,
                headers={"Accept-Encoding": ACCEPTED},
                follow_redirects=False,
                verify=trust_store(),
            )
        except (ValueError, ImportError, httpx2.InvalidURL) as error:
            raise Prerequisite(f"the proxy set in the environment cannot be used: {clean(str(error))}") from error
        client.event_hooks = {"response": [_read_bounded]}
        return client

    @property
    def request_seconds(self) -> float:
        """Time limit for an editor that is used without the engine, whose own limit is a little shorter."""
        return self.limits.seconds + min(5.0, self.limits.seconds)

    async def close(self) -> None:
        """Close the connections."""
        opened, self._open_client = self._open_client, None
        if opened is not None and opened[0] is asyncio.get_running_loop():
            await opened[1].aclose()

    def cost(self, request: EditRequest, tokens: Mapping[str, int], *, made: bool) -> float:
        """Cost of a call: the user's price, else by tokens, else by the table if an image was made."""
        counted = dollars_of(tokens, self.model.price) if self.options.dollars is None else None
        if counted is not None:
            return counted
        return self.price(request) if made else 0.0


async def _read_bounded(response: httpx2.Response) -> None:
    """Read a reply up to a size limit, which the libraries do not have."""
    where, encoding = origin(str(response.url)), response.headers.get("content-encoding", "")
    data = await read_body(response.aiter_raw(), encoding, where=where, status=response.status_code, most=LONGEST_REPLY)
    response._content = data  # as `aread` does; there is no public way to set it
    response.encoding = "utf-8"  # JSON is UTF-8; a header may name an invalid encoding
    await response.aclose()  # a long error body is not read to its end
    # not followed, but the client would parse it and fail on an invalid address
    response.headers.pop("location", None)


@cache
def trust_store() -> ssl.SSLContext:
    """The system's certificates, loaded once, as loading is slow."""
    import httpx2

    return httpx2.create_ssl_context()


def dollars_of(tokens: Mapping[str, int], price: ModelPrice | None) -> float | None:
    """Cost of tokens by kind; None if there are none or one kind has no known price."""
    counted = {kind: count for kind, count in tokens.items() if count}
    if price is None or not counted or not counted.keys() <= price.tokens.keys():
        return None
    return sum(count * price.tokens[kind] for kind, count in counted.items()) / 1e6


@contextmanager
def http_errors(address: str) -> Iterator[None]:
    """Turn the HTTP library's exceptions into this project's errors."""
    import httpx2

    try:
        yield
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
        raise StudyError(f"{origin(address)} is not an address; give one such as http://127.0.0.1:8000/v1") from error
    except httpx2.TimeoutException as error:
        message = f"{origin(address)} does not answer ({type(error).__name__})"
        raise Transient(message, unsettled=was_sent(error)) from error
    except (httpx2.RequestError, OSError) as error:  # some TLS errors are not wrapped
        raise Transient(connection_error(origin(address), error), unsettled=was_sent(error)) from error


def mark_unsettled(error: EditorError) -> EditorError:
    """Mark a bad or transient reply without a known cost as unsettled: it may have been charged."""
    error.unsettled = not error.dollars and isinstance(error, BadReply | Transient)
    return error


def answer_of(response: httpx2.Response) -> HttpReply:
    """A complete reply in this project's own type."""
    return HttpReply(response.status_code, dict(response.headers), response.content, str(response.url))


def raw_of(body: Any, name: str) -> str:
    """A reply as it is stored; `BadReply` if it is nested too deeply."""
    try:
        return text(without_images(body))
    except RecursionError as error:
        raise BadReply(f"{name} answered with JSON that is nested too deeply", unsettled=True) from error


# --- replies are untrusted: these return the expected type for any value ---------------------------------------------


def table(value: Any) -> dict[str, Any]:
    """A JSON object, or an empty one."""
    return value if isinstance(value, dict) else {}


def rows(value: Any) -> list[dict[str, Any]]:
    """The objects of a JSON list, or none."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """A string that any file can hold, or an empty one."""
    return storable(value) if isinstance(value, str) else ""


def count(value: Any) -> int:
    """A plausible count, or 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_TOKENS else 0


def from_base64(value: Any) -> bytes | None:
    """Bytes from either base64 alphabet; None if it is invalid."""
    if not isinstance(value, str):
        return None
    try:
        return base64.b64decode(value.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        return None
