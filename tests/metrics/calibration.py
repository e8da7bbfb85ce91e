"""Five pairs of images of TID2013 on which the authors of many metrics published their values.

They come with the package of pyiqa, whose licence does not let us ship them. `python -m tests.metrics.calibration`
takes them out of it (`make test` does so), and the package itself is not installed.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest

from convergebench.images.frame import Pixels
from convergebench.weights.catalogue import Weight, WeightFile, WeightSource
from convergebench.weights.fetch import fetch
from convergebench.weights.store import search

SUMS = {
    "ref_dir/I03.bmp": "28441215ca5b6358e6267717250a02eeec4fa5ef73ae454870b8426320f980a8",
    "ref_dir/I04.bmp": "c8500941a30397bc9e613a297e1286bdb955f49926148f58e7963d6e82b03c9f",
    "ref_dir/I06.bmp": "445c2c0fcb47898e9cd8e6de640f2545621d27cbb248c69ef2c84d8204723061",
    "ref_dir/I08.bmp": "b5d6738ece811f45f43c5bce425ad5d18d5c78466989001fe1129fcdd08efdab",
    "ref_dir/I19.bmp": "b8a2ede827d8db21c45f9ca1fb1c043bcec571b5a7243b4ea1aab3fb4feb7e0b",
    "dist_dir/I03.bmp": "bb817e7fef614dcc12b3a99af33ce3d201bc4d56c4827254c0bcc4fa6ea11151",
    "dist_dir/I04.bmp": "f3d685983aacd76b2c131579ea60cee345205a1169a4bd2ff5f3039ecf81729e",
    "dist_dir/I06.bmp": "726e043e99d8e07235c2535107d4bb6fc85bad0cb3cc7d6ba3ecf3364ac97539",
    "dist_dir/I08.bmp": "8ad39042d7e17d6c96ecfd8c4b9f0e98c803b303a92d368ef57bc9c3c40f5330",
    "dist_dir/I19.bmp": "e0c6000652d270d1c39b7094761d01e14695fc5aa7cb76b945be6391327ee886",
}
IMAGES = Weight(
    name="tid2013-calibration",
    about="five reference images and five damaged ones",
    licence="for research (TID2013)",
    noncommercial=True,
    files=tuple(WeightFile(path=path, sha256=checksum, size=589878) for path, checksum in SUMS.items()),
    sources=(
        WeightSource(package="pyiqa", version="0.1.16", members=tuple(f"ResultsCalibra/{path}" for path in SUMS)),
    ),
)
NAMES = ("I03", "I04", "I06", "I08", "I19")
PUBLISHED = Path(__file__).parents[1] / "golden" / "published.csv"


def calibration_pair(name: str) -> tuple[Pixels, Pixels]:
    """(reference, damaged); skips the test where the images are not here."""
    found = search(IMAGES)
    if found is None:
        pytest.skip("the calibration images are not here; type: python -m tests.metrics.calibration")
    return _read(found.path / "ref_dir" / f"{name}.bmp"), _read(found.path / "dist_dir" / f"{name}.bmp")


@cache
def published(metric: str) -> dict[str, float]:
    """Image → the value that the authors (or pyiqa, where the row says `ours`) published."""
    rows = csv.DictReader(PUBLISHED.read_text(encoding="utf-8").splitlines())
    row = next(row for row in rows if row["Method"] == metric)
    return {name: float(row[f"{name}.bmp"]) for name in NAMES}


@cache
def _read(path: Path) -> Pixels:
    picture = cv2.imread(str(path), cv2.IMREAD_COLOR)
    assert picture is not None
    return np.ascontiguousarray(picture[..., ::-1], dtype=np.uint8)


if __name__ == "__main__":
    if search(IMAGES) is None:
        fetch(IMAGES)
