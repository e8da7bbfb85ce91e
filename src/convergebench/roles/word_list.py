"""The word list: the reader's question answered by searching for words, for use without a language model.

It looks for words of damage (noise, grainy, pixelated, artefacts …) sentence by sentence. A word does not count if it
is negated or to be avoided ("no visible noise", "noise-free", "must not create artifacts"), if its neighbours show that
it means something else ("wood grain", "noise pollution"), or if the sentence is only about the result. It misses other
wordings, irony and other languages. It is always named "word list, not a language model", so that nobody takes it for
one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from convergebench.errors import StudyError
from convergebench.ids import fingerprint
from convergebench.roles.base import Answered, Role
from convergebench.roles.tables import RoleTable
from convergebench.rubrics.reply import parse
from convergebench.rubrics.rubric import form_of, load_rubric

NAME = "word list, not a language model"
VERSION = 1
"""Raised whenever its answer to the same words would change."""
RUBRIC = "self-evaluation"
SCOPE = 8
"""Words before or after a word of damage that are searched for a negation."""

_SENTENCE = re.compile(r"[.!?;:…](?=[\s\"”')*]|$)|\n")
_TOKEN = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*|,")
_DAMAGE = re.compile(
    r"nois(?:e|y|ier|iest|iness)|grain(?:y|iness)?|pixelat(?:ed|es|ing|ion)|art[ei]fact(?:s|ing)?|speckl(?:e|es|ed|ing)"
    r"|block(?:y|iness)|banding|dither(?:ed|ing|s)?|moir[eé]|glitch(?:es|y|ed)?|static|denois(?:e|ed|es|ing)"
    r"|jpeg|compression|degrad(?:ed|ation)|corrupt(?:ed|ion)"
)
_FREEING = frozenset({"free", "less", "non", "anti", "low", "cancelling", "canceling", "proof"})
"""Parts of a compound that negate it: noise-free, non-pixelated."""
_DENIAL = re.compile(
    r".*n't|no|not|never|none|nothing|neither|nor|without|zero|cannot|absen(?:t|ce)|devoid|free|clear|lack(?:s|ed|ing)?"
    r"|avoid(?:s|ed|ing|ance)?|prevent(?:s|ed|ing)?|introduc(?:e|es|ing)|add(?:s|ing)?|creat(?:e|es|ing)|check(?:ing|ed)?"
)
"""Words before damage that mean it is absent, to be avoided, just being added, or only checked for."""
_GONE = re.compile(r"(?:absent|missing|gone|invisible|(?:not|\w+n't)(?: \w+)? (?:present|visible|seen|found|there))\b")
"""What a word of damage may be followed by, after `is` or `are`."""
_BEING = frozenset({"is", "are", "was", "were", "seems", "remains", "isn't", "aren't", "wasn't", "weren't"})
_BARRIER = frozenset({"but", "however", "yet", "although", "though", "because", "which", "apart", "except", "besides"})
"""A negation beyond one of these does not apply."""
_SHOWING = frozenset({"shows", "has", "contains", "looks", "appears", "seems", "exhibits", "suffers", "is", "are"})
_RESULT = frozenset({"output", "outputs", "result", "results", "generated", "draft", "final", "replica", "return"})
_GIVEN = frozenset({"original", "source", "input", "reference", "provided", "given", "uploaded"})
_BESIDE: Mapping[str, frozenset[str]] = {
    "nois": frozenset(
        {"pollution", "poster", "machine", "white", "complaint", "barrier", "street", "loud", "place", "crowd", "sound"}
    ),
    "grain": frozenset(
        {"wood", "wooden", "oak", "leather", "rice", "wheat", "corn", "barley", "field", "harvest", "bread", "whole"}
        | {"every", "each", "bag", "sack", "sacks", "silo", "golden", "marble", "sand"}
    ),
    "art": frozenset(
        {"ancient", "museum", "cultural", "historical", "historic", "archaeological", "bronze", "egyptian", "sacred"}
        | {"antique", "pottery", "tribal", "excavated"}
    ),
    "static": frozenset({"pose", "poses", "camera", "scene", "shot", "figure", "composition", "radio", "electricity"}),
    "compression": frozenset({"stockings", "socks", "garment", "bandage"}),
}
"""Beginning of a word → neighbours, up to three words away, with which it is no damage to a picture."""
_NOISE_OF_A_SCREEN = frozenset(
    {"noise", "television", "tv", "pattern", "overlay", "fine", "grain", "covered", "interference"}
)
"""`static` alone means that nothing moves; beside one of these it is noise."""


class WordListReader(Role):
    """Answers `self-evaluation`, deterministically."""

    about = NAME

    def __init__(self, table: RoleTable | None = None) -> None:
        self.fingerprint = fingerprint("word-list", VERSION, {"reader": NAME, "words": _all_words()})
        if table is not None and table.rubrics:
            raise StudyError('the word list does not use rubrics; they need kind = "served"')

    def require(self, rubric: str) -> None:
        """Only its own rubric."""
        if rubric != RUBRIC:
            raise StudyError(
                f"the word list does not answer '{rubric}' (only {RUBRIC}); use a reader of kind = \"served\""
            )

    async def ask(self, images: tuple[bytes, ...], payload: Mapping[str, Any], *, repeat: int = 0) -> Answered:
        """Yes or no, as a model would answer."""
        self.require(payload["rubric"])
        question = load_rubric(RUBRIC).template.strip().removesuffix("$reasoning")
        if not payload["text"].startswith(question):
            raise StudyError(f"the word list knows '{RUBRIC}' only as shipped; use a reader of kind = \"served\"")
        reply = "yes" if mentions_damage(payload["text"].removeprefix(question)) else "no"
        return Answered(parse(reply, form_of(payload)), reply, NAME)


def _all_words() -> list[Any]:
    """Everything that an answer depends on, for the fingerprint."""
    patterns = [pattern.pattern for pattern in (_SENTENCE, _TOKEN, _DAMAGE, _DENIAL, _GONE)]
    sets = (_FREEING, _BEING, _BARRIER, _SHOWING, _RESULT, _GIVEN, _NOISE_OF_A_SCREEN)
    return [patterns, [sorted(one) for one in sets], {start: sorted(one) for start, one in _BESIDE.items()}, SCOPE]


def mentions_damage(summary: str) -> bool:
    """Whether a sentence says that the picture is noisy, pixelated or has artefacts."""
    plain = summary.lower().replace("’", "'")
    return any(_sentence_mentions(_TOKEN.findall(sentence)) for sentence in _SENTENCE.split(plain))


def _sentence_mentions(words: Sequence[str]) -> bool:
    if not _RESULT.isdisjoint(words) and _GIVEN.isdisjoint(words):
        return False
    return any(
        _is_damage(word) and not (_means_something_else(words, place) or _is_denied(words, place))
        for place, word in enumerate(words)
    )


def _is_damage(word: str) -> bool:
    parts = word.split("-")
    return any(_DAMAGE.fullmatch(part) for part in parts) and _FREEING.isdisjoint(parts)


def _means_something_else(words: Sequence[str], place: int) -> bool:
    near = {*words[max(0, place - 3) : place], *words[place + 1 : place + 4]}
    if words[place] == "static" and _NOISE_OF_A_SCREEN.isdisjoint(near):
        return True
    return any(words[place].startswith(start) and not others.isdisjoint(near) for start, others in _BESIDE.items())


def _is_denied(words: Sequence[str], place: int) -> bool:
    return _denied_before(words, place) or _denied_after(words, place)


def _denied_before(words: Sequence[str], place: int) -> bool:
    for back in range(place - 1, max(-1, place - 1 - SCOPE), -1):
        word = words[back]
        if word in _BARRIER or (word == "and" and words[back + 1] in _SHOWING):
            return False
        if word == "," and not (back and _is_damage(words[back - 1])):  # a list of damages is negated as a whole
            return False
        if _DENIAL.fullmatch(word):
            return True
    return False


def _denied_after(words: Sequence[str], place: int) -> bool:
    for ahead in range(place + 1, min(len(words), place + 1 + SCOPE)):
        if words[ahead] == "," or words[ahead] in _BARRIER:
            return False
        if words[ahead] in _BEING:
            start = ahead if words[ahead].endswith("n't") else ahead + 1
            return bool(_GONE.match(" ".join(words[start : start + 4])))
    return False
