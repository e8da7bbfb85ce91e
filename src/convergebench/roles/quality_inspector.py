"""The measuring inspector: whether a picture has worn out against the photograph that its session began with.

It answers `inspect-quality`. Measured are noise, specks, blur, blocks, a colour cast, burnt-out and black parts, lost
contrast, and `decay`, which was learned from pictures that models had remade again and again. Edits on purpose bring
some of these: where a word of the history explains a damage (`grain` noise, `fog` blur), it counts only far beyond what
one edit brings, so that a style alone does not stop a session. It does not see deformed faces or hands.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from math import hypot
from typing import TYPE_CHECKING, Any

from convergebench.errors import StudyError, Unmeasurable
from convergebench.ids import canonical, fingerprint
from convergebench.metrics import load_metric
from convergebench.roles.base import Answered, Role
from convergebench.roles.edit_judge.levels import Ramp
from convergebench.roles.edit_judge.wording import mentions
from convergebench.roles.tables import RoleTable
from convergebench.types import Limits

if TYPE_CHECKING:
    from convergebench.images.frame import Frame

NAME = "measuring inspector"
VERSION = 2
"""Raised whenever its answer about the same pictures would change."""
RUBRIC = "inspect-quality"
USES = ("decay", "noise", "blockiness")
LARGEST = 1024
"""Pixels of the longer side; of larger pictures the middle is looked at, since reducing them would hide damage."""
SPECK = 35
"""Levels by which a speck differs from the median around it."""
KEPT = 8
_NUMBERED = re.compile(r"^\d+\. (.+)$", re.MULTILINE)

LEVELS: Mapping[str, Ramp] = {
    "noise": Ramp(9.0, 3.0),
    "specks": Ramp(0.10, 0.02),
    "blur": Ramp(0.50, 0.85),
    "blocks": Ramp(0.35, 0.08),
    "colour cast": Ramp(24.0, 8.0),
    "burnt-out or black parts": Ramp(0.40, 0.10),
    "lost contrast": Ramp(0.15, 0.45),
    "wear": Ramp(110.0, 50.0),
}
"""What is measured against the photograph: ruined, and as sound. Chosen on the half `development`."""
EXPLAINED: Mapping[str, Ramp] = {
    "noise": Ramp(14.0, 5.0),
    "specks": Ramp(0.30, 0.12),
    "blur": Ramp(0.40, 0.65),
    "blocks": Ramp(1.2, 0.3),
    "colour cast": Ramp(90.0, 60.0),
    "burnt-out or black parts": Ramp(0.90, 0.60),
    "lost contrast": Ramp(0.05, 0.20),
    "wear": Ramp(320.0, 180.0),
}
"""The same where a word of the history explains it."""
_DRAWN = ("paint", "sketch", "cartoon", "comic", "anime", "manga", "watercolo", "drawing", "pencil", "ink", "style")
_OLD = ("vintage", "film", "grain", "old", "histor", "retro", "sepia", "antique", "victorian", "analog", "century")
_SKY = ("snow", "rain", "fog", "mist", "haz", "winter", "autumn", "summer", "spring", "season", "weather", "overcast")
_LIGHT = ("warm", "cool", "tone", "colo", "golden", "light", "night", "sunset", "sunny", "dusk", "background", "paint")
EXPLANATIONS: Mapping[str, tuple[str, ...]] = {
    "noise": (*_OLD, *_DRAWN, *_SKY),
    "specks": (*_OLD, *_DRAWN, *_SKY, "text", "words", "write", "letter"),
    "blur": ("fog", "mist", "haz", "background", "zoom", *_DRAWN),
    "blocks": _DRAWN,
    "colour cast": (*_LIGHT, *_SKY, *_DRAWN, *_OLD, "look", "replace", "zoom", "remove"),
    "burnt-out or black parts": (*_DRAWN, *_SKY, "background", "night", "white", "black", "sticker"),
    "lost contrast": ("fog", "mist", "haz", "faded", *_DRAWN),
    "wear": (*_DRAWN, *_OLD, *_SKY, "zoom", "close"),
}
"""Beginnings of words with which an edit brings a damage on purpose."""


class MeasuringInspector(Role):
    """Answers `inspect-quality`, always the same for the same pictures."""

    about = f"{NAME}: metrics of damage, no understanding"

    def __init__(self, table: RoleTable | None = None) -> None:
        used = {name: load_metric(name).facts.version for name in USES}
        self.fingerprint = fingerprint(
            "measuring-inspector", VERSION, {"metrics": used, "levels": [dict(LEVELS), dict(EXPLAINED)]}
        )
        self.limits = Limits(at_once=os.cpu_count() or 1)
        if table is not None and table.rubrics:
            raise StudyError(f'the {NAME} does not use rubrics; they need kind = "served"')

    def require(self, rubric: str) -> None:
        """Only its own rubric."""
        if rubric != RUBRIC:
            raise StudyError(f"the {NAME} does not answer '{rubric}' (only {RUBRIC}); use a role of kind = \"served\"")

    async def ask(self, images: tuple[bytes, ...], payload: Mapping[str, Any], *, repeat: int = 0) -> Answered:
        """How sound the first picture is against the second."""
        self.require(payload["rubric"])
        value = await asyncio.to_thread(_inspected, images, _history(payload["text"]))
        return Answered(value, canonical(value), NAME)


def _history(text: str) -> str:
    """The numbered instructions in the text of the question."""
    return "\n".join(_NUMBERED.findall(text))


def _inspected(images: tuple[bytes, ...], history: str) -> dict[str, Any]:
    try:
        now, original = map(_frame, images)
        found = damage(now, original)
    except (StudyError, Unmeasurable) as error:
        return {"damage": [str(error)], "quality": 0.0}
    grades = {
        name: (EXPLAINED if mentions(history, *EXPLANATIONS[name]) else LEVELS)[name](value)
        for name, value in found.items()
    }
    told = [f"{name} ({found[name]:.2f} against the photograph)" for name, grade in grades.items() if grade < 1]
    return {"damage": told, "quality": round(min(grades.values()), 4)}


def damage(now: Frame, original: Frame) -> dict[str, float]:
    """What is measured, by name: ratios for crispness and contrast, a distance for the cast, and else rises."""
    from convergebench.metrics._lab import mean_lab
    from convergebench.metrics._planes import luma
    from convergebench.metrics.base import Item
    from convergebench.roles.edit_judge.descriptions import clipped_share, crispness

    def rise(name: str) -> float:
        return float(load_metric(name)(Item(now)) - load_metric(name)(Item(original)))  # type: ignore[operator]

    one, other = mean_lab(now), mean_lab(original)
    return {
        "noise": rise("noise"),
        "specks": _specks(now) - _specks(original),
        "blur": crispness(now) / crispness(original),
        "blocks": rise("blockiness"),
        "colour cast": hypot(one.a - other.a, one.b - other.b),
        "burnt-out or black parts": clipped_share(now) - clipped_share(original),
        "lost contrast": float(luma(now).std()) / max(float(luma(original).std()), 1.0),
        "wear": rise("decay"),
    }


def _specks(frame: Frame) -> float:
    """Share of pixels that differ plainly from the median around them."""
    import cv2
    import numpy as np

    grey = cv2.cvtColor(frame.pixels, cv2.COLOR_RGB2GRAY)
    return float(np.mean(cv2.absdiff(grey, cv2.medianBlur(grey, 5)) > SPECK))


@lru_cache(KEPT)
def _frame(data: bytes) -> Frame:
    import numpy as np

    from convergebench.images.decode import decode
    from convergebench.images.frame import Frame

    whole = decode(data, what="a picture of the question", alpha="white")
    width, height = (min(side, LARGEST) for side in whole.size)
    # a multiple of eight, so that the grid of compression stays where it was
    left, top = (whole.width - width) // 2 // 8 * 8, (whole.height - height) // 2 // 8 * 8
    if (width, height) == whole.size:
        return whole
    return Frame(np.ascontiguousarray(whole.pixels[top : top + height, left : left + width]), whole.id)
