"""One question to a served model and its completion, the same for every protocol.

A client sends single requests. Retries, pace and budget are up to the engine.
"""

from __future__ import annotations

import base64
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from convergebench.errors import BadReply, EditorError, Prerequisite, Refused, StudyError, Transient
from convergebench.images.decode import decode, probe
from convergebench.images.encode import encode_png
from convergebench.keys import require_key
from convergebench.redaction import redact
from convergebench.texts import storable
from convergebench.wire.client import HttpReply, KeySource, Wire, clean
from convergebench.wire.verdict import ErrorVerdict, classify_failure

if TYPE_CHECKING:
    from convergebench.roles.tables import RoleTable

MOST = 2_000_000
"""Largest response in bytes, as protection against endless ones; usual are a few thousand."""
MOST_TOKENS = 1_000_000_000
"""Larger counts in a response are ignored."""


@dataclass(frozen=True, slots=True)
class SentPicture:
    """A picture in a format that the server reads."""

    mime: str
    data: str
    """Its bytes as base64."""


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """What a model is asked; the settings of the model are in its table."""

    text: str
    system: str = ""
    pictures: tuple[SentPicture, ...] = ()
    """In the order in which the words speak of them."""
    name: str = "reply"
    """What the reply's schema is called."""
    schema: Mapping[str, Any] | None = None
    """JSON schema that the reply is held to."""
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """The text of a reply, why it ended, the model as reported, and the token counts."""

    text: str
    model: str
    ended: Literal["complete", "truncated", "refused", "broken"] = "complete"
    """`broken`: the server gave up for a reason that need not recur."""
    reason: str = ""
    """The server's own word for an end that is not `complete`."""
    sent: int | None = None
    """Tokens that were charged as input; None without a plausible count."""
    written: int | None = None
    """Tokens that were charged as output, thinking included."""
    raw: str = field(default="", repr=False)
    """The start of the reply as it came, in case there is no text."""


class ModelClient(ABC):
    """A model at a server."""

    formats: ClassVar[frozenset[str]] = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
    """Image formats that are sent as they are; others are converted to PNG."""
    header: ClassVar[str] = "Authorization"
    key_form: ClassVar[str] = "Bearer {}"
    more_headers: ClassVar[Mapping[str, str]] = {}
    no_credit: ClassVar[frozenset[str]] = frozenset()
    """Further error codes of accounts without credit."""

    def __init__(self, table: RoleTable) -> None:
        self.table, self.base_url, self.key = table, table.base_url, table.key
        found = KeySource((table.key,) if table.key else (), header=self.header, form=self.key_form)
        self._wire = Wire(self.base_url, key=found, seconds=table.seconds, at_once=table.at_once)

    @property
    @abstractmethod
    def path(self) -> str:
        """Where questions go, below the address."""

    @abstractmethod
    def body(self, question: ModelQuestion) -> dict[str, Any]:
        """The request."""

    @abstractmethod
    def read(self, body: Any, raw: str) -> Completion:
        """The completion in a reply; a KeyError, TypeError or the like if there is none."""

    def secret(self) -> str:
        """The key; `Prerequisite` says what to type if it is missing."""
        return require_key((self.key,), self.base_url) if self.key else ""

    def picture(self, data: bytes) -> SentPicture:
        """A picture for this server: its bytes unchanged if the server can read the format."""
        mime = probe(data).mime
        if mime not in self.formats:
            data, mime = encode_png(decode(data, alpha="white").pixels), "image/png"
        return SentPicture(mime, base64.b64encode(data).decode())

    async def complete(self, question: ModelQuestion) -> Completion:
        """One completion, or the error that the reply means."""
        answer = await self._wire.send(
            "POST", self.path, json=self.body(question), headers=self.more_headers, most=MOST
        )
        if answer.status != 200:
            raise self.failure(answer)
        raw = clean(answer.text)
        try:
            body = answer.json()
        except BadReply as error:
            raise BadReply(str(error), raw=raw, unsettled=True) from error
        if isinstance(body, dict) and body.get("error"):  # some gateways report errors with status 200
            code = body["error"].get("code") if isinstance(body["error"], dict) else None
            raise self.failure(answer, code if isinstance(code, int) else 502)
        try:
            return self.read(body, raw)
        except (AttributeError, KeyError, IndexError, TypeError) as error:
            raise BadReply(f"{self.base_url} answered without a message", raw=raw, unsettled=True) from error

    def reported(self, model: object) -> str:
        """The model as the server reports it; the one that was asked for if it reports none."""
        return redacted(model) if model and isinstance(model, str) else self.table.model

    async def close(self) -> None:
        """Close the connections."""
        await self._wire.close()

    def failure(self, answer: HttpReply, status: int | None = None) -> Exception:
        """The error for a status; `status` replaces that of the reply."""
        verdict = classify_failure(answer, status=status, no_credit=self.no_credit)
        return self.error_for(verdict, status or answer.status)

    def error_for(self, verdict: ErrorVerdict, status: int) -> Exception:
        """The error for a classified reply."""
        if verdict.kind == "key":
            return self.key_error(status, verdict.message if status == 403 else "")
        if verdict.kind == "credit":
            return Prerequisite(verdict.message)
        if verdict.kind == "busy":
            return Transient(verdict.message, retry_after=verdict.retry_after, raw=verdict.raw)
        if verdict.kind == "refused":
            return Refused(verdict.message, reason=verdict.code, raw=verdict.raw)
        if verdict.kind == "gone":
            return StudyError(f"{verdict.message} (model {self.table.model})")
        # only this question fails, without a retry
        return EditorError(verdict.message, raw=verdict.raw)

    def key_error(self, status: int, message: str = "") -> Prerequisite:
        """The error for a key that is not taken; the server's own `message` only where it cannot repeat the key."""
        where = f"the key in {self.key}" if self.key else "a request without a key; name its variable with: key ="
        if message:
            return Prerequisite(f"{message} (it was sent {where})")
        return Prerequisite(f"{self.base_url} answers {status}: it rejects {where}")


def redacted(text: str) -> str:
    """The text without keys; lone surrogates become question marks."""
    return redact(storable(text))


def merged(body: dict[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """The request with the further keys of the table; tables are merged, one level deep."""
    found = dict(body)
    for name, value in extra.items():
        own = found.get(name)
        found[name] = {**own, **value} if isinstance(own, dict) and isinstance(value, Mapping) else value
    return found


def count(usage: Any, name: str, *, missing: int | None = None) -> int | None:
    """A plausible token count; None otherwise, since a negative one would reduce the cost."""
    found = usage.get(name) if isinstance(usage, dict) else None
    if found is None:
        return missing
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= MOST_TOKENS else None


def total(*counts: int | None) -> int | None:
    """The sum; None if one of them is not known."""
    known = [one for one in counts if one is not None]
    return sum(known) if len(known) == len(counts) else None
