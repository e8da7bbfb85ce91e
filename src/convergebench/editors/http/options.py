"""What a study file says about an HTTP endpoint, checked before the first call."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self
from urllib.parse import parse_qsl, urlsplit

from pydantic import Field, model_validator

from convergebench.documents import Strict
from convergebench.editors.http.paths import require_address, require_path
from convergebench.editors.http.template import PICTURES, PLACEHOLDERS, VARIABLE, placeholders, texts
from convergebench.editors.providers.remote import RemoteOptions
from convergebench.redaction import SECRET
from convergebench.registry import suggest
from convergebench.wire.address import require_no_secret
from convergebench.wire.key_names import how_to_allow, is_allowed

Status = Annotated[int, Field(ge=100, le=599)]
Value = str | int | bool
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
EXAMPLE = 'body = { image = "{image_base64}", prompt = "{instruction}" }'


class PollTable(Strict):
    """Where a task that was taken on is asked after, and what its answers mean."""

    url: str
    """Address with parts of the first answer in braces: `{status_url}`, or `/tasks/{id}`."""
    status: str = "status"
    """JMESPath of the word or number that says how the task is doing."""
    done: tuple[Value, ...]
    failed: tuple[Value, ...] = ()
    """Ended without a picture: the call is made again. Any other value means that the task is going on."""
    refused: tuple[Value, ...] = ()
    """Stopped by the model's filter: recorded as a refusal, never tried again."""
    result: str = ""
    """Address of the result, if it is another, with parts of the last answer in braces."""
    every: Annotated[float, Field(gt=0, le=3600)] = 1.0
    """Seconds between two looks."""

    @model_validator(mode="after")
    def _is_readable(self) -> Self:
        require_address(self.url, "poll.url")
        require_path(self.status, "poll.status")
        if not self.done:
            raise ValueError('poll.done should name the values of a finished task, such as ["succeeded"]')
        if self.result:
            require_address(self.result, "poll.result")
        return self


class HttpOptions(RemoteOptions):
    """The request, where the picture is in the answer, and what other answers mean."""

    url: str = ""
    """Whole address, or a path below `base_url`. Part of the editor's identity; `base_url` is not."""
    model: str = ""
    """Name of the model, as it is recorded; unset: host and path."""
    method: Literal["POST", "PUT", "GET"] = "POST"
    # not typed more closely: errors of a single field repeat its value, and headers might hold a secret
    headers: Any = Field(default_factory=dict)
    """`{ Authorization = "Bearer ${MY_KEY}" }`; sent to the endpoint's own host only."""
    body: Any = None
    """The JSON to send, with placeholders in its texts."""
    form: dict[str, str | int | float | bool] = Field(default_factory=dict)
    """A multipart request instead: its fields, with placeholders; `"{image}"` is the picture as a file."""
    image: str = ""
    """JMESPath of the picture in the answer; unset: the whole answer is the picture."""
    image_is: Literal["auto", "base64", "data-url", "url"] = "auto"
    """`auto`: an http(s) address, a `data:` address, or else base64. Say `url` for addresses relative to the server."""
    retry: tuple[Status | str, ...] = ()
    """Status codes and JMESPath conditions of answers after which the call is made again, beside 429 and 5xx."""
    refused: tuple[Status | str, ...] = ()
    """Status codes and conditions of a refusal by the model or its filter."""
    message: str = ""
    """JMESPath of the words of an error; unset: the usual places are tried."""
    poll: PollTable | None = None

    @model_validator(mode="after")
    def _is_a_request(self) -> Self:
        _require_url(self.url, self.base_url)
        _require_headers(self.headers)
        _require_template(self.body, self.form)
        for name in ("image", "message"):
            if getattr(self, name):
                require_path(getattr(self, name), name)
        for name in ("retry", "refused"):
            for condition in getattr(self, name):
                if isinstance(condition, str):
                    require_path(condition, name)
        if self.poll is not None and not self.image:
            raise ValueError("image should say where the picture is in the answer about a finished task (a JMESPath)")
        return self

    @property
    def variables(self) -> tuple[str, ...]:
        """Environment variables whose values are sent."""
        named = [found for value in self.headers.values() for found in VARIABLE.findall(value)]
        return tuple(dict.fromkeys([*([self.key] if self.key else []), *named]))

    @property
    def used_placeholders(self) -> frozenset[str]:
        """Those in the body and the form."""
        return frozenset([*placeholders(self.body), *placeholders(self.form)])


def _require_url(url: str, base_url: str) -> None:
    """`ValueError` without an address, or with one that holds a secret."""
    if not url:
        raise ValueError('url is missing: url = "https://HOST/PATH"')
    if url.startswith("/"):
        if not base_url:
            raise ValueError("url is a path; give the whole address, or base_url beside it")
        url = f"{base_url.rstrip('/')}{url}"
    elif base_url:
        raise ValueError("url is a whole address, so base_url has no use; leave one out, or make url a path: /v1/edit")
    plain, _, query = url.partition("?")
    try:
        require_no_secret(plain, "", example="https://HOST/PATH")
    except ValueError as error:
        raise ValueError(str(error).replace("base_url", "url")) from None
    if any(SECRET.search(name) for name, _ in parse_qsl(query)) or urlsplit(url).fragment:
        raise ValueError(
            'url should hold no key; send it in a header: headers = { Authorization = "Bearer ${MY_KEY}" }'
        )


def _require_headers(headers: Any) -> None:
    """`ValueError` for a header that is none, that spells out a key, or that names a variable which may not be sent."""
    if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
        raise ValueError('headers should be a table of texts: headers = { Authorization = "Bearer ${MY_KEY}" }')
    for name, value in headers.items():
        if not _HEADER.fullmatch(name):
            raise ValueError("headers should have names such as Authorization or X-Api-Key")
        plain = VARIABLE.sub("", value)
        if not (plain.isascii() and plain.isprintable()):
            raise ValueError(f"the header {name} holds characters that no header can have")
        if SECRET.search(name) and not VARIABLE.search(value):
            raise ValueError(
                f"the header {name} holds a key; put it into the environment and write "
                f'{name} = "Bearer ${{MY_KEY}}" with the name of the variable'
            )
        for variable in VARIABLE.findall(value):
            if not _VARIABLE.fullmatch(variable):
                raise ValueError(f"the header {name} should name an environment variable between ${{ and }}")
            if not is_allowed(variable):
                raise ValueError(how_to_allow(variable).replace("key names", f"the header {name} names", 1))


def _require_template(body: Any, form: Any) -> None:
    """`ValueError` unless exactly one of the two is given, with known placeholders and with the picture."""
    if (body is None) == (not form):
        raise ValueError(f"give either body (JSON) or form (multipart), such as {EXAMPLE}")
    used = list(placeholders(body if body is not None else form))
    for name in used:
        if name not in PLACEHOLDERS:
            raise ValueError(f"unknown placeholder {{{name}}}{suggest(name, PLACEHOLDERS)} ({', '.join(PLACEHOLDERS)})")
    if not PICTURES & set(used):
        raise ValueError(f"the picture is not sent; put it where the endpoint wants it, such as {EXAMPLE}")
    if any("${" in text for text in _texts(body, form)):
        raise ValueError("keys are sent in headers alone; move ${…} there")
    if body is not None and "image" in used:
        raise ValueError(
            "{image} is a file and can stand in form only; in body write {image_base64} or {image_data_url}"
        )
    for value in form.values():
        if isinstance(value, str) and "{image}" in value and value != "{image}":
            raise ValueError('a field of form that holds the file should be "{image}" and nothing else')


def _texts(body: Any, form: Any) -> Iterator[str]:
    yield from texts(body)
    yield from texts(form)
