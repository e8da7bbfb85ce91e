"""Base of editors that call their provider over plain HTTP, without its client library."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit

from pydantic import Field

from convergebench import ids
from convergebench.documents import Strict, check_document
from convergebench.editors.models.table import ModelEntry
from convergebench.editors.providers.download import with_retries
from convergebench.editors.providers.remote import CIRCUMSTANCES, RemoteEditor
from convergebench.errors import BadReply, EditorError, Transient
from convergebench.wire.client import HttpReply, KeySource, Wire, clean
from convergebench.wire.raw import without_images
from convergebench.wire.verdict import BUSY_STATUSES, ErrorVerdict, classify_failure

LARGEST_AMOUNT = 1e15
"""Larger amounts in a reply are ignored, in any unit: xAI counts 10,000 million units to a dollar."""


class RequestShape(Strict):
    """Keys of `wire` in the model table; each provider adds its own."""

    ignored: ClassVar[frozenset[str]] = frozenset()
    """Fields that do not change answers (limits, prices), and so are not in the fingerprint."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    """Sent with every call: PNG output, no prompt rewriting, no watermarks."""


class WiredEditor(RemoteEditor):
    """An editor with its own connection pool, key header and reply handling."""

    WireShape: ClassVar[type[RequestShape]] = RequestShape
    key_header: ClassVar[str] = "Authorization"
    key_form: ClassVar[str] = "Bearer {}"
    own_hosts: ClassVar[tuple[str, ...]] = ()
    """Suffixes of the provider's own host names (`.bfl.ai`), besides the host in `base_url`."""
    shape: RequestShape

    def __init__(self, name: str, model: ModelEntry, given: Mapping[str, Any]) -> None:
        super().__init__(name, model, given)
        self.shape = check_document(model.wire, self.WireShape, where=f"model '{model.id}', wire")
        self.base_url = self.options.base_url.rstrip("/") or self.home()
        self.fingerprint = ids.fingerprint(f"{self.provider}:{model.wire_id}", self.version, self.identity())
        key = KeySource(self.variables, header=self.key_header, form=self.key_form)
        self.wire = Wire(self.base_url, key=key, seconds=self.limits.seconds, at_once=self.limits.at_once)

    def home(self) -> str:
        """Address of the provider for this model, unless `base_url` overrides it."""
        return self.address

    def identity(self) -> dict[str, Any]:
        """Everything that changes answers: the provider's own options, and the `wire` details of the model."""
        options = self.options.model_dump(mode="json")
        chosen = {key: value for key, value in options.items() if key not in CIRCUMSTANCES}
        wire = {key: value for key, value in self.model.wire.items() if key not in self.WireShape.ignored}
        return {**chosen, "wire": wire}

    async def close(self) -> None:
        """Close the connections."""
        await self.wire.close()

    def verdict(self, answer: HttpReply) -> ErrorVerdict:
        """Classify an error reply."""
        return classify_failure(answer)

    def read(self, answer: HttpReply, *, dollars: float = 0.0, success: Iterable[int] = (200,)) -> dict[str, Any]:
        """The body of a successful reply; raises the error that any other reply means.

        A success that cannot be read may have been charged: without `dollars` it is unsettled.
        """
        if answer.status not in success:
            raise self.verdict(answer).as_editor_error(dollars)
        try:
            body = answer.json()
        except BadReply as error:
            error.dollars, error.unsettled, error.raw = dollars, not dollars, clean(answer.text)
            raise
        if not isinstance(body, dict):
            message = f"{self.name} answered with a {type(body).__name__}"
            raise BadReply(message, raw=without_images(body), dollars=dollars, unsettled=not dollars)
        return body

    async def poll_task(
        self,
        address: str,
        *,
        dollars: float = 0.0,
        raw: str | None = None,
        success: Iterable[int] = (200,),
        failed_statuses: Collection[int] = (),
    ) -> dict[str, Any]:
        """The state of a submitted task. A task that cannot be found is lost; its model still works.

        If polling fails, the task may still finish and be charged; only `failed_statuses` mean that it will not.
        """
        answer = await self.retried(address, dollars=dollars, raw=raw)
        if answer.status == 404:
            message = f"{self.name} cannot find its task again ({classify_failure(answer).message})"
            raise Transient(message, dollars=dollars, raw=raw, unsettled=not dollars)
        try:
            return self.read(answer, dollars=dollars, success=success)
        except EditorError as error:
            error.unsettled = not dollars and answer.status not in failed_statuses
            raise

    async def retried(self, address: str, *, dollars: float = 0.0, raw: str | None = None) -> HttpReply:
        """The answer at an address of a task that is under way, after several tries if the server is busy."""
        return await with_retries(self.request_to(address), dollars=dollars, raw=raw, retry_on=BUSY_STATUSES | {404})

    def request_to(self, address: str) -> Callable[[], Awaitable[HttpReply]]:
        """A GET request to an address from a reply, with the key if the host is trusted."""
        return lambda: self.wire.send("GET", address, keyed=self.trusts(address))

    def trusts(self, address: str) -> bool:
        """Whether an address from a reply may get the key: the same server, or one of the provider's hosts."""
        try:
            target, own = urlsplit(address), urlsplit(self.base_url)
        except ValueError:
            return False
        if (target.scheme, target.netloc) == (own.scheme, own.netloc):
            return True
        return target.scheme == "https" and (target.hostname or "").endswith(self.own_hosts or ("\0",))


def amount(value: Any) -> float | None:
    """An amount from a reply, if it is plausible: not negative, not huge, not NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= LARGEST_AMOUNT else None


def part(value: Any, *path: str | int) -> Any:
    """The value at this path of a reply, or None if the reply has another shape."""
    for key in path:
        if isinstance(key, int):
            value = value[key] if isinstance(value, list) and len(value) > key else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value
