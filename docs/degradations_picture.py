"""Makes the picture of docs/degradations.md: python -m docs.degradations_picture [FILE].

Two photographs of the suite `builtin`, free of rights, cut to squares: each clean and after every degradation.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from convergebench.degradations import load_degradation
from convergebench.degradations.pictures import spoilt
from convergebench.images.decode import decode
from convergebench.images.sized import square
from convergebench.images.suite import load_suite
from convergebench.registry import names

PICTURES = {"tortoiseshell-cat": 1024, "astronaut": 512}
"""Id → side of the square."""
SIDE, HEAD, GAP, COLUMNS = 264, 22, 6, 3
SEED = 6


def draw(target: Path) -> None:
    """A block of nine per photograph: the clean one first."""
    images = {image.id: image for image in load_suite("builtin", partial=True).images}
    pen_font = ImageFont.load_default(14)
    wide, high = SIDE + GAP, SIDE + HEAD + GAP
    page = Image.new("RGB", (len(PICTURES) * (COLUMNS * wide + GAP) - 2 * GAP, 3 * high - GAP), "white")
    pen = ImageDraw.Draw(page)
    for block, (id, side) in enumerate(PICTURES.items()):
        image = images[id]
        clean = decode(square(image.read(), side, image.focus)).pixels
        spoils = [load_degradation(name) for name in names("degradations")]
        copies = [spoilt(image, clean, spoil, severity=1, seed=SEED) for spoil in spoils]
        for place, (words, pixels) in enumerate(
            zip(["Clean", *(one.title for one in spoils)], [clean, *copies], strict=True)
        ):
            left, top = block * (COLUMNS * wide + GAP) + place % COLUMNS * wide, place // COLUMNS * high
            pen.text((left + 1, top + 3), words, fill="black", font=pen_font)
            small = Image.fromarray(pixels).resize((SIDE, SIDE), Image.Resampling.LANCZOS)
            page.paste(small, (left, top + HEAD))
    page.save(target, quality=76, optimize=True)


if __name__ == "__main__":
    draw(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures/degradations.jpg"))
