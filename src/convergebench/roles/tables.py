"""`[roles.NAME]` of a study file: who answers questions, checked before anything is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    FiniteFloat,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from convergebench.documents import Strict
from convergebench.roles.clients.apis import APIS, with_address
from convergebench.wire.address import require_no_secret

_EITHER_KIND = ("kind", "rubrics")
_CONFIDENTIAL = re.compile(r"key|secret|password|credential|authorization", re.IGNORECASE)
"""Names of settings that would hold a secret; not "token", since tokens are also counted."""


class PriceTable(Strict):
    """What the server charges; 0 for a server of your own."""

    input: Annotated[FiniteFloat, Field(ge=0)]
    """Dollars per million input tokens."""
    output: Annotated[FiniteFloat, Field(ge=0)]
    """Dollars per million output tokens."""


class RoleTable(Strict):
    """Who plays a role; `convergebench.roles.ROLE_NAMES` says which there are."""

    kind: Literal["measuring", "served", "word-list", "template", "rules"] = "measuring"
    """`measuring`: the metrics and detectors of this package answer. `word-list`: a reader that looks for words.
    `template`: a writer that fills in sentence templates. `rules`: a rewriter that shortens by rules. None of these
    is a model. `served`: a model behind a server."""
    api: Literal["openai", "gemini", "anthropic"] = "openai"
    """The protocol that the server speaks. `openai`: OpenAI's chat protocol, which vLLM, SGLang, Ollama and most
    providers speak too. `gemini`, `anthropic`: those of Google and Anthropic."""
    base_url: str = ""
    """Address of the server, up to and including `/v1`. If empty, `gemini` and `anthropic` use their own address."""
    model: str = ""
    """The model's id at that server; use one that always means the same model."""
    revision: str = ""
    """Anything else that identifies the model: a commit, a quantisation. If it changes, questions are asked again."""
    key: str = ""
    """The environment variable that holds the key; the key itself is never written anywhere. Empty = no key, except
    that Google's and Anthropic's own address get GEMINI_API_KEY or ANTHROPIC_API_KEY. Allowed are variables that
    providers use, that begin with CONVERGEBENCH_, or that CONVERGEBENCH_KEYS lists."""
    repeats: Annotated[int, Field(ge=1, le=100)] = 1
    """Repetitions of each question; the value is the mean of the replies that can be parsed."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """Sent only if set: some models reject it, and Anthropic's protocol has none."""
    seed: int | None = None
    """Sent only if set; repeat r is sent seed + r. Anthropic's protocol has none."""
    max_tokens: Annotated[int, Field(ge=0)] = 2048
    """Largest number of tokens in a reply, including thinking; 0 = not sent, which Anthropic's protocol does not
    allow."""
    structured: bool = True
    """Whether the server is asked to enforce the JSON schema of the reply."""
    detail: Literal["", "auto", "low", "high", "original"] = ""
    """Level of image detail; sent only if set. `gemini` takes low and high; `anthropic` takes original, which rejects
    images that it would otherwise downscale."""
    at_once: Annotated[int, Field(ge=1, le=1000)] = 4
    """Number of questions in flight at once."""
    per_minute: Annotated[FiniteFloat, Field(gt=0)] | None = None
    """Questions started per minute; unset = no limit."""
    seconds: Annotated[FiniteFloat, Field(gt=0)] = 120.0
    """Seconds after which a question without an answer is abandoned and asked again."""
    dollars_per_million: PriceTable | None = None
    """The server's prices. Without them the cost is unknown, which is reported, and `--max-cost` is refused."""
    rubrics: dict[str, str] = Field(default_factory=dict)
    """Your own rubrics instead of the shipped ones: `{semantics-forward = "mine.toml"}`."""
    extra: dict[str, Any] = Field(default_factory=dict)
    """Additional keys of the request: `{top_p = 0.9}`. Tables are merged with those of the request:
    `{generationConfig = {topP = 0.9}}`."""

    @model_validator(mode="before")
    @classmethod
    def _address_of_the_provider(cls, given: Any) -> Any:
        return with_address(given) if isinstance(given, Mapping) else given

    @field_validator("extra")
    @classmethod
    def _no_reserved_key(cls, value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        reserved = APIS[info.data.get("api", "openai")].reserved
        for name in _names(value):
            if name in reserved:
                raise ValueError(f"'{name}' is not allowed in extra")
            if _CONFIDENTIAL.search(name.rpartition(".")[2]):  # all of this is written into the run
                raise ValueError(
                    f"'{name}' looks like a secret; put it into an environment variable and name that with key ="
                )
        return value

    @field_validator("base_url")
    @classmethod
    def _without_trailing_slash(cls, value: str) -> str:
        return value.rstrip("/")

    # pydantic's error for a single field shows its value; these two may hold a secret, so they are checked
    # together with the rest
    @model_validator(mode="after")
    def _no_secret_inside(self) -> RoleTable:
        for ending in APIS[self.api].endings:
            if self.base_url.endswith(ending):
                shown = "/chat/completions" if ending == "/completions" else ending
                raise ValueError(f"base_url should end before {shown}, usually with /v1")
        # which names are allowed depends on the user's list, not on the table: an old run stays readable without it
        require_no_secret(self.base_url, self.key, any_name=True)
        return self

    @model_validator(mode="after")
    def _fields_fit_api(self) -> RoleTable:
        facts = APIS[self.api]
        for name in facts.absent:
            if getattr(self, name) is not None:
                raise ValueError(f"'{name}' is not supported by api = \"{self.api}\"; leave it out")
        if self.detail and self.detail not in facts.details:
            known = ", ".join(sorted(facts.details))
            raise ValueError(f'api = "{self.api}" has no detail = "{self.detail}" (known: {known})')
        if facts.needs_limit and self.max_tokens == 0:
            raise ValueError(f'api = "{self.api}" needs a limit; write max_tokens = 2048 or more')
        return self

    @model_validator(mode="after")
    def _fields_fit_kind(self) -> RoleTable:
        if self.kind == "served":
            missing = [name for name in ("base_url", "model") if not getattr(self, name)]
            if missing:
                raise ValueError(f'kind = "served" needs {" and ".join(missing)}')
            return self
        for name, field in type(self).model_fields.items():
            if name not in _EITHER_KIND and getattr(self, name) != field.get_default(call_default_factory=True):
                raise ValueError(f'\'{name}\' needs kind = "served"; "{self.kind}" always gives the same answer')
        return self

    @model_serializer(mode="wrap")
    def _without_default_api(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out `api` where it says nothing new, so that the manifests of older runs stay the same."""
        content: dict[str, Any] = handler(self)
        if self.api == "openai":
            content.pop("api", None)
        return content


def _names(table: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """The names of all values, those within tables with a dot."""
    for name, value in table.items():
        yield f"{before}{name}"
        if isinstance(value, Mapping):
            yield from _names(value, f"{before}{name}.")
