"""The template writer: instructions made of ready sentences and what can be measured in the picture, without a model.

A sentence is chosen by a hash of the picture, the edit type and the repeat, so the same question has the same answer.
It names one thing, its colour and its place; it knows nothing else of what the picture shows. It is always named
"template writer, not a language model", so that nobody takes it for one.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from string import Template
from typing import Annotated, Any

from pydantic import Field

from convergebench.documents import Strict, read_document
from convergebench.errors import StudyError
from convergebench.ids import canonical, fingerprint
from convergebench.roles.base import Answered, Role
from convergebench.roles.tables import RoleTable
from convergebench.types import Limits

NAME = "template writer, not a language model"
VERSION = 1
"""Raised whenever its answer to the same picture would change."""
RUBRICS = ("write-instruction", "write-next-instruction")
DATA = Path(__file__).parent / "data" / "instructions.toml"
THINGS = (
    *("red ball", "potted plant", "wooden chair", "blue vase", "white cup", "green bottle", "yellow balloon"),
    *("brown dog", "grey cat", "table lamp", "red book", "gift box"),
)
COLOURS = ("blue", "green", "red", "purple", "yellow", "turquoise", "pink", "white")
WORDS = ("OPEN", "WELCOME", "SALE", "CLOSED", "HELLO", "COFFEE")
_EARLIER = re.compile(r"^\d+\. (.+)$", re.MULTILINE)
_ADDING = re.compile(r"^(now |please )?(add|put|place|give|insert|write)\b", re.IGNORECASE)


class SentencesFile(Strict):
    """The file `instructions.toml`."""

    version: Annotated[int, Field(ge=1)]
    sentences: dict[str, Annotated[tuple[str, ...], Field(min_length=1)]]
    again: dict[str, tuple[str, ...]]


class TemplateWriter(Role):
    """Answers `write-instruction` and `write-next-instruction`, always the same for the same picture and type."""

    about = NAME

    def __init__(self, table: RoleTable | None = None) -> None:
        from convergebench.roles.picture_facts import detector_identity

        self.detector = detector_identity()
        words = {"sentences": sentences().model_dump(mode="json"), "things": THINGS, "colours": COLOURS, "words": WORDS}
        self.fingerprint = fingerprint("template", VERSION, {**words, "detector": self.detector})
        self.limits = Limits(at_once=os.cpu_count() or 1)
        if table is not None and table.rubrics:
            raise StudyError('the template writer does not use rubrics; they need kind = "served"')

    def require(self, rubric: str) -> None:
        """Only the two questions for an instruction."""
        if rubric not in RUBRICS:
            known = " and ".join(RUBRICS)
            raise StudyError(
                f"the template writer does not answer '{rubric}' (only {known}); use a role of kind = \"served\""
            )

    async def ask(self, images: tuple[bytes, ...], payload: Mapping[str, Any], *, repeat: int = 0) -> Answered:
        """One instruction, as a model would give it."""
        self.require(payload["rubric"])
        value = {"prompts": [await asyncio.to_thread(self._instruction, images, payload, repeat)]}
        return Answered(value, canonical(value), NAME)

    def _instruction(self, images: tuple[bytes, ...], payload: Mapping[str, Any], repeat: int) -> str:
        edit_type = str(payload.get("edit_type", ""))
        if edit_type not in sentences().sentences or len(images) != 1:
            raise StudyError(
                "the template writer needs one image and an edit type of the taxonomy (cbench list edit-types)"
            )
        choose = random.Random(sha256(images[0] + f"\0{edit_type}\0{repeat}".encode()).digest())
        known = sentences().sentences[edit_type]
        if _has_just_added(payload):
            known = sentences().again.get(edit_type) or known
        return Template(choose.choice(known)).substitute(self._filled_in(images[0], choose))

    def _filled_in(self, image: bytes, choose: random.Random) -> dict[str, str]:
        from convergebench.roles.picture_facts import look_at

        facts = look_at(image, with_names=bool(self.detector))
        away = {"left": "right", "right": "left"}.get(facts.side) or choose.choice(("left", "right"))
        return {
            "object": facts.name if facts.name == "person" else f"{facts.colour} {facts.name}",
            "place": "in the middle" if facts.side == "middle" else f"on the {facts.side}",
            "colour": choose.choice([one for one in COLOURS if one != facts.colour]),
            "thing": choose.choice([one for one in THINGS if facts.name not in one]),
            "away": away,
            "edge": facts.calm_edge,
            "word": choose.choice(WORDS),
        }


@cache
def sentences() -> SentencesFile:
    """Every sentence that the writer can write, by edit type."""
    return read_document(DATA, SentencesFile)


def _has_just_added(payload: Mapping[str, Any]) -> bool:
    """Whether the last of the earlier instructions put something into the picture."""
    if payload["rubric"] != "write-next-instruction":
        return False
    earlier = _EARLIER.findall(payload["text"])
    # writing is put there too, but nobody calls it "it" when it is to be moved
    return bool(earlier) and _ADDING.match(earlier[-1]) is not None and not re.search(r'["“]', earlier[-1])
