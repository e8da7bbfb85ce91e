"""What a store costs a run: python -m benchmarks.storage [--images 300] [--write] [--json]

Measured: storing and reading images of a run without a store, next to the same steps written down plainly; commits of a
run with a store in memory and in a folder, next to one without; bytes that the backup of the journal sends, next to a
full copy. Repetitions are interleaved; the figures are ratios. `--write` puts the table into docs/design/storage.md.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import statistics
import tempfile
import time
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from convergebench.ids import image_id
from convergebench.store.images import file_of, open_images, write_synced
from convergebench.store.remote import keeper
from convergebench.store.remote.files import RemoteFiles
from convergebench.store.run import Run
from convergebench.store.tables import ImageRow
from docs.pages.markdown import fill

PAGE = Path(__file__).resolve().parents[1] / "docs" / "design" / "storage.md"
REPEATS = 7
PNG = "image/png"
BYTES = 100_000


def ratio(
    one: Callable[[int], object],
    other: Callable[[int], object],
    repeats: int = REPEATS,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Seconds of `one` per second of `other`, in turns so that both meet the same load; the median of the quotients."""
    quotients = []
    for turn in range(repeats + 1):
        seconds = []
        for work in (one, other) if turn % 2 else (other, one):
            begun = clock()
            work(turn)
            seconds.append(clock() - begun)
        mine, theirs = seconds if turn % 2 else reversed(seconds)
        quotients.append(mine / theirs)
    return statistics.median(quotients[1:])


def pictures(count: int, seed: int) -> list[bytes]:
    return [f"{seed} {number} ".encode() + os.urandom(BYTES) for number in range(count)]


def local_images(folder: Path, count: int) -> dict[str, float]:
    """The store of a run in a folder, and the same steps without it."""
    store, plain = open_images(folder / "store"), folder / "plain"
    made = {turn: pictures(count, turn) for turn in range(REPEATS + 1)}

    def put(turn: int) -> None:
        for data in made[turn]:
            store.put(data, PNG)

    def put_plainly(turn: int) -> None:
        for data in made[turn]:
            path = plain / file_of(image_id(data), PNG)
            if not path.exists():
                path.is_dir()
                write_synced(path, data)

    writing = ratio(put, put_plainly, clock=time.process_time)
    files = [file_of(image_id(data), PNG) for data in made[0]]

    def read(turn: int) -> None:
        for file in files:
            store.read(file)

    def read_plainly(turn: int) -> None:
        for file in files:
            (plain / file).stat()
            assert image_id((plain / file).read_bytes())[3:5] == file[7:9]

    return {
        "store an image, no store": writing,
        "read an image, no store": ratio(read, read_plainly, clock=time.process_time),
    }


def commits(folder: Path, count: int, url: str) -> float:
    """An image with its row, in a run with a store and in one without, by turns; uploads are made meanwhile."""
    seconds: dict[str, list[float]] = {"kept": [], "local": []}
    with Run.create(folder / "kept") as kept, Run.create(folder / "local") as local:
        kept.keep_at(url)
        for number, data in enumerate(pictures(REPEATS * count, 100)):
            both = [("kept", kept), ("local", local)]
            for name, run in both if number % 2 else reversed(both):
                begun = time.perf_counter()
                identity = run.images.put(data, PNG)
                run.journal.commit_now([ImageRow(identity, file_of(identity, PNG), PNG, 1, 1, len(data))])
                seconds[name].append(time.perf_counter() - begun)
    return statistics.median(seconds["kept"]) / statistics.median(seconds["local"])


def copied(path: Path) -> bytes:
    """A consistent copy of a database, by SQLite's backup API."""
    with (
        closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as live,
        closing(sqlite3.connect(":memory:")) as copy,
    ):
        live.backup(copy)
        return copy.serialize()


def sent(folder: Path) -> float:
    """Bytes of the journal's backups while a journal of 50,000 rows grows slowly, next to as many full copies."""
    written, heads, real = [0], [0], RemoteFiles.write

    def counting(self: RemoteFiles, name: str, data: bytes) -> None:
        written[0] += len(data) if name.startswith("journal/") else 0
        heads[0] += "/head-" in name
        real(self, name, data)

    def grow(run: Run, first: int, count: int) -> None:
        names = [image_id(str(number).encode()) for number in range(first, first + count)]
        run.journal.commit_now([ImageRow(name, file_of(name, PNG), PNG, 1, 1, 9) for name in names])

    with Run.create(folder / "run") as run:
        grow(run, 0, 50_000)
    keeper.INTERVAL = 0.5
    RemoteFiles.write = counting  # type: ignore[method-assign]
    try:
        with Run(folder / "run") as run:
            run.keep_at(f"file://{folder}/store")
            while not heads[0]:
                time.sleep(0.1)
            written[0] = heads[0] = 0
            for number in range(40):
                grow(run, 50_000 + 5 * number, 5)
                time.sleep(0.1)
    finally:
        RemoteFiles.write = real  # type: ignore[method-assign]
    return written[0] / heads[0] / len(zlib.compress(copied(folder / "run" / "run.sqlite"), 1))


def measured(count: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["CONVERGEBENCH_CACHE"] = str(folder / "cache")
        found = local_images(folder / "images", count)
        found["commit an image, store in memory, of one without"] = commits(folder / "m", count, "memory://bench")
        file = f"file://{folder}/f-store"
        found["commit an image, store on the same disk, of one without"] = commits(folder / "f", count, file)
        (folder / "s").mkdir()
        found["bytes of a backup of the journal, of a full copy"] = sent(folder / "s")
        return found


def table(found: dict[str, float]) -> str:
    lines = ["| what | ratio |", "| --- | --- |", *(f"| {what} | {value:.2f} |" for what, value in found.items())]
    return "\n".join(lines) + "\n"


def main() -> None:
    words: Any = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--images", type=int, default=300)
    words.add_argument("--write", action="store_true")
    words.add_argument("--json", action="store_true")
    given = words.parse_args()
    found = measured(given.images)
    print(json.dumps(found, indent=1) if given.json else table(found))
    if given.write:
        fill(PAGE, "figures", table(found))


if __name__ == "__main__":
    main()
