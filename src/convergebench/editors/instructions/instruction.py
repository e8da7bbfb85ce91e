"""Parses an instruction into an intent. Tolerant of case, spelling and phrasing; never guesses.

An instruction that is not understood becomes the action `unknown`; the editor then reports an unchanged image.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

from convergebench.editors.instructions.vocabulary import (
    ADD_WORDS,
    COLOURS,
    PLACES,
    REMOVE_WORDS,
    SUBJECTS,
    THING_WORDS,
    Colour,
)
from convergebench.edits.geometry import Geometry, geometry_of, plain_words

Change = Literal[
    "recolour", "brighter", "darker", "warmer", "cooler", "grey", "colourise", "invert", "blur", "sharpen", "pixelate",
    "detail", "night", "day", "sunset", "morning", "smile", "sad", "surprise", "neutral", "close-eyes", "open-eyes",
    "blank", "remove-main", "soften", "edges", "patches", "enhance", "denoise",
]  # fmt: skip
Action = Literal["replicate", "add", "remove", "undo", "unknown"] | Geometry | Change
CHANGES: tuple[Change, ...] = get_args(Change)


@dataclass(frozen=True, slots=True)
class Intent:
    """A parsed instruction."""

    action: Action
    thing: str | None = None
    """Object to add, remove or recolour, by its catalogue name."""
    colour: Colour | None = None
    place: str | None = None
    subject: str | None = None
    """Part of the picture to change; None means all of it."""
    strength: float = 1.0


_RULES: tuple[tuple[str, Action], ...] = (
    (r"\b(mosaic|pixelat\w+)\b.*\b(back|sharp|detail)|(detail|undo|remove)\b.*\bpixel", "detail"),
    (r"\b(pixelate|mosaic)\b", "pixelate"),
    (r"\bout of focus\b|\bdefocus", "blur"),
    (r"\binto focus\b|\bin focus\b", "sharpen"),
    (r"\b(put|add|bring)\b.*\bobject\b.*\bback\b|\bback where it was\b", "undo"),
    (r"\bundo\b|\brevert\b|\boriginal\b|\bit was before\b|\bbring back\b", "undo"),
    (r"\b(remove|erase|delete|take)\b.*\bmain (object|subject)\b", "remove-main"),
    (r"\b(neutral|normal|not smiling|serious)\b.*\b(expression|look|face|again|smiling)", "neutral"),
    (r"\b(look|expression)\b.*\bneutral", "neutral"),
    (r"\b(remove|stop|without|no)\b.*\bsmil", "neutral"),
    (r"\bsmil(e|es|ing)\b|\blook happy\b|\blaugh", "smile"),
    (r"\bsurpris|\bastonish|\bamazed\b", "surprise"),
    (r"\b(sad|frown\w*|unhappy)\b", "sad"),
    (r"\b(close|closed|shut)\b.*\beyes?\b|\beyes?\b.*\b(close|closed|shut)\b", "close-eyes"),
    (r"\bopen\b.*\beyes?\b|\beyes?\b.*\bopen\b", "open-eyes"),
    (r"\bcolou?ri[sz]e\b|\b(bring|add|give)\b.*\b(natural|full|its) colou?rs?\b", "colourise"),
    (r"\bnegative\b|\binvert\b", "invert"),
    (r"\bblack and white\b|\bblack-and-white\b|\bgr[ae]y ?scale\b|\bmonochrom|\bdesaturate", "grey"),
    (r"\b(take out|remove) (all|the) colou?rs?\b", "grey"),
    (r"\b(whole|completely|entire|entirely)\b.*\bblack\b|\bfill\b.*\bblack\b|\b(image|picture) black\b", "blank"),
    (r"\bto night\b|\bnight(time| scene)?\b(?!.*\bday)", "night"),
    (r"\b(midday|noon|daylight|day ?time)\b|\b(to|it) day\b|\bdaytime\b", "day"),
    (r"\bsunset\b|\bgolden.hour\b|\bevening\b|\bdusk\b", "sunset"),
    (r"\bmorning\b|\bdawn\b|\bsunrise\b", "morning"),
    (r"\bwarm(er|th)?\b|\btowards? (orange|yellow|red)\b|\bswitch on\b.*\blights?\b", "warmer"),
    (r"\bcool(er)?\b|\bcolder\b|\btowards? blue\b", "cooler"),
    (r"\bbright(er|en)\b|\blighten\b|\blighter\b|\bsoften the shadows", "brighter"),
    (r"\b(raise|increase)\b.*\b(exposure|brightness)", "brighter"),
    (r"\bdark(er|en)\b|\bdim(mer)?\b|\b(lower|reduce|decrease)\b.*\b(exposure|brightness)", "darker"),
    (r"\b(restor|enhanc|improv|repair|refin)\w*\b.*\b(quality|clarity|noise|blur|degrad|sharp|detail)", "enhance"),
    (r"\bdenois\w*|\b(remov|reduc)\w*\b.*\b(noise|grain)\b", "denoise"),
    (r"\bblur\b|\bblurred\b|\bblurry\b", "blur"),
    (r"\bsharp(en|er)\b|\bcrisp(er)?\b", "sharpen"),
    (r"\bsofter\b|\bsoften\b", "soften"),
    (r"\bedges?\b.*\b(map|drawing|image|only|of)\b", "edges"),
    (r"\b(extract|draw|show)\b.*\b(edges|outlines?)\b|\bline drawing\b|\bsketch\b", "edges"),
    (r"\bcolou?r (patch|block)\w*\b", "patches"),
)  # fmt: skip
_REPLICATE = (
    r"\breplica\b|\breplicate\b|\breproduce\b|\bduplicate\b|\bexact(ly)? (copy|the same)|\bno (alter|chang)\w+"
    r"|\bwithout (any )?(alter|chang|modif)\w+|\bunchanged\b|\bas it is\b"
    r"|\bidentical (copy|image)\b|\bsame (image|picture)\b|\bcopy (the|this)\b"
)
_RECOLOUR = r"^(please )?(make|turn|paint|colou?r|recolou?r|dye|tint|change|give|add some)\b"


@lru_cache(maxsize=4096)
def understand(instruction: str) -> Intent:
    """The intent of an instruction in plain English."""
    words = plain_words(instruction)
    geometry = geometry_of(words)
    if geometry is not None:
        return Intent(geometry)
    if re.search(_REPLICATE, words):
        return Intent("denoise" if "nois" in words else "replicate")
    colour, thing, place = _colour(words), _thing(words), _place(words)
    subject, strength = _named(words, SUBJECTS), _strength(words)
    if thing is not None and not _recolours(words, thing):
        return Intent(_add_or_remove(words), thing, colour, place)
    for pattern, action in _RULES:
        if re.search(pattern, words):
            about = subject if action in ("undo", "blur", "soften") else None
            return Intent(
                action, thing, subject=about if about != "main" or action == "undo" else None, strength=strength
            )
    if colour is not None and (subject or thing) and re.search(_RECOLOUR, words):
        return Intent("recolour", thing, colour, subject=subject or "main", strength=strength)
    return Intent("unknown")


def _add_or_remove(words: str) -> Action:
    if _any_of(words, REMOVE_WORDS):
        return "remove"
    if re.match(r"^(please )?(make|turn|move|change)\b", words) and not re.search(r"\bwear|\bhold|\bhave\b", words):
        return "unknown"
    return "add" if _any_of(words, ADD_WORDS) or len(words.split()) <= 6 else "unknown"


def _recolours(words: str, thing: str) -> bool:
    """Whether the colour follows the object (`make the cup blue`) instead of preceding it (`give her a blue cup`)."""
    starts = re.match(r"^(please )?(make|turn|paint|recolou?r|dye|tint|change)\b", words)
    if not starts or "wear" in words:
        return False
    at = max((found.start() for word in THING_WORDS[thing] for found in _finds(words, word)), default=0)
    return any(found.start() > at for word in COLOURS for found in _finds(words, word)) or "#" in words


def _thing(words: str) -> str | None:
    """The first named object; of several matches at one position the longest (`coffee cup` before `cup`)."""
    best: tuple[int, int, str] | None = None
    for thing, names in THING_WORDS.items():
        for name in names:
            for found in _finds(words, name):
                if name == "orange" and _is_colour(words, found):
                    continue
                rank = (found.start(), -len(name), thing)
                best = rank if best is None or rank < best else best
    return best[2] if best else None


def _is_colour(words: str, orange: re.Match[str]) -> bool:
    """`an orange` is a fruit; `an orange ball` and `towards orange` are not."""
    named = re.search(r"\b(a|an|one|the|another|some) (\w+ )?$", words[: orange.start()])
    follows = words[orange.end() :].strip()
    return not named or any(follows.startswith(name) for names in THING_WORDS.values() for name in names)


def _colour(words: str) -> Colour | None:
    exact = re.search(r"#([0-9a-f]{6})\b", words)
    if exact:
        number = int(exact[1], 16)
        return number >> 16, number >> 8 & 255, number & 255
    found = [(match.start(), name) for name in COLOURS for match in _finds(words, name)]
    return COLOURS[min(found)[1]] if found else None


def _place(words: str) -> str | None:
    place = _named(words, PLACES)
    if place == "corner" and "left" in words:
        return "left"
    return place


def _strength(words: str) -> float:
    if re.search(r"\b(slightly|little|bit|subtly|gently)\b", words):
        return 0.6
    return 1.5 if re.search(r"\b(very|much|strongly|dramatically)\b", words) else 1.0


def _named(words: str, table: Mapping[str, tuple[str, ...]]) -> str | None:
    for name, spellings in table.items():
        if _any_of(words, spellings):
            return name
    return None


def _any_of(words: str, phrases: Iterable[str]) -> bool:
    return any(True for phrase in phrases for _ in _finds(words, phrase))


def _finds(words: str, phrase: str) -> Iterable[re.Match[str]]:
    return re.finditer(rf"(?<![\w#-]){re.escape(phrase)}(?![\w-])", words)
