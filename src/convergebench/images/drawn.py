"""Pictures the package draws itself, drawn once and kept.

When several are missing, helper processes draw them. They are plain interpreters that run this module: unlike
`multiprocessing` they need no guard in the caller's script and inherit no threads.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from convergebench.folders import cache_folder
from convergebench.images.cache import Kept, find, keep, read_kept
from convergebench.types import Kind, SourceImage

_LOG = logging.getLogger(__name__)

LICENCE = "CC0-1.0"
_WORTH_HELPERS = 4


@dataclass(frozen=True, slots=True)
class Drawing:
    """Everything that fixes one drawn picture."""

    recipe: str
    seed: int
    width: int
    height: int

    @property
    def key(self) -> str:
        """Its name in the cache."""
        return f"{self.recipe}-{self.seed}-{self.width}x{self.height}"


def drawing_bytes(drawing: Drawing) -> bytes:
    """Draw it now, as PNG."""
    from convergebench.images.encode import encode_png
    from convergebench.images.pictures import render

    pixels = render(drawing.recipe, seed=drawing.seed, width=drawing.width, height=drawing.height)
    return encode_png(pixels, compression=3)


def keep_drawings(drawings: Sequence[Drawing]) -> list[Kept]:
    """All drawings, out of the cache or drawn into it now, in the order given."""
    if not drawings:
        return []
    folder = _folder()
    missing = [drawing for drawing in drawings if find(folder, drawing.key) is None]
    if missing:
        _LOG.info("drawing %d pictures into %s; this happens once", len(missing), folder)
    if len(missing) >= _WORTH_HELPERS:
        _draw_with_helpers(missing)
    return [find(folder, drawing.key) or _draw(drawing, folder) for drawing in drawings]


def drawn_image(drawing: Drawing, kept: Kept, *, id: str, kind: Kind) -> SourceImage:
    """A drawing as a suite's image."""
    return SourceImage(
        id=id,
        kind=kind,
        sha256=kept.sha256,
        width=drawing.width,
        height=drawing.height,
        licence=LICENCE,
        source=f"drawn: recipe {drawing.recipe}, seed {drawing.seed}, renderer {kept.path.parent.name[1:]}",
        read=partial(read_kept, kept, partial(drawing_bytes, drawing)),
    )


def _folder() -> Path:
    from convergebench.images.pictures import RENDERER_VERSION

    return cache_folder() / "pictures" / f"v{RENDERER_VERSION}"


def _draw(drawing: Drawing, folder: Path) -> Kept:
    return keep(folder, drawing.key, data=drawing_bytes(drawing))


def _draw_with_helpers(drawings: Sequence[Drawing]) -> None:
    """Best effort: whatever a helper leaves undone is drawn by the caller, where errors can be told properly."""
    count = min(os.cpu_count() or 1, 8, len(drawings))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    helpers = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "convergebench.images.drawn",
                json.dumps([asdict(one) for one in drawings[k::count]]),
            ],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for k in range(count)
    ]
    try:
        for helper in helpers:
            helper.wait()
    finally:
        for helper in helpers:
            helper.kill()
            helper.wait()


def main(arguments: Sequence[str]) -> None:
    """What a helper does: draw the pictures named on its command line."""
    folder = _folder()
    for fields in json.loads(arguments[0]):
        drawing = Drawing(**fields)
        if find(folder, drawing.key) is None:
            _draw(drawing, folder)


if __name__ == "__main__":
    main(sys.argv[1:])
