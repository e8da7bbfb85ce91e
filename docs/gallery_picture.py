"""Makes the gallery at the top of the README: python -m docs.gallery_picture [FILE].

Four results of the result pages side by side, cut out of the pictures of those pages, so each can be made again by the
command of its page.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

PICTURES = Path(__file__).resolve().parent / "pictures"
WIDTH, GAP, MARGIN, HEAD = 780, 8, 20, 54


@dataclass(frozen=True)
class Tile:
    """One result: which cells of a picture, with a label under each."""

    title: str
    picture: str
    boxes: tuple[tuple[int, int, int, int], ...]
    labels: tuple[str, ...]


def _cells(
    columns: tuple[int, ...], *, left: int, top: int, step: int, size: int
) -> tuple[tuple[int, int, int, int], ...]:
    return tuple((left + step * column, top, left + step * column + size, top + size) for column in columns)


TILES = (
    Tile(
        "Copy a photograph again and again with an autoencoder: good at first, gone after fifty",
        "hundred-steps.jpg",
        _cells((0, 1, 4, 5, 6, 7), left=88, top=16, step=144, size=140),
        ("original", "1 copy", "10 copies", "20", "50", "100"),
    ),
    Tile(
        "Add a hat and remove it, three times: each undo leaves traces",
        "demo.jpg",
        _cells((0, 1, 2, 4, 6), left=0, top=22, step=204, size=200),
        ("original", "add", "remove", "twice", "three times"),
    ),
    Tile(
        "A quality metric (PIQE, lower is better) rewards the damage",
        "audit.jpg",
        ((44, 597, 312, 865), (326, 597, 594, 865), (607, 597, 875, 865), (889, 597, 1157, 865)),
        ("step 1: 46.1", "step 5: 46.8", "step 10: 47.3", 'step 20: 21.9, "best"'),
    ),
    Tile(
        "Restore a degraded photograph: what the restorer adds was not always there",
        "restoration.jpg",
        _cells((0, 2, 5, 6), left=0, top=255, step=230, size=228),
        ("input", "unsharp", "Real-ESRGAN", "original"),
    ),
)


def draw(target: Path) -> None:
    """Two by two."""
    made = [_tile(one) for one in TILES]
    rows = [max(one.height for one in made[row : row + 2]) for row in (0, 2)]
    page = Image.new("RGB", (2 * WIDTH + 3 * MARGIN, sum(rows) + 3 * MARGIN), "white")
    for place, one in enumerate(made):
        row, column = divmod(place, 2)
        page.paste(one, (MARGIN + column * (WIDTH + MARGIN), MARGIN + row * (rows[0] + MARGIN)))
    page.save(target, quality=86)


def _tile(tile: Tile) -> Image.Image:
    count = len(tile.boxes)
    size = (WIDTH - GAP * (count - 1)) // count
    canvas = Image.new("RGB", (WIDTH, HEAD + size + 26), "white")
    pen = ImageDraw.Draw(canvas)
    pen.text((0, 8), tile.title, fill="#1a1a1a", font=ImageFont.load_default(20))
    with Image.open(PICTURES / tile.picture) as source:
        for place, (box, label) in enumerate(zip(tile.boxes, tile.labels, strict=True)):
            left = place * (size + GAP)
            part = source.convert("RGB").crop(box).resize((size, size), Image.Resampling.LANCZOS)
            canvas.paste(part, (left, HEAD - 12))
            pen.text((left, HEAD - 8 + size), label, fill="#444444", font=ImageFont.load_default(16))
    return canvas


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES / "gallery.jpg")
