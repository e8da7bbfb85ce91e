"""Base of the fake providers: the protocol of each, as the provider documents it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from tests.editors.providers.loopback import Answer, Loopback, Request

SECRET = "sk-0123456789-do-not-tell"


class Provider(ABC):
    """One editor and the server it talks to. The contract suite runs every provider through the same scenarios."""

    use: ClassVar[str]
    """The editor, as a user types it."""
    variable: ClassVar[str] = ""
    """The environment variable of its key; empty = it needs none."""
    options: ClassVar[dict[str, Any]] = {}
    path: ClassVar[str] = ""
    """What comes after the server's address in `base_url`."""
    takes_a_key: ClassVar[bool] = True
    filters: ClassVar[bool] = True
    """Whether there is a filter that can refuse; servers of one's own have none."""

    @abstractmethod
    def success(self, asked: Request, server: Loopback, picture: bytes) -> Answer:
        """The answer to any request of a call that goes well and gives this picture (bytes of any kind)."""

    @abstractmethod
    def refusal(self, asked: Request, server: Loopback) -> Answer:
        """The answer to any request of a call that the provider's filter stops; its words include `not allowed`."""

    @abstractmethod
    def failure(self, status: int, message: str) -> Any:
        """The body of an error of this provider, as JSON."""

    def empty(self, asked: Request, server: Loopback) -> Answer | None:
        """The answer of a call that ends well and holds no picture (text alone, an empty list); None = cannot be."""
        return None

    def spent(self) -> Answer:
        """The answer of an account that has nothing left."""
        return Answer(402, self.failure(402, "out of credit"))

    @abstractmethod
    def sent(self, asked: Sequence[Request]) -> tuple[bytes, str]:
        """The picture and the words that really went over the wire."""

    def key_sent(self, asked: Request) -> str:
        """The key as it came."""
        return asked.headers.get("authorization", "").removeprefix("Bearer ")
