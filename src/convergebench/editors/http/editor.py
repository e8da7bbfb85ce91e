"""The editor `http`: one request of the shape that the study file gives, then polling and a download where needed."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar
from urllib.parse import urlsplit

from convergebench.editors.http.options import HttpOptions, PollTable
from convergebench.editors.http.paths import address_of, found_at, holds
from convergebench.editors.http.template import VARIABLE, EditValues, filled
from convergebench.editors.models.table import ModelEntry
from convergebench.editors.providers.download import image_at, image_in, is_web_url
from convergebench.editors.providers.wired import WiredEditor
from convergebench.errors import BadReply, EditorError, Refused, StudyError, Transient
from convergebench.images.decode import probe
from convergebench.keys import lacking_key, require_key
from convergebench.types import Edited, EditRequest
from convergebench.wire.client import HttpReply, KeySource, Wire, clean
from convergebench.wire.poll import until_done
from convergebench.wire.raw import file_note, without_images
from convergebench.wire.verdict import ErrorVerdict, classify_failure

LONGEST_REASON = 60
"""Most characters of a refusal's reason."""


@dataclass(frozen=True, slots=True)
class HeaderTemplates(KeySource):
    """Headers with the values of environment variables, for the endpoint's own host only."""

    templates: Mapping[str, str] = field(default_factory=dict)

    def headers(self, who: str) -> dict[str, str]:
        """The headers; `Prerequisite` if a variable is not set."""
        own = {
            name: VARIABLE.sub(lambda found: require_key((found[1],), who), text)
            for name, text in self.templates.items()
        }
        return {**(KeySource.headers(self, who) if self.variables else {}), **own}


def http(name: str, **options: Any) -> HttpEditor:
    """`http`: any HTTP endpoint, described in the study file: docs/add-an-editor.md."""
    url = str(options.get("url", ""))
    if not url:
        raise StudyError(f"editor '{name}': url is missing: url = \"https://HOST/PATH\" (docs/add-an-editor.md)")
    called = str(options.get("model") or _place(url))
    entry = ModelEntry(id="http", provider="http", called=called, about="an HTTP endpoint", licence="see its owner")
    return HttpEditor(name, entry, options)


class HttpEditor(WiredEditor):
    """An endpoint that the study file describes."""

    Options = HttpOptions
    provider: ClassVar[str] = "http"
    key_needed = False
    options: HttpOptions

    def __init__(self, name: str, model: ModelEntry, given: Mapping[str, Any]) -> None:
        super().__init__(name, model, given)
        options = self.options
        self.address_of_call = options.url if not options.url.startswith("/") else f"{self.base_url}{options.url}"
        parts = urlsplit(self.address_of_call)
        self.base_url = self.base_url or f"{parts.scheme}://{parts.netloc}"
        self.variables = options.variables
        used = options.used_placeholders
        self.capabilities = replace(
            self.capabilities,
            seed="seed" in used,
            instructed="instruction" in used,
            dollars_per_call=0.0 if options.dollars is None and _is_local(parts.hostname) else options.dollars,
        )
        account = f"http:{'|'.join(self.variables)}" if self.variables else f"http:{self.base_url}"
        self.limits = replace(self.limits, account=account)
        keys = HeaderTemplates((options.key,) if options.key else (), templates=options.headers)
        self.wire = Wire(self.base_url, key=keys, seconds=self.limits.seconds, at_once=self.limits.at_once)

    def identity(self) -> dict[str, Any]:
        """What is sent and what is read; not which key is used or how often the server is asked."""
        chosen = super().identity()
        chosen["headers"] = {name: text for name, text in self.options.headers.items() if not VARIABLE.search(text)}
        if self.options.poll is not None:
            chosen["poll"] = {key: value for key, value in chosen["poll"].items() if key != "every"}
        return chosen

    def lacks(self) -> list[str]:
        """Every key that is not set."""
        return [line for variable in self.variables for line in lacking_key((variable,), self.name)]

    async def edit(self, request: EditRequest) -> Edited:
        """Send, wait until the task is done if it is one, fetch the picture."""
        data, mime = self.sendable(request)
        size = probe(data)
        values = EditValues(request.instruction, request.seed, size.width, size.height, mime, data)
        answer = await self.wire.send(self.options.method, self.address_of_call, **self._content(values))
        price = self.price(request)
        body = self._checked(answer)
        if self.options.poll is not None:
            body = await self._finished(body, self.options.poll)
        if self.options.image:
            raw = without_images(body)
            found = await self._picture(body, raw, price)
        else:
            raw, found = file_note(answer.data), answer.data
        image, mime = self.received(found, raw=raw, dollars=price)
        used = {"seed": request.seed} if self.capabilities.seed else {}
        return Edited(image, mime, self.model.wire_id, price, raw=raw, used=used)

    def _content(self, values: EditValues) -> dict[str, Any]:
        """The body of the request, as the client takes it."""
        if self.options.body is not None:
            return {"json": filled(self.options.body, values)}
        part = (f"image.{values.mime.partition('/')[2]}", values.data, values.mime)
        files: dict[str, Any] = {
            name: part if text == "{image}" else (None, str(filled(_as_text(text), values)))
            for name, text in self.options.form.items()
        }
        return {"files": files}

    def _checked(self, answer: HttpReply, *, sent: bool = False) -> Any:
        """The JSON of a good answer, or nothing if the answer is the picture; raises what any other means.

        `sent`: the task is under way already, so that a failure may still be charged.
        """
        good = 200 <= answer.status < 300
        body = _json(answer)
        reason = self._met(self.options.refused, answer.status, body)
        if reason:
            message = f"{self.name} refuses: {self._words(answer, body) or reason}"
            raise Refused(message, reason=reason, raw=_raw(answer, body), unsettled=good or sent)
        again = self._met(self.options.retry, answer.status, body)
        if again:
            message = f"{self.name} asks to try again ({again}): {self._words(answer, body)}"
            verdict = classify_failure(answer)
            raise Transient(message, retry_after=verdict.retry_after, raw=_raw(answer, body), unsettled=sent or good)
        if not good:
            error = self.verdict(answer).as_editor_error()
            error.unsettled = sent
            raise error
        if body is None and (self.options.image or self.options.poll is not None):
            message = f"{self.name} answered with something that is not JSON"
            raise BadReply(message, raw=clean(answer.text), unsettled=True)
        return body

    def verdict(self, answer: HttpReply) -> ErrorVerdict:
        """As for any provider, with the words from where the study file says that they are."""
        found = classify_failure(answer)
        words = self._words(answer, _json(answer)) if self.options.message else ""
        if not words or answer.status == 401:  # its message often repeats part of the key
            return found
        return found._replace(message=f"{self.name} answers {answer.status}: {words}")

    def _met(self, conditions: tuple[int | str, ...], status: int, body: Any) -> str:
        """The first status or condition that an answer meets, as a short reason; empty if none."""
        for one in conditions:
            if one == status:
                return str(status)
            if isinstance(one, str) and holds(one, body):
                value = found_at(one, body)
                return clean(value if isinstance(value, str) else one)[:LONGEST_REASON]
        return ""

    def _words(self, answer: HttpReply, body: Any) -> str:
        if self.options.message:
            value = found_at(self.options.message, body)
            return clean(value if isinstance(value, str) else "" if value is None else without_images(value))
        return classify_failure(answer).message

    async def _finished(self, begun: Any, poll: PollTable) -> Any:
        """The last answer about a task, or its result."""
        address = self._absolute(poll.url, begun, "where to look for its task")
        raw = without_images(begun)

        async def look() -> Any | None:
            state = await self._state(address, raw)
            status = found_at(poll.status, state)
            if _is_among(status, poll.done):
                return state
            if _is_among(status, (*poll.refused, *poll.failed)):
                words = clean(str(found_at(self.options.message, state))) if self.options.message else ""
                message = f"{self.name} says its task is '{clean(str(status))}'{': ' if words else ''}{words}"
                if _is_among(status, poll.refused):
                    reason = clean(str(status))[:LONGEST_REASON]
                    raise Refused(message, reason=reason, raw=without_images(state), unsettled=True)
                raise Transient(message, raw=without_images(state), unsettled=True)
            return None

        state = await until_done(look, seconds=self.limits.seconds, who=self.name, every=poll.every)
        if not poll.result:
            return state
        return await self._state(self._absolute(poll.result, state, "where its result is"), without_images(state))

    async def _state(self, address: str, raw: str) -> Any:
        """The answer at an address of a task; a passing failure is no reason to lose the task."""
        answer = await self.retried(address, raw=raw)
        try:
            return self._checked(answer, sent=True)
        except EditorError as error:
            error.raw = error.raw or raw
            raise

    def _absolute(self, template: str, answer: Any, what: str) -> str:
        found = address_of(template, answer)
        if found is not None and found.startswith("/"):
            found = f"{urlsplit(self.base_url).scheme}://{urlsplit(self.base_url).netloc}{found}"
        if not is_web_url(found):
            raise BadReply(f"{self.name} does not say {what}", raw=without_images(answer), unsettled=True)
        return found

    async def _picture(self, body: Any, raw: str, price: float) -> bytes:
        value, kind = found_at(self.options.image, body), self.options.image_is
        if not isinstance(value, str) or not value:
            message = f"{self.name} answered without a picture at {self.options.image}"
            raise BadReply(message, raw=raw, dollars=price, unsettled=not price)
        if kind == "url" or (kind == "auto" and value.startswith(("http://", "https://"))):
            try:
                return await image_at(self.wire, value, who=self.name, raw=raw, dollars=price)
            except ValueError as error:  # an address that cannot be parsed
                message = f"{self.name} names a picture at no address"
                raise BadReply(message, raw=raw, dollars=price, unsettled=not price) from error
        return image_in("".join(value.split()), who=self.name, raw=raw, dollars=price)


def _is_among(status: Any, values: tuple[str | int | bool, ...]) -> bool:
    """Whether it is one of these, of the same type: 1 is not true."""
    return any(status == one and type(status) is type(one) for one in values)


def _as_text(value: str | int | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _json(answer: HttpReply) -> Any:
    """The answer as JSON, or None."""
    try:
        return answer.json()
    except BadReply:
        return None


def _raw(answer: HttpReply, body: Any) -> str:
    return clean(answer.text) if body is None else without_images(body)


def _place(url: str) -> str:
    """Host and path of an address, as the name of a model whose name nobody gave."""
    try:
        parts = urlsplit(url)
        return f"{parts.hostname or ''}{parts.path}" or "http"
    except ValueError:
        return "http"


def _is_local(host: str | None) -> bool:
    """Whether an address is on this very machine, where nobody charges."""
    try:
        return host == "localhost" or ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False
