"""Templates of a request: texts, numbers and pictures take the place of `{instruction}`, `{seed}`, `{image_base64}`."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

PLACEHOLDERS = ("instruction", "seed", "width", "height", "mime", "image_base64", "image_data_url", "image")
"""All but the last are text or numbers; `{image}` is the file itself, as a part of a multipart request."""
PICTURES = frozenset({"image", "image_base64", "image_data_url"})
_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)\}")
VARIABLE = re.compile(r"\$\{([^}]*)\}")
"""`${NAME}`: the value of an environment variable, in a header."""


@dataclass(frozen=True, slots=True)
class EditValues:
    """What one call fills in."""

    instruction: str
    seed: int
    width: int
    height: int
    mime: str
    data: bytes

    def of(self, name: str) -> str | int:
        """The value of a placeholder."""
        if name in ("instruction", "seed", "width", "height", "mime"):
            value: str | int = getattr(self, name)
            return value
        encoded = base64.b64encode(self.data).decode()
        return encoded if name == "image_base64" else f"data:{self.mime};base64,{encoded}"


def placeholders(template: Any) -> Iterator[str]:
    """Every name in braces in a template, also those that are unknown."""
    if isinstance(template, str):
        yield from _PLACEHOLDER.findall(VARIABLE.sub("", template))
    elif isinstance(template, Mapping):
        for one in template.values():
            yield from placeholders(one)
    elif isinstance(template, list | tuple):
        for one in template:
            yield from placeholders(one)


def texts(template: Any) -> Iterator[str]:
    """Every text in a template."""
    if isinstance(template, str):
        yield template
    inside = template.values() if isinstance(template, Mapping) else template if isinstance(template, list) else ()
    for one in inside:
        yield from texts(one)


def filled(template: Any, values: EditValues) -> Any:
    """The template with values. A text that is nothing but a placeholder keeps the type: `"{seed}"` is a number."""
    if isinstance(template, Mapping):
        return {name: filled(one, values) for name, one in template.items()}
    if isinstance(template, list | tuple):
        return [filled(one, values) for one in template]
    if not isinstance(template, str):
        return template
    whole = _PLACEHOLDER.fullmatch(template)
    if whole is not None:
        return values.of(whole[1])
    return _PLACEHOLDER.sub(lambda found: str(values.of(found[1])), template)
