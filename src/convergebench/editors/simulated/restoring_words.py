"""What a restoration prompt asks for, read from its words: which work, with how much care, at what length."""

from __future__ import annotations

import re
from dataclasses import dataclass

LONG = 32
"""Words from which on a prompt is long: the published short ones have up to 30, the long ones 34 or more."""
_NOISE = re.compile(r"\b(nois\w*|grain\w*|artifacts?|artefacts?|compression|degrad\w*|clean)\b")
_BLUR = re.compile(r"\b(blur\w*|sharp\w*|clarity|clear|focus\w*|crisp\w*)\b")
_COLOUR = re.compile(r"\b(colou?rs?|tones?|contrast|faded|vivid)\b")
_DETAIL = re.compile(r"\b(detail\w*|textures?|face|faces|facial|eyes|hair|skin|refine|reconstruct)\b")
_FIDELITY = re.compile(
    r"\b(preserv\w*|maintain\w*|unchanged|consistent|identity|faithful\w*|without (altering|changing)"
    r"|avoid\w* changes|(?<!color )(?<!colour )fidelity)\b"
)
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class RestorationWish:
    """Strengths from 0 to 1: what is not asked for is done a little, as restorers do."""

    denoise: float
    sharpen: float
    colour: float
    detail: float
    fidelity: bool
    """Asked to stay true to the picture."""
    long: bool


def read_wish(words: str) -> RestorationWish:
    """The wish behind a prompt; words that are not understood ask for nothing."""
    text = " ".join(words.lower().split())

    def asked(pattern: re.Pattern[str], once: float, more: float) -> float:
        count = len({found.group() for found in pattern.finditer(text)})
        return min(1.0, once + more * (count - 1)) if count else 0.25

    return RestorationWish(
        denoise=asked(_NOISE, 0.7, 0.15),
        sharpen=asked(_BLUR, 0.7, 0.15),
        colour=asked(_COLOUR, 0.8, 0.2),
        detail=asked(_DETAIL, 0.5, 0.12),
        fidelity=_FIDELITY.search(text) is not None,
        long=len(_WORD.findall(text)) >= LONG,
    )
