"""`python -m tests.same.record [NAME …] [--source FOLDER]`: remake the goldens after a deliberate change.

`--source` is the `src` folder of another checkout, to record what an older version made.
"""

from __future__ import annotations

import argparse
import json
import lzma
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.same.runs import SMALL, made

GOLDENS = Path(__file__).with_name("goldens.json.xz")


def goldens() -> dict[str, dict[str, str]]:
    """By run: every text that it made when it was recorded."""
    recorded: dict[str, dict[str, str]] = json.loads(lzma.decompress(GOLDENS.read_bytes()))
    return recorded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SMALL)}; all if none is given")
    parser.add_argument("--source", type=Path, help="src folder of the checkout to record")
    given = parser.parse_args()
    recorded = goldens() if given.names else {}
    for name in given.names or SMALL:
        with TemporaryDirectory() as folder:
            recorded[name] = made(name, Path(folder), given.source)
        print(f"{name}: {len(recorded[name])} texts")
    # one file for all: the pages of all runs share their style and scripts
    GOLDENS.write_bytes(lzma.compress(json.dumps(recorded, ensure_ascii=False).encode(), preset=9))
    print(f"{GOLDENS.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
