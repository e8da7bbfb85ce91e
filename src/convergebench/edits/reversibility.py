"""Guess how reversible a pair is from its words, for pairs without a stated class.

preserving: all that the backward edit needs is still in the picture or in the instruction (put on, take off; turn,
turn back). destroying: the forward edit removes something that neither can restore (fill with black, remove the main
object, "the original colour"). hallucinating: one of the two edits has to invent plausible detail (sharpen,
colourise, another expression, day into night).
"""

from __future__ import annotations

import re

from convergebench.types import Reversibility

_MADE_UP = re.compile(
    r"""\b(
        blur\w* | sharp\w* | crisp\w* | focus | denois\w* | upscal\w* | pixelat\w* | mosaic | fine\ detail
      | colou?ris\w* | colou?riz\w* | monochrome | gr[ae]y\W?scale | black[\s-]and[\s-]white | desaturat\w* | sepia
      | all\ colou?r\ out | natural\ colou?r
      | smil\w* | expression | neutral | surpris\w* | frown\w* | laugh\w* | sad | angry
      | (open|clos\w*|shut)\b.*\beyes? | eyes?\ (open|closed)
      | night | day | daytime | daylight | midday | noon | dawn | dusk | sunset | sunrise | golden-hour | relight
      | winter | summer | autumn | spring | snow\w* | rain\w* | fog\w*
      | older | younger | age | style\ of | cartoon | sketch | (oil\ )?painting | watercolou?r
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_LOST = re.compile(
    r"""\b(
        original | undo | as\ it\ was | it\ was\ before | where\ it\ was | (put|add|bring)\b.*\bback
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_WIPED = re.compile(
    r"""\b(
        (completely | entirely | all | image | picture)\b.*\b(black | white | blank)
      | fill\b.*\b(black | white) | crop\w* | erase\w*
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_TAKEN = re.compile(r"^\s*(remove|delete|erase|take\b.*\b(away|off|out))\b", re.IGNORECASE)
_TURNED = re.compile(r"\b(flip\w*|mirror\w*|rotat\w*|upside down|turn\b.*(°|degrees|quarter|half))", re.IGNORECASE)
_ADDED = re.compile(r"^\s*(add|put|place|lay|wrap|let|give|make the person wear|there should be)\b", re.IGNORECASE)
_REMOVED = re.compile(r"\b(remove|delete|take|shave|stop wearing|no|without|clean-shaven)\b", re.IGNORECASE)


def classify(forward: str, backward: str) -> Reversibility:
    """The class that the words suggest: hallucinating is checked before destroying, preserving is the default."""
    if _TURNED.search(forward) and _TURNED.search(backward):
        return "preserving"
    both = f"{forward}\n{backward}"
    if _WIPED.search(forward) and not _MADE_UP.search(both):
        return "destroying"
    if _MADE_UP.search(both):
        return "hallucinating"
    if _ADDED.search(forward) and _REMOVED.search(backward):
        return "preserving"
    if _TAKEN.search(forward) or _LOST.search(backward):
        return "destroying"
    return "preserving"
