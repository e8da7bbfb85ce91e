"""A plain Python function as an editor."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable

from PIL import Image

from convergebench.api.function_identity import function_hash
from convergebench.api.pictures import open_picture, picture_bytes
from convergebench.editors.base import BaseEditor
from convergebench.errors import StudyError
from convergebench.types import Capabilities, Edited, EditRequest, Limits

EditFunction = Callable[[Image.Image, str], "Image.Image | Awaitable[Image.Image]"]
"""Takes a picture and an instruction, gives the edited picture."""


class FunctionEditor(BaseEditor):
    """An editor that calls `function(image, instruction)`, plain or async; a plain one works in a thread.

    A run goes on only with the same editor, and the function's code tells whether it is: give `version` where the
    answer depends on something else (weights, a prompt) that changes.
    """

    def __init__(
        self,
        function: EditFunction,
        name: str = "",
        *,
        version: str = "",
        at_once: int = 1,
        dollars_per_call: float | None = 0.0,
        deterministic: bool = False,
    ) -> None:
        self.function = function
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        if not self.name.isidentifier() and not name:
            raise StudyError(f"a function called '{self.name}' needs a name: editors={{'NAME': function}}")
        _require_two_arguments(function, self.name)
        self.fingerprint = f"function:{self.name}@{version or function_hash(function)}"
        self.capabilities = Capabilities(dollars_per_call=dollars_per_call, deterministic=deterministic)
        self.limits = Limits(at_once=at_once)

    async def edit(self, request: EditRequest) -> Edited:
        """Call the function."""
        image = open_picture(request.image)
        if inspect.iscoroutinefunction(self.function):
            answer = await self.function(image, request.instruction)
        else:
            answer = await asyncio.to_thread(self.function, image, request.instruction)
            if inspect.isawaitable(answer):
                answer = await answer
        if not isinstance(answer, Image.Image):  # a mistake in the function: trying again would not help
            raise TypeError(f"{self.name} returned {type(answer).__name__} instead of a PIL image")
        return Edited(picture_bytes(answer), "image/png", self.name)


def _require_two_arguments(function: EditFunction, name: str) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some functions written in C have none
        return
    try:
        signature.bind("image", "instruction")
    except TypeError as error:
        raise StudyError(f"{name}{signature} cannot be called as {name}(image, instruction): {error}") from error
