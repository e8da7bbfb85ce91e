"""What the editors have in common that speak to their provider over plain HTTP, without a library of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit

from pydantic import Field

from convergebench import ids
from convergebench.documents import Strict, check_document
from convergebench.editors.models.table import Model
from convergebench.editors.providers.download import steadily
from convergebench.editors.providers.remote import CIRCUMSTANCES, RemoteEditor
from convergebench.errors import BadReply, EditorError, Transient
from convergebench.wire.client import Answer, Key, Wire, clean
from convergebench.wire.raw import without_images
from convergebench.wire.verdict import BUSY, Verdict, judge

MOST = 1e15
"""No sum in a reply is larger, in whatever unit it is stated: xAI's are parts of ten thousand millions to a dollar."""


class Shape(Strict):
    """What a row of the model table may say under `wire`; each provider adds its own."""

    idle: ClassVar[frozenset[str]] = frozenset()
    """Fields that change no answer: what may be asked for, what it costs."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    """Sent with every call: PNG asked for, rewriting of the words and watermarks switched off."""


class WiredEditor(RemoteEditor):
    """One connection pool, one key in one header, one way to read what comes back."""

    WireShape: ClassVar[type[Shape]] = Shape
    key_header: ClassVar[str] = "Authorization"
    key_form: ClassVar[str] = "Bearer {}"
    relatives: ClassVar[tuple[str, ...]] = ()
    """Ends of host names (`.bfl.ai`) that are the provider's own, beside the one in `base_url`."""
    shape: Shape

    def __init__(self, name: str, model: Model, given: Mapping[str, Any]) -> None:
        super().__init__(name, model, given)
        self.shape = check_document(model.wire, self.WireShape, where=f"model '{model.id}', wire")
        self.base_url = self.options.base_url.rstrip("/") or self.home()
        self.fingerprint = ids.fingerprint(f"{self.provider}:{model.wire_id}", self.version, self.identity())
        key = Key(self.variables, header=self.key_header, form=self.key_form)
        self.wire = Wire(self.base_url, key=key, seconds=self.limits.seconds, at_once=self.limits.at_once)

    def home(self) -> str:
        """Where the provider is for this model, unless `base_url` says otherwise."""
        return self.address

    def identity(self) -> dict[str, Any]:
        """Everything that changes answers: the options that are no circumstances, and the row's wire details."""
        options = self.options.model_dump(mode="json")
        chosen = {key: value for key, value in options.items() if key not in CIRCUMSTANCES}
        wire = {key: value for key, value in self.model.wire.items() if key not in self.WireShape.idle}
        return {**chosen, "wire": wire}

    async def close(self) -> None:
        """Let go of the connections."""
        await self.wire.close()

    def verdict(self, answer: Answer) -> Verdict:
        """What a failed answer means."""
        return judge(answer)

    def read(self, answer: Answer, *, dollars: float = 0.0, fine: Iterable[int] = (200,)) -> dict[str, Any]:
        """The body of an answer that went well; anything else is raised as what it means.

        A success that cannot be read may have been charged: without `dollars` it is unsettled.
        """
        if answer.status not in fine:
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

    async def look_at(
        self,
        address: str,
        *,
        dollars: float = 0.0,
        raw: str | None = None,
        fine: Iterable[int] = (200,),
        ended: Collection[int] = (),
    ) -> dict[str, Any]:
        """What has become of a task that was taken. One that cannot be found is lost; its model is still there.

        Not being able to look says nothing about the task, which may be carried out and charged; only the statuses
        under `ended` say that it came to nothing.
        """
        answer = await steadily(self.asking(address), dollars=dollars, raw=raw, again=BUSY | {404})
        if answer.status == 404:
            message = f"{self.name} does not find its task again ({judge(answer).message})"
            raise Transient(message, dollars=dollars, raw=raw, unsettled=not dollars)
        try:
            return self.read(answer, dollars=dollars, fine=fine)
        except EditorError as error:
            error.unsettled = not dollars and answer.status not in ended
            raise

    def asking(self, address: str) -> Callable[[], Awaitable[Answer]]:
        """A question to an address out of a reply, with the key where it may have it."""
        return lambda: self.wire.send("GET", address, keyed=self.trusts(address))

    def trusts(self, address: str) -> bool:
        """Whether an address out of a reply may have the key: the same server, or one of the provider's own."""
        try:
            there, here = urlsplit(address), urlsplit(self.base_url)
        except ValueError:
            return False
        if (there.scheme, there.netloc) == (here.scheme, here.netloc):
            return True
        return there.scheme == "https" and (there.hostname or "").endswith(self.relatives or ("\0",))


def amount(value: Any) -> float | None:
    """A sum out of a reply, if it is one: not negative, not beyond all measure, not NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= MOST else None


def part(value: Any, *path: str | int) -> Any:
    """What stands at this place of a reply, or None: replies are never trusted to have their shape."""
    for key in path:
        if isinstance(key, int):
            value = value[key] if isinstance(value, list) and len(value) > key else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value
