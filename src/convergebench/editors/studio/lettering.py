"""Writing: drawn into a picture, put in the place of other writing, in another colour or another language."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

from convergebench.editors.instructions.vocabulary import Colour
from convergebench.editors.simulated.pixels import Pixels
from convergebench.editors.studio.answer import StudioAnswer, mixed
from convergebench.editors.studio.scene import StudioScene
from convergebench.editors.studio.task import StudioTask
from convergebench.errors import Refused

if TYPE_CHECKING:
    from convergebench.metrics.semantic._ocr import TextLine

Plane = NDArray[np.float32]
LANGUAGES = ("spanish", "french", "german", "italian")
SIGNS: dict[str, tuple[str, str, str, str]] = {
    "open": ("abierto", "ouvert", "geöffnet", "aperto"),
    "closed": ("cerrado", "fermé", "geschlossen", "chiuso"),
    "stop": ("alto", "arrêt", "halt", "alt"),
    "exit": ("salida", "sortie", "ausgang", "uscita"),
    "entrance": ("entrada", "entrée", "eingang", "entrata"),
    "sale": ("rebajas", "soldes", "ausverkauf", "saldi"),
    "welcome": ("bienvenidos", "bienvenue", "willkommen", "benvenuti"),
    "coffee": ("café", "café", "kaffee", "caffè"),
    "bread": ("pan", "pain", "brot", "pane"),
    "water": ("agua", "eau", "wasser", "acqua"),
    "hotel": ("hotel", "hôtel", "hotel", "albergo"),
    "bakery": ("panadería", "boulangerie", "bäckerei", "panetteria"),
    "books": ("libros", "livres", "bücher", "libri"),
    "danger": ("peligro", "danger", "gefahr", "pericolo"),
    "school": ("escuela", "école", "schule", "scuola"),
    "street": ("calle", "rue", "straße", "via"),
    "free": ("gratis", "gratuit", "kostenlos", "gratis"),
    "no": ("no", "non", "kein", "no"),
    "parking": ("aparcamiento", "stationnement", "parkplatz", "parcheggio"),
    "united": ("unidos", "unis", "vereinigt", "uniti"),
}
"""Words of signs in the four languages, in that order; for other words there is no translation here."""


def add_text(scene: StudioScene, task: StudioTask) -> StudioAnswer:
    """The words in the named place, or where the picture is calmest."""
    height, width = scene.shape
    colour = task.colour or _readable(scene.pixels)
    tall = 0.1 * height
    ink = _drawn(task.text, tall, task.variant)
    scale = min(1.0, 0.86 * width / ink.shape[1])
    ink = np.asarray(
        cv2.resize(
            ink,
            (max(1, round(ink.shape[1] * scale)), max(1, round(ink.shape[0] * scale))),
            interpolation=cv2.INTER_AREA,
        ),
        np.float32,
    )
    down, across = _spot(scene.pixels, ink.shape, task.place)
    amount = np.zeros(scene.shape, np.float32)
    amount[down : down + ink.shape[0], across : across + ink.shape[1]] = ink[: height - down, : width - across]
    shaded = (
        scene.pixels
        * (1 - 0.45 * cv2.GaussianBlur(np.roll(amount, 1, axis=(0, 1)), (0, 0), max(0.8, 0.05 * tall)))[..., None]
    )
    after = mixed(np.asarray(shaded.round(), np.uint8), _plain(scene.shape, colour), amount)
    return StudioAnswer(after, amount > 0.05, {"text": task.text})


def replace_text(scene: StudioScene, task: StudioTask) -> StudioAnswer:
    """Other words where the largest line of writing is."""
    line = _largest(scene)
    return _rewritten(scene, [(line, task.text)], task)


def restyle_text(scene: StudioScene, task: StudioTask) -> StudioAnswer:
    """The same words in another colour or another hand."""
    return _rewritten(scene, [(line, line.text) for line in scene.writing], task)


def translate(scene: StudioScene, task: StudioTask) -> StudioAnswer:
    """The words of signs that a small dictionary knows."""
    if task.variant not in LANGUAGES:
        raise Refused(f"sim-studio translates into {', '.join(LANGUAGES)} only", reason="unknown-language")
    place = LANGUAGES.index(task.variant)
    new = []
    for line in scene.writing:
        words = [SIGNS.get(word.lower().strip(".,!"), ("",) * 4)[place] for word in line.text.split()]
        if words and all(words):
            said = " ".join(words)
            new.append(
                (line, said.upper() if line.text.isupper() else said.capitalize() if line.text[0].isupper() else said)
            )
    if not new:
        read = ", ".join(line.text for line in scene.writing)[:80]
        raise Refused(
            f"sim-studio has a dictionary of {len(SIGNS)} words found on signs, without «{read}»", reason="unknown-word"
        )
    return _rewritten(scene, new, task)


def _rewritten(scene: StudioScene, new: list[tuple[TextLine, str]], task: StudioTask) -> StudioAnswer:
    mask = np.zeros(scene.shape, np.uint8)
    for line, _ in new:
        cv2.fillPoly(mask, [line.corners.astype(np.int32)], (255,))
    inside = mask > 0
    # a sign is plain behind its letters, so diffusion serves better than a network that would make up letters
    after = np.asarray(cv2.inpaint(scene.pixels, mask, 3, cv2.INPAINT_TELEA), np.uint8)
    for line, said in new:
        ink = _ink(scene.pixels, after, line)
        after = mixed(after, _plain(scene.shape, task.colour or ink), _warped(said, line, scene.shape, task.variant))
    return StudioAnswer(after, inside, {"read": [line.text for line, _ in new], "text": [said for _, said in new]})


def _largest(scene: StudioScene) -> TextLine:
    return max(scene.writing, key=lambda line: (line.box[2] - line.box[0]) * (line.box[3] - line.box[1]))


def _warped(text: str, line: TextLine, shape: tuple[int, int], variant: str) -> Plane:
    """The words drawn flat and laid onto the corners of a line."""
    drawn = _drawn(text, 48, variant)
    high, wide = drawn.shape
    corners = np.array([(0, 0), (wide, 0), (wide, high), (0, high)], np.float32)
    turn = cv2.getPerspectiveTransform(corners, line.corners.astype(np.float32))
    return np.asarray(np.clip(cv2.warpPerspective(drawn, turn, shape[::-1], flags=cv2.INTER_AREA), 0, 1), np.float32)


def _ink(pixels: Pixels, cleared: Pixels, line: TextLine) -> Colour:
    """The colour of a line of writing: what differs most from what diffusion puts in its place."""
    left, top, right, bottom = (round(value) for value in line.box)
    part = pixels[top : bottom + 1, left : right + 1].reshape(-1, 3).astype(np.float32)
    ground = np.median(cleared[top : bottom + 1, left : right + 1].reshape(-1, 3).astype(np.float32), axis=0)
    far = np.abs(part - ground).sum(axis=1)
    red, green, blue = np.median(part[far >= np.percentile(far, 85)], axis=0).tolist()
    return int(red), int(green), int(blue)


def _drawn(text: str, tall: float, variant: str) -> Plane:
    """The words as opacity, so many pixels high, without margins."""
    if variant == "handwritten" and text.isascii():
        size = max(0.4, tall / 26)
        (wide, high), below = cv2.getTextSize(text, cv2.FONT_HERSHEY_SCRIPT_COMPLEX, size, max(2, round(size * 2.2)))
        canvas = np.zeros((high + 2 * below + 8, wide + 12), np.uint8)
        cv2.putText(
            canvas,
            text,
            (6, high + 4),
            cv2.FONT_HERSHEY_SCRIPT_COMPLEX,
            size,
            255,
            max(2, round(size * 2.2)),
            cv2.LINE_AA,
        )
    else:
        from PIL import Image, ImageDraw, ImageFont

        font = ImageFont.load_default(max(8, round(tall)))
        left, top, right, bottom = ImageDraw.Draw(Image.new("L", (1, 1))).textbbox(
            (0, 0), text, font=font, stroke_width=1
        )
        image = Image.new("L", (max(1, int(right - left) + 2), max(1, int(bottom - top) + 2)))
        ImageDraw.Draw(image).text(
            (1 - left, 1 - top), text, fill=255, font=font, stroke_width=max(0, round(tall / 40))
        )
        canvas = np.asarray(image, np.uint8)
    rows, columns = np.nonzero(canvas)
    if not rows.size:
        raise Refused(f"sim-studio cannot draw «{text[:40]}»", reason="no-glyphs")
    return np.asarray(
        canvas[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1] / np.float32(255), np.float32
    )


def _spot(pixels: Pixels, size: tuple[int, ...], place: str | None) -> tuple[int, int]:
    """Row and column of the upper left corner."""
    height, width = pixels.shape[:2]
    named = place or ""
    free_down, free_across = max(0, height - size[0]), max(0, width - size[1])
    across = 0.05 if "left" in named else 0.95 if "right" in named else 0.5
    if named.startswith("top"):
        down = 0.06
    elif named in ("bottom", "foreground", "floor"):
        down = 0.94
    elif named == "centre":
        down = 0.5
    else:
        down = min((0.06, 0.94), key=lambda share: _busy(pixels, round(share * free_down), size[0]))
    return round(down * free_down), round(across * free_across)


def _busy(pixels: Pixels, top: int, tall: int) -> float:
    return float(pixels[top : top + tall].astype(np.float32).std())


def _readable(pixels: Pixels) -> Colour:
    return (250, 248, 240) if float(pixels.mean()) < 140 else (28, 28, 34)


def _plain(shape: tuple[int, int], colour: Colour) -> Pixels:
    return np.full((*shape, 3), colour, np.uint8)
