"""Words that a study may add to: what an image shows, and what a comparison is for.

The words here are built in. A study may use its own, such as `document` or `clean`: one short, lower-case word each, so
that it can stand in tables, file names and metric names.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

_WORD = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
LONGEST_WORD = 24


def is_word(text: str) -> bool:
    """Whether a text can be a kind or a role: lower-case letters and digits, with hyphens between them."""
    return len(text) <= LONGEST_WORD and _WORD.fullmatch(text) is not None


def require_word(text: str) -> str:
    """The text itself; `ValueError` if it is no word."""
    if not is_word(text):
        raise ValueError(f"should be one lower-case word of at most {LONGEST_WORD} characters, such as {KINDS[0]}")
    return text


class _CheckedWord:
    """Lets pydantic check the word where a file is read, without loading pydantic here."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core.core_schema import no_info_after_validator_function

        return no_info_after_validator_function(require_word, handler(source))


Kind = Annotated[str, _CheckedWord()]
"""What an image shows: one of `KINDS`, or a word of a study's own."""
KINDS: tuple[Kind, ...] = ("face", "object", "scene")

CompareRole = Annotated[str, _CheckedWord()]
"""What a comparison is for: one of `COMPARE_ROLES`, or a word of a study's own.

`source`: the untouched image by itself, where a metric's curve begins if it needs no reference. `return`: image after a
whole round against the untouched source. `first`: the same against round 1, which may have cropped. `around`: against
the source where something was to be added, so that only what lies around it can be compared. `lag`: against the image
`lag` rounds before (displacement, cycles). `replicate`: against the same round of replicate 0 (how far chance alone
moves). `step`: any step's image against the one it started from (diagnostics). `forward`: did the edit happen
(reference: the image it started from). `backward`: was it undone (reference: the image before the forward edit, `via`:
the image after it). `alone`: a picture that nothing else compares, for whoever rates single pictures.

In `return`, `first` and `lag` an `operation` says how the reference must be turned or mirrored to be what was asked.
Metrics measure a role of a study's own as they measure `return`, or `source` where there is no reference; in tables it
is added to the metric's name (`lpips-clean`). Such a comparison counts its round as done, so it belongs at the end.
"""
COMPARE_ROLES: tuple[CompareRole, ...] = (
    "source", "return", "first", "around", "lag", "replicate", "step", "forward", "backward", "alone",
)  # fmt: skip


def ends_round(role: CompareRole) -> bool:
    """Whether a comparison of this role shows that its round is complete; a role of a study's own does."""
    return role in ("return", "around") or role not in COMPARE_ROLES


def measured_as(role: CompareRole, *, has_reference: bool) -> CompareRole:
    """The built-in role by whose rules a comparison is measured."""
    if role in COMPARE_ROLES:
        return role
    return "return" if has_reference else "source"
