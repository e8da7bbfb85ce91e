"""How often `inpaint` does what the words say, and undoes it: per pair, on photographs, by metrics and by a detector.

python -m benchmarks.inpaint [--suite builtin-512] [--pairs v1] [--limit N] [--options through=taesd] [--out FILE]
python -m benchmarks.inpaint --pairs hat --images astronaut man-in-a-suit --strip docs/pictures/inpaint-hat.jpg

Every picture that a pair is for gets one round trip. `happened` and `undone` are the metrics of the same names; `seen`
and `gone` ask the detector (things worn: the parts of the face) whether the object is there after adding and no longer
there after removing. Seconds are of one core. Flips and turns are exact and left out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from convergebench.editors.base import close
from convergebench.editors.find import make_editor
from convergebench.editors.inpaint.finding import find_thing
from convergebench.editors.inpaint.task import read_task
from convergebench.edits.geometry import GEOMETRY
from convergebench.edits.pairs import load_pairs, misfit
from convergebench.errors import Refused
from convergebench.images.decode import decode, probe
from convergebench.images.frame import Frame
from convergebench.images.suite import load_suite
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item
from convergebench.types import Edited, Editor, EditPair, EditRequest, SourceImage

DONE = 0.5
"""Value of `happened` and `undone` from which on an edit counts as done, as in reports."""

Row = dict[str, Any]


def sees(image: bytes, words: str) -> bool:
    """Whether the object that the words name is found."""
    task = read_task(words)
    try:
        find_thing(decode(image, alpha="white").pixels, task.thing, task.colour, None)
    except Refused:
        return False
    return True


def edit(editor: Editor, image: bytes, words: str, seed: int) -> tuple[Edited | None, float, str]:
    """The answer, the seconds of processor time, and the reason of a refusal."""

    async def once() -> Edited:
        return await editor.edit(EditRequest(image, probe(image).mime, words, seed=seed))

    began = time.process_time()
    try:
        answer: Edited | None = asyncio.run(once())
        why = ""
    except Refused as refusal:
        answer, why = None, str(refusal)
    return answer, time.process_time() - began, why


def value(metric: str, subject: bytes, **others: bytes | str | None) -> float | None:
    frames = {
        key: Frame(decode(one, alpha="white").pixels, key) for key, one in others.items() if isinstance(one, bytes)
    }
    words = {key: one for key, one in others.items() if isinstance(one, str)}
    item = Item(Frame(decode(subject, alpha="white").pixels, "subject"), **frames, **words)  # type: ignore[arg-type]
    return load_metric(metric).measure([item])[0].value


def round_trip(editor: Editor, source: SourceImage, pair: EditPair, seed: int, shown: list[bytes]) -> Row:
    """One picture, one pair: forward and back; the pictures on the way go to `shown`."""
    before = source.read()
    shown.append(before)
    row: Row = {"pair": pair.id, "image": source.id, "kind": source.kind}
    row["there before"] = sees(before, pair.backward or "")
    added, row["seconds to add"], row["add refused"] = edit(editor, before, pair.forward, seed)
    if added is None:
        return row
    shown.append(added.image)
    row["happened"] = value("happened", added.image, reference=before, operation=pair.forward_operation)
    row["seen"] = sees(added.image, pair.backward or "")
    removed, row["seconds to remove"], row["remove refused"] = edit(editor, added.image, pair.backward or "", seed + 1)
    if removed is None:
        return row
    shown.append(removed.image)
    row["gone"] = not sees(removed.image, pair.backward or "")
    row["undone"] = value("undone", removed.image, reference=before, via=added.image, operation=pair.backward_operation)
    row["psnr"] = value("psnr", removed.image, reference=before)
    return row


def write_strip(path: Path, rows: list[list[bytes]], side: int = 240) -> None:
    """Two cases in a row, each as source, after adding, after removing; grey where an edit was refused."""
    from PIL import Image

    sheet = Image.new("RGB", (6 * side + 12, -(-len(rows) // 2) * (side + 4)), "white")
    for number, pictures in enumerate(rows):
        left, top = (number % 2) * (3 * side + 12), number // 2 * (side + 4)
        sheet.paste((150, 150, 150), (left, top, left + 3 * side, top + side))
        for place, data in enumerate(pictures):
            picture = Image.fromarray(decode(data, alpha="white").pixels)
            sheet.paste(picture.resize((side, side), Image.Resampling.LANCZOS), (left + place * side, top))
    sheet.save(path, quality=80)


def share(rows: Iterable[Row], key: str, *, above: float | None = None) -> str:
    """How many of all rows, of which some may have no value."""
    every = list(rows)
    if not every:
        return "–"
    hits = [bool(row.get(key)) if above is None else (row.get(key) or 0.0) > above for row in every]
    return f"{100 * sum(hits) / len(hits):.0f} %"


def middle(rows: Iterable[Row], key: str) -> str:
    known = [row[key] for row in rows if row.get(key) is not None]
    return f"{statistics.median(known):.2f}" if known else "–"


def table(rows: list[Row]) -> str:
    """One line per pair, in Markdown."""
    lines = [
        "| pair | cases | added | happened | seen | removed | gone | undone | median undone | s add | s remove |",
        "| --- " * 11 + "|",
    ]
    for pair in dict.fromkeys(row["pair"] for row in rows):
        some = [row for row in rows if row["pair"] == pair]
        added = [row for row in some if not row["add refused"]]
        removed = [row for row in added if not row.get("remove refused")]
        lines.append(
            f"| {pair} | {len(some)} | {len(added)} | {share(some, 'happened', above=DONE)} | {share(some, 'seen')} | "
            f"{len(removed)} | {share(some, 'gone')} | {share(some, 'undone', above=DONE)} | "
            f"{middle(some, 'undone')} | {middle(added, 'seconds to add')} | {middle(removed, 'seconds to remove')} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--suite", default="builtin-512")
    parser.add_argument("--pairs", nargs="+", default=["v1"])
    parser.add_argument("--limit", type=int, default=0, help="at most so many pictures of each kind")
    parser.add_argument("--options", nargs="*", default=[], help="of the editor, such as through=taesd")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--images", nargs="*", default=[], help="only these pictures")
    parser.add_argument("--strip", type=Path, help="the pictures as one JPEG file")
    parser.add_argument("--out", type=Path, help="every case as JSON")
    given = parser.parse_args()
    editor = make_editor("inpaint", **dict(one.split("=", 1) for one in given.options))
    pairs = [pair for pair in load_pairs(given.pairs) if pair.forward_operation not in GEOMETRY]
    rows: list[Row] = []
    strips: list[list[bytes]] = []
    seen: dict[str, int] = {}
    for source in load_suite(given.suite, partial=True).images:
        seen[source.kind] = seen.get(source.kind, 0) + 1
        if (given.limit and seen[source.kind] > given.limit) or (given.images and source.id not in given.images):
            continue
        for pair in pairs:
            if source.kind in pair.kinds and not misfit(source.holds, pair):
                strips.append([])
                rows.append(round_trip(editor, source, pair, given.seed, strips[-1]))
                print(json.dumps(rows[-1]), flush=True)
        if given.out:
            given.out.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    asyncio.run(_closed(editor))
    if given.strip:
        write_strip(given.strip, strips)
    print(table(rows))


async def _closed(editor: Editor) -> None:
    await close(editor)


if __name__ == "__main__":
    main()
