"""What a study file says about a Gradio app, checked before the first call."""

from __future__ import annotations

import re
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from convergebench.documents import Strict
from convergebench.editors.http.template import placeholders
from convergebench.registry import suggest
from convergebench.wire.address import require_no_secret

PLACEHOLDERS = ("image", "instruction", "seed", "width", "height")
EXAMPLE = 'arguments = { image = "{image}", prompt = "{instruction}" }'
_SPACE = re.compile(r"^[\w.-]+/[\w.-]+$")


class GradioOptions(Strict):
    """The app, its endpoint, what it is given and which of its outputs is the picture."""

    space: str = ""
    """Hugging Face Space: `owner/name`."""
    url: str = ""
    """Address of an app, instead of a Space. Part of the editor's identity."""
    api_name: str = "/predict"
    """The endpoint, as the app's page "Use via API" names it."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    """By the names on that page; `{image}`, `{instruction}`, `{seed}`, `{width}`, `{height}` are filled in."""
    output: Annotated[int, Field(ge=0)] | None = None
    """Which output is the picture, counted from 0; unset: the first that is one."""
    key: str = ""
    """The name (never the value) of the variable with a Hugging Face token, for private Spaces and for quota."""
    version: str = ""
    """Say which, where the same app gives other answers than before."""
    at_once: Annotated[int, Field(ge=1, le=100)] = 1
    per_minute: Annotated[float, Field(gt=0)] | None = None
    seconds: Annotated[float, Field(gt=0, le=86_400)] = 600.0
    dollars: Annotated[float, Field(ge=0)] = 0.0

    @model_validator(mode="after")
    def _can_be_called(self) -> Self:
        if bool(self.space) == bool(self.url):
            raise ValueError('give either space = "owner/name" or url = "http://127.0.0.1:7860"')
        if self.space and not _SPACE.match(self.space):
            raise ValueError("space should be written as owner/name")
        try:
            require_no_secret(self.url, self.key, example="http://127.0.0.1:7860")
        except ValueError as error:
            raise ValueError(str(error).replace("base_url", "url")) from None
        used = list(placeholders(self.arguments))
        for name in used:
            if name not in PLACEHOLDERS:
                raise ValueError(
                    f"unknown placeholder {{{name}}}{suggest(name, PLACEHOLDERS)} ({', '.join(PLACEHOLDERS)})"
                )
        if "{image}" not in self.arguments.values():
            raise ValueError(f"the picture is not sent; say which argument it is: {EXAMPLE}")
        return self
