"""The kinds of wear, by name."""

from __future__ import annotations

from collections.abc import Mapping

from convergebench.editors.simulated.options import read_options
from convergebench.editors.simulated.wear.base import Wear, WearContext, WearKind
from convergebench.editors.simulated.wear.codec import JPEG
from convergebench.editors.simulated.wear.grain import NOISE, SCATTER
from convergebench.editors.simulated.wear.resample import CROP, RESIZE
from convergebench.editors.simulated.wear.texture import BLUR, SIMPLIFY, WRINKLE
from convergebench.editors.simulated.wear.tone import CONTRACT, CYCLE, TINT
from convergebench.errors import StudyError
from convergebench.registry import suggest

KINDS: Mapping[str, WearKind] = {
    "jpeg": JPEG,
    "resize": RESIZE,
    "crop": CROP,
    "noise": NOISE,
    "scatter": SCATTER,
    "tint": TINT,
    "contract": CONTRACT,
    "cycle": CYCLE,
    "blur": BLUR,
    "simplify": SIMPLIFY,
    "wrinkle": WRINKLE,
}

__all__ = ["KINDS", "Wear", "WearContext", "WearKind", "read_wear"]


def read_wear(where: str, given: object) -> dict[str, object]:
    """One entry such as `{"kind": "jpeg", "quality": 60}`, checked and completed with defaults."""
    if not isinstance(given, Mapping) or not isinstance(given.get("kind"), str):
        raise StudyError(
            f"each wear of {where} is a table with a kind, such as {{kind = 'jpeg', quality = 60}}, not {given!r}"
        )
    kind = given["kind"]
    if kind not in KINDS:
        raise StudyError(f"unknown wear '{kind}' in {where}{suggest(kind, KINDS)} (known: {', '.join(KINDS)})")
    rest = {name: value for name, value in given.items() if name != "kind"}
    return {"kind": kind, **read_options(f"wear '{kind}' of {where}", KINDS[kind].options, rest)}
