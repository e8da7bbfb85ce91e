"""The interface of a role: a served model, or code of our own, that answers questions about pictures or texts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from convergebench.types import Limits

NO_RUBRICS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Answered:
    """A reply as it came; `value` is None when it could not be parsed (counted, never guessed)."""

    value: Any
    raw: str
    model: str
    """The model that answered, as the server reports it."""
    dollars: float = 0.0


class Role(ABC):
    """A writer, judge, reader … `fingerprint` is its identity: change it whenever its answers would change."""

    fingerprint: str
    about: str = ""
    """Who it is, for captions and the manifest."""
    notices: tuple[str, ...] = ()
    """What a user should know before the first question; one line each."""
    limits: Limits = Limits()
    dollars_per_call: float | None = 0.0
    """What one question may cost, for the budget; None = not known."""
    repeats: int = 1
    """How often each question is asked."""
    rubrics: Mapping[str, str] = NO_RUBRICS
    """Rubrics to use in place of the shipped ones: name → name or path."""

    def ready(self) -> None:  # noqa: B027 (most roles need nothing)
        """Raise `Prerequisite` if something, such as a key, is missing; called before the first question."""

    def require(self, rubric: str) -> None:  # noqa: B027 (a model answers any question)
        """Raise `StudyError` if it cannot answer questions of this rubric; called before anything is asked."""

    @abstractmethod
    async def ask(self, images: tuple[bytes, ...], payload: Mapping[str, Any], *, repeat: int = 0) -> Answered:
        """One question, as `rubrics.rubric.question` makes it; or Transient, BadReply, Refused or Prerequisite."""

    async def close(self) -> None:  # noqa: B027
        """Close connections."""
