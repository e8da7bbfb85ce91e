"""Edits of which it is known how well they were done: one good make for each type, and faults that spoil it.

Nothing here shares code with the judge or with the simulated editors. A type that needs something in the picture to
begin with (a thing to remove, writing to replace) puts it there first, so that the edit can be perfect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from benchmarks.planted._damage import compressed
from benchmarks.planted._things import cut_out, putter
from convergebench.images.frame import Pixels

Chance = np.random.Generator


@dataclass(frozen=True)
class Photograph:
    """What edits are planted into: the picture, others to take things from, and where its person is."""

    pixels: Pixels
    others: list[Pixels]
    person: NDArray[np.bool_] | None
    """The pixels of a person; None if there is none."""
    eyes: NDArray[np.float32] | None
    """Middles of both eyes of the largest face."""
    mouth: NDArray[np.float32] | None
    """Corners of its mouth."""
    thing: NDArray[np.bool_]
    """The pixels of the main object."""


@dataclass(frozen=True)
class PlantedEdit:
    """One edit and its input."""

    edit_type: str
    instruction: str
    before: Pixels
    after: Pixels
    elsewhere: Pixels | None = None
    """The same edit in the wrong place or direction."""


Make = Callable[[Photograph, Chance], PlantedEdit | None]


def whole(values: NDArray[np.floating]) -> Pixels:
    """As pixels."""
    return np.asarray(np.clip(np.rint(values), 0, 255), np.uint8)


def _lab(pixels: Pixels) -> NDArray[np.float32]:
    return np.asarray(cv2.cvtColor(pixels.astype(np.float32) / 255, cv2.COLOR_RGB2LAB), np.float32)


def _rgb(lab: NDArray[np.float32]) -> Pixels:
    return whole(np.asarray(cv2.cvtColor(lab, cv2.COLOR_LAB2RGB), np.float32) * 255)


def toned(pixels: Pixels, light: float, a: float, b: float, colour: float = 1.0) -> Pixels:
    """Lightness, a* and b* moved, and chroma scaled."""
    lab = _lab(pixels)
    lab[..., 1:] *= colour
    return _rgb(lab + np.array([light, a, b], np.float32))


def _tone(photo: Photograph, chance: Chance) -> PlantedEdit:
    sign, word = ((1, "warm, golden"), (-1, "cool, bluish"))[int(chance.integers(2))]
    strength = float(chance.uniform(8, 14))
    make = [toned(photo.pixels, 0, turn * sign * strength / 4, turn * sign * strength) for turn in (1, -1)]
    return PlantedEdit("color-tone", f"Give the whole photograph a {word} color tone.", photo.pixels, *make)


def _grain(photo: Photograph, chance: Chance) -> PlantedEdit:
    noise = chance.normal(0, float(chance.uniform(7, 12)), photo.pixels.shape[:2])[..., None]
    after = whole(photo.pixels + np.asarray(cv2.GaussianBlur(noise, (0, 0), 0.5))[..., None])
    return PlantedEdit("film-grain", "Add visible analog film grain to the photo.", photo.pixels, after)


def _two_spots(chance: Chance) -> tuple[tuple[float, float], tuple[float, float], str]:
    left = float(chance.uniform(0.18, 0.3)), float(chance.uniform(0.3, 0.75))
    right = float(chance.uniform(0.7, 0.82)), float(chance.uniform(0.3, 0.75))
    return (left, right, "left") if chance.random() < 0.5 else (right, left, "right")


def _add(photo: Photograph, chance: Chance) -> PlantedEdit:
    thing, size = cut_out(photo.others, chance), float(chance.uniform(0.2, 0.36))
    spot, other, side = _two_spots(chance)
    made = [putter(thing, one, None, size)(photo.pixels) for one in (spot, other)]
    words = f"Add a small round cushion on the {side} side of the picture."
    return PlantedEdit("add-object", words, photo.pixels, *made)


def _remove(photo: Photograph, chance: Chance) -> PlantedEdit:
    thing, size = cut_out(photo.others, chance), float(chance.uniform(0.2, 0.36))
    spot, other, side = _two_spots(chance)
    before = putter(thing, spot, None, size)(photo.pixels)
    wrong = putter(cut_out(photo.others, chance), other, None, size)(before)
    return PlantedEdit("remove-object", f"Remove the round object on the {side}.", before, photo.pixels, wrong)


def _replace(photo: Photograph, chance: Chance) -> PlantedEdit:
    first, second = cut_out(photo.others, chance), cut_out(photo.others, chance)[:, ::-1]
    spot, other, side = _two_spots(chance)
    before = putter(first, spot, None, 0.3)(photo.pixels)
    made = [putter(255 - second, one, None, 0.3)(before) for one in (spot, other)]
    return PlantedEdit("replace-object", f"Replace the round object on the {side} with a vase.", before, *made)


def _move(photo: Photograph, chance: Chance) -> PlantedEdit:
    thing = cut_out(photo.others, chance)
    spot, other, _ = _two_spots(chance)
    before, after = (putter(thing, one, None, 0.28)(photo.pixels) for one in (spot, other))
    return PlantedEdit("relocate-object", "Move the round object to the opposite side.", before, after)


def _resize(photo: Photograph, chance: Chance) -> PlantedEdit:
    thing = cut_out(photo.others, chance)
    spot, _, side = _two_spots(chance)
    before, after = (putter(thing, spot, None, size)(photo.pixels) for size in (0.2, 0.36))
    return PlantedEdit("reshape-object", f"Make the round object on the {side} much larger.", before, after)


def _recolour(photo: Photograph, chance: Chance) -> PlantedEdit:
    spot, other, side = _two_spots(chance)
    made = [_oval_recoloured(photo.pixels, one) for one in (spot, other)]
    return PlantedEdit("change-attribute", f"Change the color of the thing on the {side}.", photo.pixels, *made)


def _oval_recoloured(pixels: Pixels, spot: tuple[float, float]) -> Pixels:
    height, width = pixels.shape[:2]
    rows, columns = np.ogrid[:height, :width]
    away = np.hypot((rows / height - spot[1]) / 0.18, (columns / width - spot[0]) / 0.15)
    weight = np.clip((1 - away) / 0.1, 0, 1)[..., None].astype(np.float32)
    lab = _lab(pixels)
    target = np.stack([lab[..., 0], -lab[..., 2] + 28, lab[..., 1] - 30], -1)
    return _rgb(lab + (target - lab) * weight)


def _background(photo: Photograph, chance: Chance) -> PlantedEdit | None:
    if not 0.04 < photo.thing.mean() < 0.75:
        return None
    size = photo.pixels.shape[1], photo.pixels.shape[0]
    scene = cv2.GaussianBlur(cv2.resize(photo.others[int(chance.integers(len(photo.others)))], size), (0, 0), 1)
    soft = cv2.GaussianBlur(photo.thing.astype(np.float32), (0, 0), 1.2)[..., None]
    after = whole(photo.pixels * soft + scene * (1 - soft))
    wrong = whole(photo.pixels * (1 - soft) + scene * soft)
    return PlantedEdit("new-background", "Place the main subject in a new outdoor scene.", photo.pixels, after, wrong)


def _winter(photo: Photograph, chance: Chance) -> PlantedEdit:
    height, width = photo.pixels.shape[:2]
    snow = (chance.random((height, width)) > 0.99).astype(np.float32)
    flakes = np.clip(cv2.GaussianBlur(snow, (0, 0), 1.0) * 5, 0, 0.8)[..., None]
    pale = toned(photo.pixels, float(chance.uniform(7, 11)), -1, float(chance.uniform(-11, -7)), 0.5).astype(np.float32)
    words = "Turn it into a snowy winter scene with cold light."
    return PlantedEdit("change-season", words, photo.pixels, whole(pale + (245 - pale) * flakes))


def _fog(photo: Photograph, chance: Chance) -> PlantedEdit:
    thickness = np.linspace(float(chance.uniform(0.5, 0.65)), 0.2, photo.pixels.shape[0])[:, None, None]
    after = whole(photo.pixels * (1 - thickness) + np.array([205, 210, 215]) * thickness)
    return PlantedEdit("change-weather", "Make it a foggy morning.", photo.pixels, after)


def _golden(photo: Photograph, chance: Chance) -> PlantedEdit:
    strength = float(chance.uniform(10, 16))
    after, wrong = (toned(photo.pixels, 2 * sign, sign * strength / 3, sign * strength) for sign in (1, -1))
    return PlantedEdit("change-lighting", "Relight the scene with golden hour sunlight.", photo.pixels, after, wrong)


def _painted(photo: Photograph, chance: Chance) -> PlantedEdit:
    strokes = cv2.stylization(np.ascontiguousarray(photo.pixels), sigma_s=40, sigma_r=0.5)
    after = toned(np.asarray(strokes, np.uint8), 2, 3, 5, 1.5)
    return PlantedEdit("art-style", "Repaint the picture as an oil painting.", photo.pixels, after)


def cartoon(pixels: Pixels) -> Pixels:
    """Flat colours and dark outlines."""
    flat = np.asarray(cv2.pyrMeanShiftFiltering(np.ascontiguousarray(pixels), 10, 28), np.float32)
    grey = cv2.medianBlur(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), 5)
    lines = cv2.adaptiveThreshold(grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 9, 5) / 255.0
    return whole(np.rint(flat / 32) * 32 * (0.25 + 0.75 * lines[..., None]))


def _sketched(photo: Photograph, chance: Chance) -> PlantedEdit:
    if chance.random() < 0.5:
        words, after = "Turn the photo into a flat comic cartoon.", cartoon(photo.pixels)
    else:
        grey = cv2.cvtColor(photo.pixels, cv2.COLOR_RGB2GRAY)
        soft = cv2.GaussianBlur(grey, (0, 0), 6)
        pencil = np.asarray(cv2.divide(grey, soft, scale=245), np.uint8)
        words, after = "Turn the photo into a pencil sketch.", np.repeat(pencil[..., None], 3, axis=2)
    return PlantedEdit("cartoon-or-sketch", words, photo.pixels, after)


def _old(photo: Photograph, chance: Chance) -> PlantedEdit:
    sepia = toned(photo.pixels, -3, 5, 16, 0.15)
    noise = chance.normal(0, 4, photo.pixels.shape[:2])[..., None]
    return PlantedEdit(
        "modern-or-historical", "Give it the look of a photo from 1900.", photo.pixels, whole(sepia + noise)
    )


def written(pixels: Pixels, text: str, spot: tuple[float, float], colour: tuple[int, int, int]) -> Pixels:
    """With a line of print on a pale label, around its middle."""
    out = pixels.copy()
    scale = 0.0025 * min(pixels.shape[:2])
    (width, height), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, scale, 2)
    x = int(np.clip(spot[0] * pixels.shape[1] - width / 2, 6, max(6, pixels.shape[1] - width - 6)))
    y = int(np.clip(spot[1] * pixels.shape[0], height + 8, pixels.shape[0] - 8))
    cv2.putText(out, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, scale, (245, 245, 245), 6, cv2.LINE_AA)
    cv2.putText(out, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, scale, colour, 2, cv2.LINE_AA)
    return out


def _new_text(photo: Photograph, chance: Chance) -> PlantedEdit:
    after, wrong = (written(photo.pixels, "OPEN TODAY", (0.5, down), (150, 20, 20)) for down in (0.18, 0.85))
    words = "Add the words OPEN TODAY in the upper part of the picture."
    return PlantedEdit("add-text", words, photo.pixels, after, wrong)


def _other_text(photo: Photograph, chance: Chance) -> PlantedEdit:
    spot = 0.5, float(chance.uniform(0.3, 0.8))
    before, after = (written(photo.pixels, text, spot, (20, 20, 120)) for text in ("COFFEE", "MARKET"))
    wrong = _oval_recoloured(before, (0.5, (spot[1] + 0.5) % 1))
    return PlantedEdit("replace-text", "Replace the word COFFEE with MARKET.", before, after, wrong)


def _other_print(photo: Photograph, chance: Chance) -> PlantedEdit:
    spot = 0.5, float(chance.uniform(0.3, 0.8))
    before, after = (written(photo.pixels, "COFFEE", spot, colour) for colour in ((20, 20, 120), (220, 30, 30)))
    return PlantedEdit("restyle-text", "Change the color of the writing to red.", before, after)


def _glasses(photo: Photograph, chance: Chance) -> PlantedEdit | None:
    if photo.eyes is None:
        return None
    after, wrong = photo.pixels.copy(), photo.pixels.copy()
    apart = float(np.linalg.norm(photo.eyes[1] - photo.eyes[0]))
    height, width = photo.pixels.shape[:2]
    for number, eye in enumerate(photo.eyes):
        centre = round(float(eye[0])), round(float(eye[1]))
        cv2.ellipse(after, centre, (round(apart * 0.42), round(apart * 0.34)), 0, 0, 360, (25, 25, 30), -1, cv2.LINE_AA)
        corner = round(width * 0.08 + apart * number), round(height * 0.92)
        cv2.ellipse(wrong, corner, (round(apart * 0.42), round(apart * 0.34)), 0, 0, 360, (25, 25, 30), -1, cv2.LINE_AA)
    return PlantedEdit("accessories", "Put dark sunglasses on the person.", photo.pixels, after, wrong)


def _smile(photo: Photograph, chance: Chance) -> PlantedEdit | None:
    if photo.mouth is None:
        return None
    left, right = photo.mouth
    width = float(np.linalg.norm(right - left))
    if width < 14:
        return None
    rows, columns = np.mgrid[0 : photo.pixels.shape[0], 0 : photo.pixels.shape[1]].astype(np.float32)
    lift = np.zeros_like(rows)
    for corner in (left, right):
        lift += np.exp(-((rows - corner[1]) ** 2 + (columns - corner[0]) ** 2) / (2 * (width * 0.3) ** 2))
    moved = cv2.remap(photo.pixels, columns, rows + lift * np.float32(width * 0.3), cv2.INTER_CUBIC, borderMode=2)
    return PlantedEdit("expression", "Make the person smile.", photo.pixels, np.asarray(moved, np.uint8))


def _anime(photo: Photograph, chance: Chance) -> PlantedEdit | None:
    if photo.person is None or not 0.05 < photo.person.mean() < 0.9:
        return None
    soft = cv2.GaussianBlur(photo.person.astype(np.float32), (0, 0), 1.5)[..., None]
    drawn = toned(cartoon(photo.pixels), 5, 0, 0, 1.3)
    after, wrong = whole(drawn * soft + photo.pixels * (1 - soft)), whole(photo.pixels * soft + drawn * (1 - soft))
    return PlantedEdit("anime-person", "Turn the person into an anime drawing.", photo.pixels, after, wrong)


def _zoomed(photo: Photograph, chance: Chance) -> PlantedEdit:
    after = cut(photo.pixels, float(chance.uniform(1.4, 2.0)))
    return PlantedEdit("zoom-in", "Zoom in on the middle of the picture.", photo.pixels, after)


def _extended(photo: Photograph, chance: Chance) -> PlantedEdit:
    height, width = photo.pixels.shape[:2]
    inner = float(chance.uniform(0.65, 0.8))
    left, top = round(width * float(chance.uniform(0, 1 - inner))), round(height * (1 - inner) / 2)
    before = photo.pixels[top : top + round(height * inner), left : left + round(width * inner)]
    return PlantedEdit("outpaint", "Extend the canvas on all sides.", np.ascontiguousarray(before), photo.pixels)


def cut(pixels: Pixels, zoom: float) -> Pixels:
    """The middle, enlarged to the whole size."""
    height, width = pixels.shape[:2]
    tall, wide = round(height / zoom), round(width / zoom)
    top, left = (height - tall) // 2, (width - wide) // 2
    part = pixels[top : top + tall, left : left + wide]
    return np.asarray(cv2.resize(part, (width, height), interpolation=cv2.INTER_CUBIC), np.uint8)


MAKES: tuple[Make, ...] = (
    *(_tone, _grain, _add, _remove, _replace, _move, _resize, _recolour, _background, _winter, _fog, _golden),
    *(_painted, _sketched, _old, _new_text, _other_text, _other_print, _glasses, _smile, _anime, _zoomed, _extended),
)


def any_turn(pixels: Pixels, chance: Chance) -> PlantedEdit:
    """Any sound edit that can be made of every picture: one turn of a session."""
    photo = Photograph(pixels, [pixels[:, ::-1]], None, None, None, np.zeros(pixels.shape[:2], np.bool_))
    makes = (_tone, _grain, _add, _recolour, _winter, _fog, _golden, _painted, _sketched, _old, _new_text)
    return makes[int(chance.integers(len(makes)))](photo, chance)


COLOURS_FREE = frozenset({"color-tone", "change-season", "change-weather", "change-lighting", "film-grain"})
"""Types of the whole picture in which a tint is no plain fault; nor is it in styles."""
STYLES = frozenset({"art-style", "cartoon-or-sketch", "modern-or-historical"})


def faults(edit: PlantedEdit, photo: Photograph, chance: Chance) -> dict[str, Pixels]:
    """What an editor might return instead, by name; only what is plainly wrong for the type."""
    before, after = edit.before, edit.after
    height, width = after.shape[:2]
    made: dict[str, Pixels] = {"nothing": before, "nothing, recompressed": compressed(before, 70)}
    other = photo.others[int(chance.integers(len(photo.others)))]
    made["other picture"] = np.asarray(cv2.resize(other, (width, height), interpolation=cv2.INTER_AREA), np.uint8)
    made["blurred"] = np.asarray(cv2.GaussianBlur(after, (0, 0), 2.2), np.uint8)
    if edit.edit_type != "film-grain":
        made["noisy"] = whole(after + chance.normal(0, 18, after.shape))
    if edit.edit_type not in COLOURS_FREE | STYLES:
        made["tinted"] = toned(after, -4, -14, 9)
    if before.shape == after.shape:
        if edit.edit_type != "zoom-in":
            made["too weak"] = whole(before + (after.astype(np.float64) - before) * 0.12)
            made["cropped"] = cut(after, 1.25)
        dotted = before.copy()
        cv2.circle(dotted, (width // 3, height // 2), 2, (255, 0, 0), -1)
        made["a dot"] = dotted
    made["a seam"] = _with_patch(after, chance)
    if edit.elsewhere is not None:
        made["wrong place"] = edit.elsewhere
    return made


def _with_patch(pixels: Pixels, chance: Chance) -> Pixels:
    """With a rectangle of another tone and sharp sides, as a badly pasted patch leaves it."""
    height, width = pixels.shape[:2]
    tall, wide = round(height * float(chance.uniform(0.35, 0.5))), round(width * float(chance.uniform(0.35, 0.5)))
    top, left = int(chance.integers(height - tall)), int(chance.integers(width - wide))
    out = pixels.copy()
    part = out[top : top + tall, left : left + wide]
    part[:] = whole(part * 0.86 + (12 if part.mean() < 128 else -4))
    return out
