"""What editors share that go through their provider's own client library (google-genai, openai).

Both libraries stand on httpx2. They are given connections made here: one pool for each event loop, no redirects (they
would carry the key to somewhere nobody named). What comes back is read as plain JSON, so that a reply of an odd shape
is a `BadReply` and not a library's validation error, and so that nothing of it is lost.
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

from convergebench.editors.models.table import Model, Price
from convergebench.editors.providers.remote import RemoteEditor
from convergebench.errors import BadReply, EditorError, Prerequisite, StudyError, Transient
from convergebench.texts import storable
from convergebench.types import EditRequest
from convergebench.wire.client import MOST, Answer, broken, clean, origin, was_sent
from convergebench.wire.proxies import require_usable_proxies
from convergebench.wire.raw import without_images
from convergebench.wire.unpack import ACCEPTED, whole

if TYPE_CHECKING:
    import ssl

    import httpx2


MOST_THINGS = 1_000_000_000
"""No reply counts more tokens than this."""


class LibraryEditor(RemoteEditor):
    """An editor behind a client library. Subclasses make their client on `_connections`."""

    def __init__(self, name: str, model: Model, given: Mapping[str, Any]) -> None:
        super().__init__(name, model, given)
        self._held: tuple[asyncio.AbstractEventLoop, httpx2.AsyncClient, Any] | None = None

    @abstractmethod
    def _make(self, connections: httpx2.AsyncClient) -> Any:
        """The library's client."""

    def _client(self) -> Any:
        """The library's client for this event loop; connections of another loop cannot be used in it."""
        loop = asyncio.get_running_loop()
        if self._held is None or self._held[0] is not loop:
            connections = self._connections()
            self._held = loop, connections, self._make(connections)
        return self._held[2]

    def _connections(self) -> httpx2.AsyncClient:
        try:
            import httpx2
        except ImportError as error:
            extra = next(iter(self.needs.values()))
            raise Prerequisite(f"{self.name} needs its library: pip install 'convergebench[{extra}]'") from error
        require_usable_proxies()
        limits = httpx2.Limits(max_connections=self.limits.at_once, max_keepalive_connections=self.limits.at_once)
        timeout = httpx2.Timeout(self.patience, connect=min(10.0, self.limits.seconds))
        try:
            client = httpx2.AsyncClient(
                timeout=timeout,
                limits=limits,
                headers={"Accept-Encoding": ACCEPTED},
                follow_redirects=False,
                verify=trusted(),
            )
        except (ValueError, ImportError, httpx2.InvalidURL) as error:
            raise Prerequisite(f"the proxy that the environment names is of no use: {clean(str(error))}") from error
        client.event_hooks = {"response": [_whole]}
        return client

    @property
    def patience(self) -> float:
        """Seconds. The engine gives up a little earlier; this one is for an editor that is used without it."""
        return self.limits.seconds + min(5.0, self.limits.seconds)

    async def close(self) -> None:
        """Let go of the connections."""
        held, self._held = self._held, None
        if held is not None and held[0] is asyncio.get_running_loop():
            await held[1].aclose()

    def cost(self, request: EditRequest, tokens: Mapping[str, int], *, made: bool) -> float:
        """What a call cost: by its tokens, else by the table if an image was made. A price the user states wins."""
        counted = dollars_of(tokens, self.model.price) if self.options.dollars is None else None
        if counted is not None:
            return counted
        return self.price(request) if made else 0.0


async def _whole(response: httpx2.Response) -> None:
    """Read a reply to its end, but not beyond all reason: the libraries would take whatever comes."""
    where, encoding = origin(str(response.url)), response.headers.get("content-encoding", "")
    data = await whole(response.aiter_raw(), encoding, where=where, status=response.status_code, most=MOST)
    response._content = data  # what `aread` would have kept; there is no public way to give it back
    response.encoding = "utf-8"  # as JSON is; a header may name an encoding that is none of text
    await response.aclose()  # a long failure is not read to its end
    # nobody goes there, but the client would take it apart all the same, and fail where it is no address
    response.headers.pop("location", None)


@cache
def trusted() -> ssl.SSLContext:
    """Whose certificates count: the system's. Reading them takes a while, so once is enough."""
    import httpx2

    return httpx2.create_ssl_context()


def dollars_of(tokens: Mapping[str, int], price: Price | None) -> float | None:
    """Tokens by kind as dollars; None where none were told or a kind among them has no known price."""
    counted = {kind: count for kind, count in tokens.items() if count}
    if price is None or not counted or not counted.keys() <= price.tokens.keys():
        return None
    return sum(count * price.tokens[kind] for kind, count in counted.items()) / 1e6


@contextmanager
def reaching(address: str) -> Iterator[None]:
    """Failures on the way there and back, as this project's errors."""
    import httpx2

    try:
        yield
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
        raise StudyError(f"{origin(address)} is no address; give one such as http://127.0.0.1:8000/v1") from error
    except httpx2.TimeoutException as error:
        message = f"{origin(address)} does not answer ({type(error).__name__})"
        raise Transient(message, unsettled=was_sent(error)) from error
    except (httpx2.RequestError, OSError) as error:  # some failures of TLS come as they are
        raise Transient(broken(origin(address), error), unsettled=was_sent(error)) from error


def unsettled_if_unpriced(error: EditorError) -> EditorError:
    """A reply without an image, a refusal and a price may have been charged all the same."""
    error.unsettled = not error.dollars and isinstance(error, BadReply | Transient)
    return error


def answer_of(response: httpx2.Response) -> Answer:
    """A whole reply as the rest of this project reads it."""
    return Answer(response.status_code, dict(response.headers), response.content, str(response.url))


def raw_of(body: Any, name: str) -> str:
    """A reply as it is kept, or `BadReply` if it is nested beyond reading."""
    try:
        return text(without_images(body))
    except RecursionError as error:
        raise BadReply(f"{name} answered with something too deep to read", unsettled=True) from error


# --- replies come from outside: whatever stands where, these give the shape that is asked for -----------------------


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
    """A number of things, or 0; one that no reply can have is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_THINGS else 0


def from_base64(value: Any) -> bytes | None:
    """Bytes in either of base64's alphabets; None if it is no such thing."""
    if not isinstance(value, str):
        return None
    try:
        return base64.b64decode(value.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        return None
