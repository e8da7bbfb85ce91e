"""Do local pipelines reproduce?  python -m benchmarks.pipelines [--device cuda] [--family NAME …] [--out FILE]

A tiny checkpoint of every family is made, saved and loaded through its editor; eight chains of one size wait at the
same time. For float32 and bfloat16 and for calls of 1, 4 and 8 samples it is checked, bit by bit, that the answers are
the same again (`again`), after loading anew (`loaded`), in the opposite order (`order`), one at a time with the rest of
the call filled up with copies (`alone`), and in a fresh process (`process`). The last columns say how far a call of
several is from a call of one, in grey levels, how many of seven samples get other bits if a call is not filled up
(`plain`), and how fast it went. Run it from the repository's root; a processor needs some ten minutes for everything.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from convergebench.editors.diffusers.calling import GeneratedImage, PipelineCaller, PipelineRequest
from convergebench.editors.diffusers.editor import DiffusersEditor
from convergebench.editors.diffusers.factories import diffusers
from convergebench.editors.diffusers.families import FAMILIES
from convergebench.editors.diffusers.loading import load
from convergebench.errors import ConvergeBenchError
from convergebench.images.decode import decode
from convergebench.types import Edited, EditRequest
from tests.editors.diffusers import tiny
from tests.editors.diffusers.calls import picture

CHAINS = 8
APART = (0, 3, 7)
"""Which of them are also sent one at a time: first, middle and last in their call."""
SIZES = (1, 4, 8)
TYPES = ("float32", "bfloat16")
CHECKS = ("again", "loaded", "order", "alone", "process")
WORDS = (
    "add a red hat",
    "remove the hat",
    "make it night",
    "flip the image",
    "add a ball",
    "smile",
    "add rain",
    "undo",
)
NEEDED = ("torch", "diffusers", "transformers", "accelerate", "tokenizers")


def requests(family: str) -> list[EditRequest]:
    """Eight chains of one size; of one wording, where only equal words share a call."""
    same = FAMILIES[family].same_prompt
    return [
        EditRequest(picture(seed, 96, 64), "image/png", WORDS[0 if same else seed], seed=seed) for seed in range(CHAINS)
    ]


def make(family: str, folder: Path, *, device: str, dtype: str, together: int, steps: int) -> DiffusersEditor:
    options = {**tiny.OPTIONS[family], "steps": steps, "device": device, "dtype": dtype, "path": str(folder)}
    editor = diffusers(f"tiny-{family}", family=family, **options)
    return DiffusersEditor(editor.name, editor.model, editor.options, batch_size=together)


def edit(editor: DiffusersEditor, wanted: Sequence[EditRequest]) -> list[bytes]:
    async def all_at_once() -> list[Edited]:
        return list(await asyncio.gather(*(editor.edit(one) for one in wanted)))

    return [edited.image for edited in asyncio.run(all_at_once())]


def close(editor: DiffusersEditor) -> None:
    asyncio.run(editor.close())


def grey_levels(left: Sequence[bytes], right: Sequence[bytes]) -> int:
    """The largest difference of any sample of any pixel."""
    pairs = zip(left, right, strict=True)
    pixels = ((decode(one).pixels.astype(int), decode(other).pixels.astype(int)) for one, other in pairs)
    return max(int(np.abs(one - other).max()) for one, other in pixels)


def digest(images: Sequence[bytes]) -> str:
    return hashlib.sha256(b"".join(images)).hexdigest()[:16]


def unfilled(editor: DiffusersEditor, wanted: Sequence[EditRequest], full: Sequence[bytes]) -> int:
    """How many samples get other bits in a call of seven than in a full one."""
    pipeline = load(editor.name, editor.model, editor.family, editor.options)
    samples = [PipelineRequest(decode(one.image).pixels, one.instruction, one.seed) for one in wanted[:-1]]
    generated = PipelineCaller(editor.name, editor.family, editor.options, pipeline, batch_size=len(samples)).generate(
        samples
    )
    return sum(isinstance(one, GeneratedImage) and one.png != bits for one, bits in zip(generated, full, strict=False))


def measure(family: str, folder: Path, arguments: argparse.Namespace, dtype: str, together: int) -> dict[str, Any]:
    wanted = requests(family)
    setting = {"device": arguments.device, "dtype": dtype, "together": together, "steps": arguments.steps}
    editor = make(family, folder, **setting)
    begun = time.perf_counter()
    first = edit(editor, wanted)
    loading = time.perf_counter() - begun
    begun = time.perf_counter()
    again = edit(editor, wanted)
    seconds = time.perf_counter() - begun
    row = {
        "family": family,
        "dtype": dtype,
        "together": together,
        "again": again == first,
        "order": edit(editor, wanted[::-1])[::-1] == first,
        "alone": all(edit(editor, [wanted[index]]) == [first[index]] for index in APART),
        "distinct": len(set(first)),
        "seconds_per_image": seconds / CHAINS,
        "seconds_to_first": loading,
        "digest": digest(first),
        "images": first,
    }
    close(editor)
    anew = make(family, folder, **setting)
    row["loaded"] = edit(anew, wanted) == first
    close(anew)
    row["plain"] = unfilled(anew, wanted, first) if together == CHAINS else None
    return row


def in_fresh_process(folder: Path, rows: Sequence[dict[str, Any]], arguments: argparse.Namespace) -> None:
    """Fill in the last check for every row of one family."""
    command = [sys.executable, "-m", "benchmarks.pipelines", "--device", arguments.device, "--digests", str(folder)]
    command += ["--steps", str(arguments.steps), "--family", str(rows[0]["family"])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr[-500:], file=sys.stderr)
        return
    found = json.loads(done.stdout.splitlines()[-1])
    for row in rows:
        row["process"] = found[f"{row['dtype']}/{row['together']}"] == row["digest"]


def digests(family: str, folder: Path, arguments: argparse.Namespace) -> dict[str, str]:
    found = {}
    for dtype in TYPES:
        for together in sizes(family):
            setting = {"device": arguments.device, "dtype": dtype, "together": together, "steps": arguments.steps}
            editor = make(family, folder, **setting)
            found[f"{dtype}/{together}"] = digest(edit(editor, requests(family)))
            close(editor)
    return found


def sizes(family: str) -> tuple[int, ...]:
    return SIZES if FAMILIES[family].batching != "alone" else (1,)


def run(family: str, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as there:
        folder = tiny.save(family, Path(there) / f"tiny-{family}")
        rows = []
        for dtype in TYPES:
            for together in sizes(family):
                row = measure(family, folder, arguments, dtype, together)
                rows.append(row)
                single = next(one for one in rows if one["dtype"] == dtype)
                row["from_single"] = grey_levels(row["images"], single["images"])
                print(f"{family} {dtype} {together}: {row['seconds_per_image']:.3f} s an image", file=sys.stderr)
        in_fresh_process(folder, rows, arguments)
    for row in rows:
        del row["images"]
    return rows


def table(rows: Sequence[dict[str, Any]]) -> str:
    def tick(value: object) -> str:
        return {True: "yes", False: "NO", None: "–"}[value] if value is None or isinstance(value, bool) else str(value)

    head = ("family", "type", "samples", *CHECKS, "from one", "plain", "ms/image")
    lines = [
        (
            row["family"],
            row["dtype"],
            str(row["together"]),
            *(tick(row.get(check)) for check in CHECKS),
            str(row["from_single"]),
            "–" if row["plain"] is None else str(row["plain"]),
            f"{1000 * row['seconds_per_image']:.1f}",
        )
        for row in rows
    ]
    widths = [max(len(line[column]) for line in (head, *lines)) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in (head, *lines)
    )


def machine(device: str) -> dict[str, str]:
    torch: Any = import_module("torch")
    chip = torch.cuda.get_device_name() if device.startswith("cuda") else platform.processor() or platform.machine()
    versions = {name: str(import_module(name).__version__) for name in NEEDED}
    return {"device": device, "chip": chip, "python": platform.python_version(), **versions}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:1")
    parser.add_argument("--family", action="append", choices=list(FAMILIES), help="only this one; may be repeated")
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--out", type=Path, help="write the figures there as JSON")
    parser.add_argument("--digests", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if absent := [name for name in NEEDED if find_spec(name) is None]:
        parser.error(f"{', '.join(absent)} missing: pip install 'convergebench[diffusers]'")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    for name in ("diffusers", "transformers"):
        chatter: Any = import_module(f"{name}.utils.logging")
        chatter.set_verbosity_error()
        chatter.disable_progress_bar()
    torch: Any = import_module("torch")
    if arguments.device == "cpu":
        torch.set_num_threads(1)
    library: Any = import_module("diffusers")
    wanted = arguments.family or list(FAMILIES)
    there = [family for family in wanted if hasattr(library, FAMILIES[family].pipeline)]
    for family in set(wanted) - set(there):
        print(f"{family}: diffusers {library.__version__} has no {FAMILIES[family].pipeline}", file=sys.stderr)
    if any(family.startswith("qwen") for family in there):
        tiny.shrink_qwen()
    if arguments.digests:
        print(json.dumps(digests(there[0], arguments.digests, arguments)))
        return
    rows: list[dict[str, Any]] = []
    for family in there:
        try:
            rows += run(family, arguments)
        except (ConvergeBenchError, AttributeError, TypeError, ImportError) as error:
            # an older transformers builds its tokenizers from files only; the other families can still be measured
            print(f"{family}: {type(error).__name__}: {error}", file=sys.stderr)
    about = machine(arguments.device)
    print(json.dumps(about))
    if rows:
        print(table(rows))
    if arguments.out:
        arguments.out.write_text(json.dumps({"machine": about, "rows": rows}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
