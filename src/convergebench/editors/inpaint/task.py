"""What an instruction asks for, as far as this editor can do it; anything else is refused with the reason."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from convergebench.editors.instructions.instruction import Intent, understand
from convergebench.editors.instructions.vocabulary import Colour
from convergebench.edits.geometry import GEOMETRY, Geometry, plain_words
from convergebench.errors import Refused

Step = Literal["add", "remove", "replace", "recolour", "turn", "copy"]
STEPS: tuple[Step, ...] = ("add", "remove", "replace", "recolour", "turn", "copy")
_REPLACE = re.compile(r"\b(?:replace|swap|exchange|substitute)\b (?P<old>.+?) \b(?:with|by|for)\b (?P<new>.+)")
_TURN_INTO = re.compile(r"\b(?:turn|change)\b (?P<old>.+?) \binto\b (?P<new>an? .+)")


@dataclass(frozen=True, slots=True)
class EditTask:
    """One thing to do."""

    step: Step
    thing: str = ""
    """The object to add, remove or recolour, by its name in the vocabulary."""
    colour: Colour | None = None
    place: str | None = None
    part: str | None = None
    """The part of a picture to recolour (`hair`, `clothes` …), where it is no object."""
    old: str = ""
    """The object to replace."""
    old_colour: Colour | None = None
    turn: Geometry | None = None
    words: str = ""
    """The instruction in plain words, for details such as `armchair`."""


def read_task(instruction: str) -> EditTask:
    """The task, or `Refused`."""
    words = plain_words(instruction)
    replacing = _replacement(words)
    if replacing is not None:
        return replacing
    intent = understand(instruction)
    for geometry in GEOMETRY:
        if intent.action == geometry:
            return EditTask("turn", turn=geometry, words=words)
    if intent.action == "replicate":
        return EditTask("copy", words=words)
    if intent.action in ("add", "remove") and intent.thing:
        step: Step = "add" if intent.action == "add" else "remove"
        return EditTask(step, intent.thing, intent.colour, intent.place, words=words)
    if intent.action == "recolour" and intent.colour is not None:
        return EditTask("recolour", intent.thing or "", intent.colour, part=_part(intent), words=words)
    raise Refused(
        f"inpaint can add, remove, replace and recolour objects; it does not know how to '{_short(instruction)}'",
        reason="not-understood",
    )


def _replacement(words: str) -> EditTask | None:
    found = _REPLACE.search(words) or _TURN_INTO.search(words)
    if found is None:
        return None
    old, new = understand(f"remove {found['old']}"), understand(f"add {found['new']}")
    if not old.thing or not new.thing:
        return None
    place = old.place or new.place
    return EditTask("replace", new.thing, new.colour, place, old=old.thing, old_colour=old.colour, words=found["new"])


def _part(intent: Intent) -> str | None:
    return None if intent.thing else intent.subject


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= 60 else f"{one_line[:59]}…"
