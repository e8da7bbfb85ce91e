"""The contact sheet of a suite: one page that holds its pictures, so that it can be sent as a file."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import cv2
import numpy as np

from convergebench.images.decode import decode
from convergebench.images.frame import Pixels
from convergebench.images.suite import Suite
from convergebench.report.environment import Renderer
from convergebench.report.page import style_context
from convergebench.report.wording import count
from convergebench.studies.units import ROUND
from convergebench.types import SourceImage

LONG_SIDE, _QUALITY = 360, 82
_MOST_COUNTED = 5
"""Kinds whose pictures are counted one by one in the headline."""
_PLURALS = {"face": "faces", "object": "objects", "scene": "scenes"}


def contact_sheet(suite: Suite) -> str:
    """The page of a suite: every picture with its id, size, licence and credit, and what it holds."""
    listed, reasons = suite.listed, {one.id: one.reason for one in suite.missing}
    with ThreadPoolExecutor() as pool:
        pictures = dict(pool.map(lambda image: (image.id, _data_address(image)), suite.images))
    kinds = list(dict.fromkeys(image.kind for image in listed))
    groups = [
        {
            "title": _PLURALS.get(kind, kind).capitalize(),
            "cards": [_card(one, pictures.get(one.id), reasons.get(one.id, "")) for one in listed if one.kind == kind],
        }
        for kind in kinds
    ]
    name = f"{suite.name}, version {suite.version}" if suite.version > 1 else suite.name
    shared = {"name": name, "unit": ROUND, **style_context({}, {})}
    return Renderer(shared).render(
        "suite_sheet.html",
        headline=_headline(listed, kinds),
        groups=groups,
        licences=Counter(image.licence for image in suite.images).most_common(),
        missing=[f"{one.id} ({one.reason})" for one in suite.missing],
        content=suite.sha256,
    )


def _headline(listed: Sequence[SourceImage], kinds: Sequence[str]) -> str:
    if len(kinds) > _MOST_COUNTED:
        return f"{count(len(listed), 'picture')} of {len(kinds)} kinds"
    amounts = Counter(image.kind for image in listed)
    parts = [count(amounts[kind], kind) for kind in kinds]
    joined = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"{count(len(listed), 'picture')}: {joined}" if len(parts) > 1 else joined


def _card(image: SourceImage, picture: str | None, reason: str) -> dict[str, Any]:
    return {
        "id": image.id,
        "picture": picture,
        "reason": reason,
        "title": image.title,
        "width": image.width,
        "height": image.height,
        "licence": image.licence,
        "credit": image.credit or image.source,
        "holds": image.holds,
    }


def _data_address(image: SourceImage) -> str:
    return small_address(decode(image.read(), what=f"image '{image.id}'").pixels)


def small_address(pixels: Pixels, long_side: int = LONG_SIDE) -> str:
    """A small copy of the picture as an address that the page holds itself."""
    height, width = pixels.shape[:2]
    scale = min(1.0, long_side / max(height, width))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    small = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)
    _, data = cv2.imencode(".webp", cv2.cvtColor(small, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_WEBP_QUALITY, _QUALITY])
    return f"data:image/webp;base64,{base64.b64encode(data.tobytes()).decode()}"
