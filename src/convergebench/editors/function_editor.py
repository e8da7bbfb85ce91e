"""A plain Python function as an editor."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PIL import Image

from convergebench.editors.base import BaseEditor
from convergebench.errors import StudyError
from convergebench.function_identity import function_hash
from convergebench.images.pictures import open_picture, picture_bytes
from convergebench.types import Capabilities, Edited, EditRequest, Limits

if TYPE_CHECKING:
    EditFunction = Callable[..., Image.Image | Awaitable[Image.Image]]
    """Takes a picture and an instruction, and a `seed` if it has such a parameter; gives the edited picture."""


class FunctionEditor(BaseEditor):
    """An editor that calls `function(image, instruction)`, plain or async; a plain one works in a thread.

    A function with a parameter `seed` is given one. A run goes on only with the same editor, and the function's code
    tells whether it is: give `version` where the answer depends on something else (weights, a prompt) that changes.
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
        own = str(getattr(function, "__name__", type(function).__name__))
        self.name = name or own
        if not self.name.isidentifier() and not name:
            raise StudyError(f"a function called '{self.name}' needs a name: editors={{'NAME': function}}")
        require_two_arguments(function, self.name)
        seeded = takes_seed(function)
        self.fingerprint = f"function:{self.name}@{version or function_hash(function)}"
        self.capabilities = Capabilities(
            dollars_per_call=dollars_per_call, deterministic=deterministic and not seeded, seed=seeded
        )
        self.limits = Limits(at_once=at_once)

    def limited(self, *, per_minute: float | None = None, seconds: float | None = None) -> None:
        """Set how many calls may begin per minute, and after how many seconds a call is given up."""
        self.limits = replace(self.limits, per_minute=per_minute, seconds=seconds or self.limits.seconds)

    async def edit(self, request: EditRequest) -> Edited:
        """Call the function."""
        image = open_picture(request.image)
        used = {"seed": request.seed} if self.capabilities.seed else {}
        if inspect.iscoroutinefunction(self.function):
            answer = await self.function(image, request.instruction, **used)
        else:
            answer = await asyncio.to_thread(self.function, image, request.instruction, **used)
            if inspect.isawaitable(answer):
                answer = await answer
        return Edited(_received(answer, self.name), "image/png", self.name, self.dollars, used=used)

    @property
    def dollars(self) -> float:
        """The stated price of a call; 0 if it is unknown."""
        return self.capabilities.dollars_per_call or 0.0


def _received(answer: Any, name: str) -> bytes:
    """The picture as PNG. Anything else is a mistake in the function: trying again would not help."""
    if not isinstance(answer, Image.Image) and not (hasattr(answer, "dtype") and hasattr(answer, "shape")):
        raise TypeError(f"{name} returned {type(answer).__name__} instead of a PIL image")
    try:
        return picture_bytes(answer)
    except StudyError as error:
        raise TypeError(f"{name} gave no picture: {error}") from error


def takes_seed(function: Callable[..., Any]) -> bool:
    """Whether it has a parameter `seed` that can be given by name and is not bound yet."""
    try:
        parameter = inspect.signature(function).parameters.get("seed")
    except (TypeError, ValueError):  # some functions written in C have none
        return False
    bound = "seed" in getattr(function, "keywords", {})
    return parameter is not None and not bound and parameter.kind in (parameter.KEYWORD_ONLY, _EITHER)


_EITHER = inspect.Parameter.POSITIONAL_OR_KEYWORD


def require_two_arguments(function: Callable[..., Any], name: str) -> None:
    """`StudyError` unless it can be called as `function(image, instruction)`."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some functions written in C have none
        return
    seed = {"seed": 0} if takes_seed(function) else {}
    try:
        signature.bind("image", "instruction", **seed)
    except TypeError as error:
        raise StudyError(f"{name}{signature} cannot be called as {name}(image, instruction): {error}") from error
