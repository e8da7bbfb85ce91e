"""The objects that can be added: how each is drawn, where it is placed, how large it is.

`anchor` is the position in the picture (a part of a face, or a spot in a scene); `size` is the sprite's width, in face
widths for worn objects, else as a share of the shorter image side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import cv2
import numpy as np

from convergebench.editors.simulated.objects import animals, fruit, hair, house, jewellery, plants, toys, worn
from convergebench.editors.simulated.objects.canvas import MARGIN, RESOLUTION, Colour, Sprite

Anchor = Literal[
    "eyes",
    "head",
    "cap",
    "ears",
    "neck",
    "scarf",
    "collar",
    "jaw",
    "lip",
    "over-ears",
    "wrist",
    "floor",
    "table",
    "wall",
    "air",
    "hand",
]
WORN: frozenset[str] = frozenset({"eyes", "head", "cap", "ears", "neck", "scarf", "collar", "jaw", "lip", "over-ears"})


@dataclass(frozen=True, slots=True)
class DrawnObject:
    """One object that can be added."""

    draw: Callable[[Colour], Sprite]
    colour: Colour
    anchor: Anchor
    size: float


THINGS: dict[str, DrawnObject] = {
    "glasses": DrawnObject(worn.glasses, (38, 34, 36), "eyes", 1.02),
    "sunglasses": DrawnObject(worn.sunglasses, (24, 22, 24), "eyes", 1.06),
    "hat": DrawnObject(worn.hat, (122, 92, 66), "head", 1.95),
    "cap": DrawnObject(worn.cap, (44, 74, 132), "cap", 1.32),
    "earrings": DrawnObject(jewellery.earrings, jewellery.GOLD, "ears", 1.12),
    "necklace": DrawnObject(jewellery.necklace, jewellery.GOLD, "neck", 0.98),
    "scarf": DrawnObject(worn.scarf, (168, 44, 48), "scarf", 1.5),
    "bow tie": DrawnObject(worn.bow_tie, (34, 34, 42), "collar", 0.72),
    "tie": DrawnObject(worn.tie, (44, 62, 116), "collar", 0.42),
    "headphones": DrawnObject(worn.headphones, (46, 46, 52), "over-ears", 1.3),
    "watch": DrawnObject(jewellery.watch, (74, 48, 32), "wrist", 0.17),
    "beard": DrawnObject(hair.beard, (70, 50, 38), "jaw", 0.98),
    "moustache": DrawnObject(hair.moustache, (62, 44, 34), "lip", 0.52),
    "chair": DrawnObject(house.chair, (158, 108, 64), "floor", 0.33),
    "lamp": DrawnObject(house.lamp, (242, 222, 172), "table", 0.22),
    "candle": DrawnObject(house.candle, (244, 238, 222), "table", 0.14),
    "cup": DrawnObject(house.cup, (244, 242, 238), "table", 0.22),
    "book": DrawnObject(house.book, (124, 40, 44), "table", 0.38),
    "umbrella": DrawnObject(house.umbrella, (176, 40, 52), "hand", 0.44),
    "ball": DrawnObject(toys.ball, (206, 34, 34), "floor", 0.20),
    "balloon": DrawnObject(toys.balloon, (214, 44, 60), "air", 0.19),
    "bottle": DrawnObject(toys.bottle, (46, 96, 66), "table", 0.12),
    "gift": DrawnObject(toys.gift, (168, 44, 60), "table", 0.22),
    "clock": DrawnObject(toys.clock, (92, 66, 46), "wall", 0.20),
    "plant": DrawnObject(plants.plant, plants.LEAF, "floor", 0.34),
    "vase": DrawnObject(plants.vase, (70, 110, 160), "table", 0.27),
    "cat": DrawnObject(animals.cat, (150, 112, 78), "floor", 0.30),
    "dog": DrawnObject(animals.dog, (158, 106, 58), "floor", 0.31),
    "bird": DrawnObject(animals.bird, (86, 120, 168), "table", 0.16),
}

_APPLE, _PEAR, _BANANA, _BUNCH, _BERRY = fruit.apple, fruit.pear, fruit.banana, fruit.bunch, fruit.berry
_ROUND, _MELON, _PINE = fruit.citrus, fruit.melon, fruit.pineapple
FRUITS: dict[str, tuple[Callable[[Colour], Sprite], Colour, float]] = {
    "apple": (_APPLE, (196, 36, 40), 0.17),
    "pear": (_PEAR, (196, 196, 70), 0.13),
    "banana": (_BANANA, (246, 214, 70), 0.24),
    "grapes": (_BUNCH, (104, 58, 124), 0.16),
    "strawberry": (_BERRY, (208, 36, 46), 0.09),
    "pineapple": (_PINE, (222, 164, 56), 0.15),
    "watermelon": (_MELON, (64, 128, 62), 0.27),
    "melon": (_MELON, (214, 200, 110), 0.22),
    "orange": (_ROUND, (244, 142, 34), 0.14),
    "lemon": (_MELON, (248, 222, 68), 0.13),
    "lime": (_ROUND, (128, 184, 58), 0.11),
    "grapefruit": (_ROUND, (246, 156, 98), 0.16),
    "mandarin": (_ROUND, (248, 138, 30), 0.12),
    "peach": (_APPLE, (248, 172, 116), 0.14),
    "apricot": (_ROUND, (248, 172, 84), 0.10),
    "nectarine": (_APPLE, (222, 92, 62), 0.13),
    "plum": (_APPLE, (104, 48, 98), 0.11),
    "cherry": (_BUNCH, (176, 20, 40), 0.11),
    "mango": (_PEAR, (240, 158, 58), 0.16),
    "papaya": (_PEAR, (232, 152, 62), 0.18),
    "kiwi": (_ROUND, (128, 98, 56), 0.11),
    "pomegranate": (_APPLE, (182, 40, 54), 0.15),
    "fig": (_PEAR, (92, 58, 98), 0.10),
    "quince": (_PEAR, (230, 204, 80), 0.14),
    "coconut": (_ROUND, (112, 80, 54), 0.17),
    "avocado": (_PEAR, (72, 96, 50), 0.13),
    "raspberry": (_BERRY, (206, 56, 88), 0.08),
    "blackberry": (_BUNCH, (46, 34, 58), 0.09),
    "blueberry": (_ROUND, (70, 86, 150), 0.06),
    "cranberry": (_ROUND, (170, 30, 44), 0.06),
    "gooseberry": (_ROUND, (168, 190, 92), 0.06),
    "currant": (_BUNCH, (190, 24, 38), 0.10),
    "dragon fruit": (_BERRY, (222, 62, 122), 0.16),
    "passion fruit": (_ROUND, (96, 52, 88), 0.10),
    "guava": (_PEAR, (150, 184, 90), 0.13),
    "lychee": (_ROUND, (206, 82, 90), 0.08),
    "persimmon": (_APPLE, (240, 122, 40), 0.13),
    "starfruit": (_MELON, (226, 204, 66), 0.13),
    "durian": (_PINE, (150, 140, 62), 0.19),
    "jackfruit": (_MELON, (150, 150, 66), 0.25),
}
for _name, (_draw, _colour, _size) in FRUITS.items():
    THINGS[_name] = DrawnObject(_draw, _colour, "table", _size)


@lru_cache(maxsize=128)
def drawing(name: str, colour: Colour) -> Sprite:
    """The object in full size, cached."""
    sprite = THINGS[name].draw(colour)
    sprite.setflags(write=False)
    return sprite


@lru_cache(maxsize=256)
def sprite(name: str, colour: Colour, width: int) -> Sprite:
    """The object `width` pixels wide, plus its margin."""
    full = drawing(name, colour)
    scale = width / RESOLUTION
    size = (max(1, round(full.shape[1] * scale)), max(1, round(full.shape[0] * scale)))
    small = np.asarray(
        cv2.resize(full, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR), np.float32
    )
    small.setflags(write=False)
    return small


def aspect(name: str) -> float:
    """Height over width of an object, without its margin."""
    full = drawing(name, THINGS[name].colour)
    return float(full.shape[0] / RESOLUTION - 2 * MARGIN)
