"""Makes the picture of the README out of the run of `make demo`: python -m docs.demo_picture [RUN] [FILE].

One chain, step by step, by the editor that makes the whole picture anew and by the same one with paste-back.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

import convergebench as cb

CASE = "woman-with-a-camera/hat/0"
EDITORS = ("inpaint-whole", "inpaint-pasted")
HEIGHT, HEAD, GAP = 200, 22, 4


def draw(run: Path, target: Path) -> None:
    """A row per editor: the source and every step, with the instruction above each."""
    loaded = cb.load(run)
    rows = [[_small(loaded.image(CASE, step, editor=editor)) for step in range(7)] for editor in EDITORS]
    wide = rows[0][0].width + GAP
    page = Image.new("RGB", (7 * wide - GAP, len(rows) * (HEIGHT + HEAD + GAP) - GAP), "white")
    pen, font = ImageDraw.Draw(page), ImageFont.load_default(13)
    for row, pictures in enumerate(rows):
        top = row * (HEIGHT + HEAD + GAP)
        for step, picture in enumerate(pictures):
            words = "source" if step == 0 else "add hat" if step % 2 else "remove hat"
            pen.text((step * wide + 2, top + 3), words, fill="black", font=font)
            page.paste(picture, (step * wide, top + HEAD))
    page.save(target, quality=88)


def _small(picture: Image.Image) -> Image.Image:
    return picture.convert("RGB").resize(
        (round(picture.width * HEIGHT / picture.height), HEIGHT), Image.Resampling.LANCZOS
    )


if __name__ == "__main__":
    given = [*sys.argv[1:], *("runs/demo", "docs/pictures/demo.jpg")[len(sys.argv) - 1 :]]
    draw(Path(given[0]), Path(given[1]))
