"""`[roles.NAME]` of a study file: who answers questions, checked before anything is asked."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import Field, FiniteFloat, field_validator, model_validator

from convergebench.documents import Strict
from convergebench.wire.address import require_no_secret

RESERVED = frozenset({"model", "messages", "response_format", "temperature", "seed", "max_tokens", "stream", "n"})
"""Keys of a request that have their own field in the table, or would change the form of a reply."""
_EITHER_KIND = ("kind", "rubrics")
_CONFIDENTIAL = re.compile(r"key|secret|password|credential|authorization", re.IGNORECASE)
"""Names of settings that would hold a secret; not "token", since tokens are also counted."""


class PriceTable(Strict):
    """What the server charges; 0 for a server of your own."""

    input: Annotated[FiniteFloat, Field(ge=0)]
    """Dollars for a million tokens that are sent."""
    output: Annotated[FiniteFloat, Field(ge=0)]
    """Dollars for a million tokens that come back."""


class RoleTable(Strict):
    """Who plays a role; `convergebench.roles.ROLE_NAMES` says which there are."""

    kind: Literal["measuring", "served", "word-list"] = "measuring"
    """`measuring`: a judge whose answers our own metrics give. `word-list`: a reader who looks for words. Neither is a
    model. `served`: a model behind an OpenAI-compatible server."""
    base_url: str = ""
    """Where the server is, up to and with `/v1`."""
    model: str = ""
    """The model's id at that server; name one that does not move."""
    revision: str = ""
    """Anything else that tells this model from others of its name: a commit, a quantisation. Another one asks anew."""
    key: str = ""
    """The environment variable that holds the key; the key itself is never written anywhere. Empty = none is sent.
    One that providers use, one that begins with CONVERGEBENCH_, or one that CONVERGEBENCH_KEYS lists."""
    repeats: Annotated[int, Field(ge=1, le=100)] = 1
    """How often each question is asked; the value is the mean of the replies that can be parsed."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """Sent only if given: some models refuse it."""
    seed: int | None = None
    """Sent only if given; repeat r is sent seed + r."""
    max_tokens: Annotated[int, Field(ge=0)] = 2048
    """Most tokens of a reply, thinking included; 0 = not sent."""
    structured: bool = True
    """Whether the server is asked to hold the model to the reply's JSON schema."""
    detail: Literal["", "auto", "low", "high", "original"] = ""
    """How closely the server should look at pictures; sent only if given."""
    at_once: Annotated[int, Field(ge=1, le=1000)] = 4
    """Questions in flight together."""
    per_minute: Annotated[FiniteFloat, Field(gt=0)] | None = None
    """Questions begun per minute; none = as fast as answers come."""
    seconds: Annotated[FiniteFloat, Field(gt=0)] = 120.0
    """A question without an answer for so long is given up and asked again."""
    dollars_per_million: PriceTable | None = None
    """The server's prices. Without them the cost is not known, which is said, and `--max-cost` is refused."""
    rubrics: dict[str, str] = Field(default_factory=dict)
    """Rubrics of your own in place of shipped ones: `{semantics-forward = "mine.toml"}`."""
    extra: dict[str, Any] = Field(default_factory=dict)
    """Further keys of the request, as the server wants them: `{top_p = 0.9}`."""

    @field_validator("extra")
    @classmethod
    def _no_reserved_key(cls, value: dict[str, Any]) -> dict[str, Any]:
        for name in value:
            if name in RESERVED:
                raise ValueError(f"'{name}' does not go into extra")
            if _CONFIDENTIAL.search(name):  # all of this is written into the run
                raise ValueError(
                    f"'{name}' looks like a secret; it goes into the environment, and key = names its variable"
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
        if self.base_url.endswith("/completions"):
            raise ValueError("base_url should end before /chat/completions, mostly with /v1")
        # which names are allowed depends on the user's list, not on the table: an old run stays readable without it
        require_no_secret(self.base_url, self.key, any_name=True)
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
                same = "a measuring judge" if self.kind == "measuring" else "a word list"
                raise ValueError(f"'{name}' goes with kind = \"served\"; {same} always answers the same")
        return self
