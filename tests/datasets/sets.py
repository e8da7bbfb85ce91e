"""Small real copies of the sets that can be imported, laid out as their authors lay them out."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import polars as pl
from numpy.typing import NDArray

from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels

SIDE = 64
COPY = "Produce an exact replica of the provided image, with no alterations."


def scene(seed: int = 0, side: int = SIDE) -> Pixels:
    """A sky, a ground and a house: enough to be worn and to be turned."""
    random = np.random.default_rng(seed)
    rows = np.linspace(60, 200, side)[:, None, None]
    pixels = np.broadcast_to(rows, (side, side, 3)).copy() + np.array([0, 10 * (seed % 5), 40])
    pixels[side // 2 :, :, 1] += 40
    pixels[side // 3 : side // 2, side // 5 : side // 2] = (150, 60, 50)
    return _whole(pixels + random.normal(0, 3, pixels.shape))


def worn(pixels: Pixels, step: int) -> Pixels:
    """The picture after so many steps: darker and noisier by a known amount."""
    random = np.random.default_rng(1000 + step)
    return _whole(pixels + random.normal(-2.0 * step, 1.5 * step, pixels.shape))


def _whole(values: NDArray[np.float64]) -> Pixels:
    return np.asarray(np.clip(values, 0, 255), dtype=np.uint8)


def with_ball(pixels: Pixels, x: int, colour: tuple[int, int, int] = (220, 30, 30)) -> Pixels:
    """Something added, the rest untouched."""
    return np.asarray(cv2.circle(pixels.copy(), (x, 48), 7, colour, -1), dtype=np.uint8)


def png(pixels: Pixels) -> bytes:
    return encode_png(pixels)


def jpeg(pixels: Pixels, quality: int = 90) -> bytes:
    done, data = cv2.imencode(".jpg", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, quality])
    assert done
    return data.tobytes()


def save(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def cell(data: bytes | None, name: str = "x.png") -> dict[str, Any] | None:
    """An image as the Hub keeps it inside a table."""
    return None if data is None else {"bytes": data, "path": name}


def parquet(path: Path, columns: Mapping[str, Sequence[Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    image = pl.Struct({"bytes": pl.Binary, "path": pl.String})
    series = [
        pl.Series(name, list(values), dtype=image if name.endswith(("img", "image")) else None)
        for name, values in columns.items()
    ]
    pl.DataFrame(series).write_parquet(path)
    return path


def magicbrush_rows(images: Sequence[int] = (0, 1), turns: int = 2) -> list[dict[str, Any]]:
    """The rows of the Hub's tables: every turn starts from what the turn before gave."""
    rows = []
    for image in images:
        state = scene(image)
        for turn in range(1, turns + 1):
            after = with_ball(state, 12 * turn)
            rows.append(
                {
                    "img_id": f"1005{image}",
                    "turn_index": turn,
                    "source_img": cell(png(state)),
                    "mask_img": cell(png(np.zeros_like(state))),
                    "instruction": f"put a ball number {turn} on the grass",
                    "target_img": cell(png(after)),
                }
            )
            state = after
    return rows


def magicbrush(folder: Path, rows: Sequence[Mapping[str, Any]] | None = None, shards: int = 1) -> Path:
    rows = magicbrush_rows() if rows is None else rows
    for shard in range(shards):
        part = rows[len(rows) * shard // shards : len(rows) * (shard + 1) // shards]
        columns = {name: [row[name] for row in part] for name in part[0]}
        parquet(folder / "data" / f"dev-{shard:05}-of-{shards:05}.parquet", columns)
    return folder


def mse_bench(folder: Path, models: Sequence[str] = ("model_a", "model_b"), *, photographs: int = 2) -> Path:
    """The benchmark and its results, one split per model, in the benchmark's order."""
    benchmark: dict[str, list[Any]] = {
        "image": [cell(jpeg(scene(index), 95)) for index in range(photographs)],
        "index": [str(10 + index) for index in range(photographs)],
        "summary": ["a house"] * photographs,
        "context": [[f"wish {turn} for {index}" for turn in range(5)] for index in range(photographs)],
    }
    parquet(folder / "MSE-Bench" / "data" / "train-00000-of-00001.parquet", benchmark)
    for number, model in enumerate(models):
        turns = {
            f"turn_{turn}_image": [cell(png(worn(scene(index), turn + 1 + number))) for index in range(photographs)]
            for turn in range(5)
        }
        parquet(folder / "MSE-Bench-results" / "data" / f"{model}-00000-of-00001.parquet", turns)
    return folder


EDIVAL_COLUMNS = (
    *("image_index", "turns", "task_type", "instructions", "format_instructions", "bg_consistency"),
    *("unchanged_objects", "available_objects", "all_objects"),
)
EDIVAL = {
    0: [
        ("subject_add", "Add bench on the left of house"),
        ("count_change", '"Change the count of bench to 4"'),
        ("subject_remove", "Remove the text 'LAMB'"),
    ],
    1: [("background_change", "Change the background to forest, remain the house unchanged")],
}


def edival_table(edits: Mapping[int, Sequence[tuple[str, str]]] = EDIVAL) -> str:
    """One row for every number of turns, lists as Python writes them."""
    lines = io.StringIO(newline="")
    sheet = csv.writer(lines)
    sheet.writerow(EDIVAL_COLUMNS)
    for index, turns in edits.items():
        for count in range(1, len(turns) + 1):
            tasks, words = ([turn[part] for turn in turns[:count]] for part in (0, 1))
            sheet.writerow([index, count, tasks, words, words, True, [], [], []])
    return lines.getvalue()


def edival(folder: Path, models: Sequence[str] = ("flux", "qwen"), table: str | None = None) -> Path:
    save(folder / "oai_instruction_generation_output.csv", (table or edival_table()).encode())
    with zipfile.ZipFile(folder / "input_images_resize_512.zip", "w") as archive:
        for index in range(2):
            archive.writestr(f"{index}_input_raw.jpg", jpeg(scene(index), 95))
    for number, model in enumerate(models):
        passes = folder / "baseline_generations" / model / "multipass"
        for index, turns in ((0, 3), (1, 1)):
            save(passes / f"{index}_input_raw.png", png(scene(index)))
            for turn in range(1, turns + 1):
                save(passes / f"{index}_input_raw_turn_{turn}.png", png(worn(scene(index), turn + number)))
    return folder


def pico_row(name: str, turns: int) -> dict[str, Any]:
    files = [{"id": f"edit_turn{turn}", "url": f"images/multi-turn/{name}_turn{turn}.png"} for turn in range(1, turns)]
    files.append({"id": "final_image", "url": f"images/multi-turn/{name}_turn{turns}.png"})
    files.append({"id": "original_input_image", "url": f"https://farm8.staticflickr.com/2915/{name}_o.jpg"})
    return {"files": files, "metadata_edit_turn_prompts": [f"Wish {turn}" for turn in range(1, turns + 1)]}


def pico(folder: Path, sessions: Mapping[str, int] | None = None) -> Path:
    sessions = sessions or {"101_attemptB": 5, "102_attemptA": 2}
    lines = [json.dumps(pico_row(name, turns)) for name, turns in sessions.items()]
    save(folder / "jsonl" / "multi-turn.jsonl", ("\n".join(lines) + "\n").encode())
    for number, (name, turns) in enumerate(sessions.items()):
        save(folder / "photographs" / f"{name}_o.jpg", jpeg(scene(number), 95))
        for turn in range(1, turns + 1):
            save(folder / "images" / "multi-turn" / f"{name}_turn{turn}.png", png(worn(scene(number), turn)))
    return folder


def copies(folder: Path, *, steps: int = 3, images: Sequence[str] = ("rice",), variant: str = "replicate") -> Path:
    """`IMAGE/VARIANT/run-R/step-NNN.png`, the untouched picture as step 0."""
    for number, image in enumerate(images):
        for run in range(2):
            home = folder / image / variant / f"run-{run}"
            for step in range(steps + 1):
                pixels = worn(scene(number), step + run) if step else scene(number)
                save(home / f"step-{step:03}.png", png(pixels))
    return folder
