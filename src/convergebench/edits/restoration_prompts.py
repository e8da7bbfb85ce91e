"""Restoration prompts as data: twelve of the literature, in a design of length × fidelity, or a file of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from convergebench.documents import Strict, read_document
from convergebench.edits.schema import Words
from convergebench.errors import StudyError
from convergebench.registry import suggest

DATA = Path(__file__).parent / "data" / "restoration_prompts.toml"

PromptId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$", max_length=40)]

STABILITY = ("L3", "LF1", "S1", "SF2")
"""The prompts that the literature repeats three times."""
SETS = {"stability": STABILITY}
"""Names that stand for several prompts, beside `all` and the groups."""


class RestorationPrompt(Strict):
    """One wording of the request to restore a picture."""

    id: PromptId
    group: PromptId | Literal[""] = ""
    """The cell of the design: S, SF, L, LF. Empty: it stands alone."""
    length: Literal["short", "long"] | None = None
    fidelity: bool | None = None
    """Whether it asks to stay true to the picture. None, as `length`: not part of a design."""
    words: Words

    @model_validator(mode="after")
    def _alone(self) -> RestorationPrompt:
        if not self.group:
            object.__setattr__(self, "group", self.id)
        return self


class PromptsFile(Strict):
    """A TOML file of `[[prompt]]` tables."""

    prompt: Annotated[tuple[RestorationPrompt, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _ids_are_unique(self) -> PromptsFile:
        seen: set[str] = set()
        for one in self.prompt:
            if one.id in seen:
                raise ValueError(f"two prompts are called '{one.id}'; rename one")
            seen.add(one.id)
        return self


@cache
def shipped_prompts() -> tuple[RestorationPrompt, ...]:
    """S1 to LF3, in the order of the literature's Table 1."""
    return read_document(DATA, PromptsFile).prompt


def load_prompts(names: Sequence[str]) -> tuple[RestorationPrompt, ...]:
    """Prompts by id (`LF3`), group (`SF`), `stability`, `all`, or from a TOML file; each once, in this order."""
    found: dict[str, RestorationPrompt] = {}
    for name in names:
        for one in _named(name):
            if found.setdefault(one.id, one) != one:
                raise StudyError(f"two prompts are called '{one.id}'; rename the one in your file")
    return tuple(found.values())


def _named(name: str) -> Sequence[RestorationPrompt]:
    if name.endswith(".toml"):
        return read_document(Path(name), PromptsFile).prompt
    shipped = shipped_prompts()
    if name == "all":
        return shipped
    chosen = SETS.get(name, (name,))
    found = [one for one in shipped if one.id in chosen or one.group == name]
    if not found:
        known = [*(one.id for one in shipped), *dict.fromkeys(one.group for one in shipped), *SETS, "all"]
        raise StudyError(
            f"unknown prompt '{name[:60]}'{suggest(name, known)} (known: {', '.join(known)}; a TOML file works too)"
        )
    return found
