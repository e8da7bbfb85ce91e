"""Classifying people's instructions by operation, for sets that do not state it.

The classes are: copies, flips and rotations of the whole picture, removing or adding colour, removing noise, adding
something, removing something; all else is `change`. "Remove the hat, leave the rest unchanged" is no copy, and "flip
the burger" no flip of the picture.
"""

from __future__ import annotations

import re

from convergebench.edits.geometry import geometry_of, plain_words
from convergebench.types import Operation

_WHOLE = r"(?:(?:this|the|that|whole|entire|provided|input|given|original|same|exact|my) )*"
_PICTURE = rf"{_WHOLE}(?:image|picture|photo\w*|scene|it)\b(?! (?:in|on|of|into) )"
_TURNED = re.compile(
    rf"\b(?:flip|mirror|mirror image of|reflect|rotate|turn|spin) {_PICTURE}"
    # names of edits rather than sentences
    r"|^(?:(?:flip|mirror|rotate|rotation|horizontal|vertical|left|right|clockwise|counter|anti|by|to|the|90|180|270|degrees)"
    r"(?:ly)? ?)+$"
)
_COPY = re.compile(
    rf"\b(?:replica|duplicate|copy|reproduction) of {_PICTURE}|\b(?:replicate|reproduce|duplicate|copy) {_PICTURE}"
    rf"|\b(?:return|give|output|keep|leave)(?: me)?(?: back)? {_PICTURE}.*\b(?:unchanged|as it is|back|same)\b"
)
_NOISE = re.compile(r"\bdenois|\b(?:remov|reduc|clean)\w*\b.{0,40}\b(?:noise|grain|artefacts|artifacts)\b")
_COLOUR = re.compile(r"\bcolou?ri[sz]e\b")
_GREY = re.compile(
    rf"\bdesaturate {_PICTURE}"
    rf"|\b(?:make|turn|convert|change|render) {_WHOLE}(?:image|picture|photo\w*|scene|it) .*"
    r"\b(?:black and white|gr[ae]y ?scale|monochrome)\b"
)
_REMOVE = re.compile(r"^(?:now |then |also )?(?:remove|delete|erase|get rid of|take (?:away|out|off)|eliminate)\b")
_ADD = re.compile(r"^(?:now |then |also )?(?:add|insert|put|place|include|draw)\b|\badd (?:an?|one|some|more) \w+")
_OPENING = re.compile(r"^(?:please |kindly |could you |can you |let's |i want you to |i would like (?:you )?to )+")


def operation_of(words: str) -> Operation:
    """The operation that an English instruction asks for; `change` if it is none of the known classes."""
    plain = _plain(words)
    turned = geometry_of(plain_words(words.replace("_", " "))) if _TURNED.search(plain) else None
    if turned is not None:
        return turned
    for pattern, operation in _IN_ORDER:
        if pattern.search(plain):
            return "denoise" if operation == "replicate" and _NOISE.search(plain) else operation
    return "change"


_IN_ORDER: tuple[tuple[re.Pattern[str], Operation], ...] = (
    (_COLOUR, "colourise"),
    (_GREY, "monochrome"),
    (_COPY, "replicate"),
    (_NOISE, "denoise"),
    (_REMOVE, "remove"),
    (_ADD, "add"),
)


def _plain(words: str) -> str:
    text = re.sub(r"[-_]", " ", words.lower()).replace("’", "'").replace("°", " degrees ")
    return _OPENING.sub("", " ".join(re.sub(r"[.,;:!?()\"“”]", " ", text).split()))
