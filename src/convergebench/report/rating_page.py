"""The page on which people rate edits: one file with its pictures, nothing of the judge's opinion in it."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import cv2
import numpy as np

from convergebench.errors import StudyError
from convergebench.images.decode import decode
from convergebench.report.environment import Renderer
from convergebench.report.page import style_context
from convergebench.studies.factory_table import CRITERIA
from convergebench.studies.units import ROUND

LONG_SIDE, _QUALITY = 768, 92
LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Five: the rubric describes 0, ½ and 1, and between two descriptions a person tells one more level apart, not four."""
_ANCHOR = re.compile(r"(?<=[(, ])(\d\.\d) ([^,()]+)")


@dataclass(frozen=True, slots=True)
class ShownEdit:
    """An edit as the page shows it. Editor, case, position and image are only for the file of ratings."""

    editor: str
    case: str
    position: int
    image: str
    """Id of the edited picture."""
    before: str
    """File of the picture that was edited, relative to the run directory."""
    after: str
    instruction: str


@dataclass(frozen=True)
class RatingPage:
    """What a page is about: the run as its ratings name it, who rates, the judge's question."""

    run: str
    rater: str
    question: str


def rating_page(page: RatingPage, shown: Sequence[ShownEdit], read: Callable[[str], bytes]) -> str:
    """The page with these edits in this order; one that is there twice is shown twice."""
    files = list(dict.fromkeys(file for one in shown for file in (one.before, one.after)))
    with ThreadPoolExecutor() as pool:
        pictures = list(pool.map(lambda file: _data_address(read(file), file), files))
    number = {file: place for place, file in enumerate(files)}
    data = {
        "run": page.run,
        "sample": _digest(shown),
        "rater": page.rater,
        "levels": LEVELS,
        "criteria": CRITERIA,
        "pictures": pictures,
        "edits": [
            {
                **{"editor": one.editor, "case": one.case, "position": one.position, "image": one.image},
                **{"before": number[one.before], "after": number[one.after], "instruction": one.instruction},
            }
            for one in shown
        ],
    }
    shared = {"name": "Rate edits", "unit": ROUND, **style_context({}, {})}
    return Renderer(shared).render(
        "rate.html",
        data=data,
        criteria=criteria_words(page.question),
        levels=[{"value": level, "anchor": anchors(page.question).get(level, "")} for level in LEVELS],
    )


def criteria_words(question: str) -> list[dict[str, str]]:
    """Each criterion with the words in which the judge is told what it means."""
    told: dict[str, Any] = dict(re.findall(r"^- ([a-z ]+): (.+)$", question, flags=re.MULTILINE))
    missing = [name for name in CRITERIA if name.replace("_", " ") not in told]
    if missing:
        raise StudyError(f"the judge's question does not say what {missing[0].replace('_', ' ')} means")
    return [{"name": name, "title": (title := name.replace("_", " ")), "words": told[title]} for name in CRITERIA]


def anchors(question: str) -> dict[float, str]:
    """What the judge is told that a value means."""
    return {float(value): words.strip() for value, words in _ANCHOR.findall(" ".join(question.split()))}


def _digest(shown: Sequence[ShownEdit]) -> str:
    """Changes with the edits and their order: answers that a browser keeps must not go to another page's edits."""
    text = "\n".join(f"{one.editor}\t{one.case}\t{one.position}\t{one.image}" for one in shown)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _data_address(data: bytes, file: str) -> str:
    """The picture, at most `LONG_SIDE` long, as an address that the page holds itself."""
    pixels = decode(data, what=file, alpha="white").pixels
    height, width = pixels.shape[:2]
    scale = min(1.0, LONG_SIDE / max(height, width))
    if scale < 1:
        size = max(1, round(width * scale)), max(1, round(height * scale))
        pixels = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)
    _, coded = cv2.imencode(".webp", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_WEBP_QUALITY, _QUALITY])
    return f"data:image/webp;base64,{base64.b64encode(coded.tobytes()).decode()}"
