"""The rule rewriter: a long instruction in the few words that a person would type, made by leaving words out.

It starts at the first verb of editing, drops side clauses ("while keeping …", "so that …"), asides and manner, then, as
far as needed, what follows a comma, places and articles, until twelve words are left. It does not paraphrase: every
word of the short instruction stands in the long one, in the same order. It is always named "rules, not a language
model", so that nobody takes it for one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from convergebench.errors import StudyError
from convergebench.ids import canonical, fingerprint
from convergebench.roles.base import Answered, Role
from convergebench.roles.tables import RoleTable
from convergebench.rubrics.rubric import load_rubric

NAME = "rules, not a language model"
VERSION = 1
"""Raised whenever its answer to the same words would change."""
RUBRIC = "rewrite-instruction"
MOST = 12
"""Words of a short instruction."""


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


VERBS = _listed(
    "add adjust age apply blend blur brighten bring change clear color colour convert cool crop darken decorate delete "
    "draw dress dye enhance enlarge erase exaggerate exchange expand extend extract fill fix flip give grow hang "
    "insert introduce invert lay let light lighten lower make mirror modify move outpaint overlay paint place print "
    "put raise recolor recolour redraw reduce relight relocate remove render repaint replace reposition reshape resize "
    "restore restyle rotate scale set sharpen shift show shrink simpsonize sketch soften sticker-ify stretch stylize "
    "stylise substitute swap take tilt tint transfer transform translate turn update warm widen wrap write zoom"
)
"""Verbs of editing: an instruction begins at the first of them."""
_SIDE = re.compile(
    r"[,;]?\s+\(?(?:while|whilst|keeping|but keep|and keep|and leave|and fill|preserving|maintaining|ensuring|ensure|"
    r"making sure|making it|such that|as if|as though|leaving|without (?:changing|altering|affecting)|matching|"
    r"in order to|to (?:create|match|make it|give it|ensure|enhance|evoke|achieve)|which|giving|creating|allowing|"
    r"using|including|so (?:that|the)(?! (?:it|they|the \w+) (?:is|are|says?|reads?|looks?|has|have)\b))\b.*$",
    re.IGNORECASE | re.DOTALL,
)
"""Clauses that say how or what for; `so that it is red` says what."""
_ASIDE = re.compile(r"\s*\([^()]*\)|\s+[–—]\s.*$|\s-\s.*$", re.DOTALL)
_MANNER = _listed(
    "gently slightly subtly carefully clearly noticeably realistically naturally seamlessly completely entirely fully "
    "softly smoothly heavily very quite rather really just simply beautiful beautifully realistic natural "
    "photorealistic subtle please kindly noticeable visible existing entire whole overall"
)
_COMMA = re.compile(
    r"[,;:]\s+(?=(?:with|and|as|in|while|so|but|like|on|at|from|for|including|beside|away|complete|then|using|no|not|"
    r"\w+ing|keep|ensure|make|the|its|their)\b).*$",
    re.IGNORECASE | re.DOTALL,
)
"""From a comma on that ends the main clause; between adjectives (`flat, greenish light`) it does not."""
_OF_THE_PICTURE = re.compile(
    r"\s+(?:of|in|over|across|throughout|to) (?:the |this )?(?:image|picture|photo|photograph|scene|frame)\b"
    r"(?! of| with)",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\s+(?:(?:located|placed|standing|sitting|seen)\s+)?(?:on|in|at|near)\s+(?:the\s+)?"
    r"(?:(?:far|upper|lower|top|bottom|left|right|middle|left-hand|right-hand)\s+)*"
    r"(?:left|right|middle|centre|center|foreground|background|corner|side|portion|part|half|edge|top|bottom)"
    r"(?:\s+of (?:the |a |an )?(?:\w+ )?\w+(?= with\b| to\b| into\b| so\b| for\b|[,.]|$))?\b",
    re.IGNORECASE,
)
"""Where something is; where it is to go (`to the left`) stays."""
_LOOSE = _listed(
    "a an the and or but with of in on at to for by from into as its their his her that this while so over under near "
    "like very more"
)
"""Words that a short instruction does not end with."""
_PHRASES = _listed("and or with of in on at for from as over under near like around")
"""Words that begin a phrase that may be left out."""
_ARTICLES = _listed("a an the")
_BEFORE_A_VERB = _listed("please to you and then now could can kindly let's simply just first also")


class RuleRewriter(Role):
    """Answers `rewrite-instruction`, always the same for the same words."""

    about = NAME

    def __init__(self, table: RoleTable | None = None) -> None:
        patterns = [one.pattern for one in (_SIDE, _ASIDE, _COMMA, _OF_THE_PICTURE, _PLACE)]
        words = [sorted(one) for one in (VERBS, _MANNER, _LOOSE, _PHRASES, _ARTICLES, _BEFORE_A_VERB)]
        self.fingerprint = fingerprint("rules", VERSION, {"patterns": patterns, "words": words, "most": MOST})
        if table is not None and table.rubrics:
            raise StudyError('the rule rewriter does not use rubrics; they need kind = "served"')

    def require(self, rubric: str) -> None:
        """Only its own question."""
        if rubric != RUBRIC:
            raise StudyError(
                f"the rule rewriter does not answer '{rubric}' (only {RUBRIC}); use a role of kind = \"served\""
            )

    async def ask(self, images: tuple[bytes, ...], payload: Mapping[str, Any], *, repeat: int = 0) -> Answered:
        """The short instruction, as a model would give it; no value where there are no words to shorten."""
        self.require(payload["rubric"])
        before, after = load_rubric(RUBRIC).template.strip().split("$instruction")
        text, end = str(payload["text"]), after.split("$reply")[0]
        if not text.startswith(before) or end not in text:
            raise StudyError(f"the rule rewriter knows '{RUBRIC}' only as shipped; use a role of kind = \"served\"")
        short = shortened(text[len(before) : text.rindex(end)])
        value = {"short": short} if short else None
        return Answered(value, canonical(value), NAME)


def shortened(instruction: str) -> str:
    """At most twelve words of an instruction, its verb and its object among them; empty if it has no words."""
    text = " ".join(instruction.split())
    long = len(text.split())
    for reduce, always in _REDUCTIONS:
        if always or len(text.split()) > MOST or len(text.split()) >= long:
            shorter = " ".join(reduce(text).split())
            if len(shorter.split()) >= min(2, len(text.split())):
                text = shorter
    words = text.split()
    if len(words) > MOST:
        words = words[: _end_of_a_phrase(words)]
        while len(words) > 2 and words[-1].lower().strip(",.;:") in _LOOSE:
            words.pop()
    return _as_typed(" ".join(words))


def _end_of_a_phrase(words: list[str]) -> int:
    """How many words to keep: all that are allowed, or up to the last phrase that would be cut in the middle."""
    if words[MOST].lower() in _LOOSE:
        return MOST
    starts = [place for place in range(4, MOST) if words[place].lower() in _PHRASES]
    return starts[-1] if starts and starts[-1] >= MOST // 2 else MOST


def _from_the_verb(text: str) -> str:
    """From the first verb of editing to the end of its sentence."""
    sentences = [one for one in re.split(r"(?<=[.!?])\s+(?=[\"“A-Z])", text) if one]
    chosen = next((one for one in sentences if _verb_at(one) is not None), sentences[0] if sentences else text)
    return " ".join(chosen.split()[_verb_at(chosen) or 0 :])


def _verb_at(sentence: str) -> int | None:
    """The place of the first verb of editing that begins a clause."""
    written = sentence.split()
    words = [word.lower().strip("\"“”'(,.;:!?") for word in written]
    for place, word in enumerate(words):
        begins = place == 0 or written[place - 1].endswith((",", ":", ";")) or words[place - 1] in _BEFORE_A_VERB
        if word in VERBS and begins:
            return place
    return None


def _without(pattern: re.Pattern[str]) -> Callable[[str], str]:
    return lambda text: pattern.sub("", text)


def _without_words(dropped: frozenset[str]) -> Callable[[str], str]:
    return lambda text: " ".join(word for word in text.split() if word.lower().strip(",.;") not in dropped)


def _up_to_the_comma(text: str) -> str:
    head = _COMMA.sub("", text)
    return head if len(head.split()) >= 3 else text


_REDUCTIONS: tuple[tuple[Callable[[str], str], bool], ...] = (
    (_from_the_verb, True),
    (_without(_ASIDE), True),
    (_without(_SIDE), True),
    (_without_words(_MANNER), True),
    (_up_to_the_comma, False),
    (_without(_OF_THE_PICTURE), False),
    (_without(_PLACE), False),
    (_without_words(_ARTICLES), False),
)
"""What is left out, in this order; what is marked False only while it is too long, or no shorter than it was."""


def _as_typed(text: str) -> str:
    """As people type: no full stop, and no capital at the start, except of a word in capitals."""
    text = text.strip(" ,;:.!")
    first = text.split(" ", 1)[0]
    return text if not text or first[:2].isupper() else text[0].lower() + text[1:]
