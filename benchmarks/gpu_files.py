"""From files to values: what a worker of `cbench measure` does with images on disk, beside a plain script.

The plain script is what one would write: threads that decode with Pillow, torchmetrics and LPIPS on the GPU, batched.
"""

from __future__ import annotations

import io
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cv2
import torch
from PIL import Image

from benchmarks import gpu_peers as peers
from benchmarks.gpu_pictures import KINDS, damaged, enlarged
from convergebench.images.frame import Pixels
from convergebench.measuring import worker
from convergebench.measuring.task import Comparison, MeasuringTask
from convergebench.measuring.worker import measure_task
from convergebench.metrics.place import Place
from convergebench.store.images import open_images

METRICS = ("psnr", "ssim", "ms-ssim", "lpips")
BATCH = 32


def rates(base: Pixels, side: int, count: int) -> Iterator[str]:
    """Images a second, reading and decoding included."""
    threads = max(1, (os.cpu_count() or 1) // 2)
    cv2.setNumThreads(1)  # as in worker processes
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        files = _written(root, enlarged(base, side), count)
        yield f"{', '.join(METRICS)} of {count} PNG files of {side}², one process with {threads} threads to decode"
        rows = {
            "ours, bfloat16": lambda: _ours(root, files, Place("cuda", "bfloat16")),
            "ours, float32": lambda: _ours(root, files, Place("cuda")),
            "ours, on one core of the processor": lambda: _ours(root, files[: max(8, count // 32)], Place()),
        }
        found = {}
        for name, work in rows.items():
            done, seconds = _timed(work)
            found[name] = done / seconds
            yield f"  {name:44}{found[name]:>8,.0f} images/s"
        done, seconds = _timed(lambda: _decoded(root, files, threads))
        yield f"  {'decoding alone, by those threads':44}{done / seconds:>8,.0f} images/s"
        done, seconds = _timed(lambda: _plain(root, files, threads))
        yield f"  {'plain script':44}{done / seconds:>8,.0f} images/s"


def _timed(work: Callable[[], int]) -> tuple[int, float]:
    work()
    start = time.perf_counter()
    done = work()
    return done, time.perf_counter() - start


def _written(root: Path, reference: Pixels, count: int) -> list[tuple[str, str]]:
    """Identity and file of the reference, then of the subjects, each different."""
    images = open_images(root)
    found = []
    for place in range(count + 1):
        pixels = reference if place == 0 else damaged(reference, KINDS[1 + place % 8], seed=place)
        pixels = pixels.copy()
        pixels[0, 0] = (place % 256, place // 256, 0)
        data = cv2.imencode(".png", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_PNG_COMPRESSION, 1])[1]
        identity = images.put(data.tobytes(), "image/png")
        found.append((identity, images.file_of(identity, "image/png")))
    return found


def _ours(root: Path, files: Sequence[tuple[str, str]], place: Place) -> int:
    worker.forget()
    (source, _), *subjects = files
    comparisons = tuple(
        Comparison(identity, "return", identity, source, None, None, "", "", "", METRICS) for identity, _ in subjects
    )
    task = MeasuringTask(open_images(root), "auto", source, comparisons, dict(files), place)
    values = measure_task(task).values
    assert all(reading.value is not None for _, _, reading in values), values[:3]
    return len(comparisons)


def _decoded(root: Path, files: Sequence[tuple[str, str]], threads: int) -> int:
    with ThreadPoolExecutor(threads) as pool:
        return sum(1 for _ in pool.map(lambda file: cv2.imread(str(root / file)), [file for _, file in files[1:]]))


def _plain(root: Path, files: Sequence[tuple[str, str]], threads: int) -> int:
    def tensor(file: str) -> Any:
        with Image.open(io.BytesIO((root / file).read_bytes())) as image:
            return torch.frombuffer(bytearray(image.convert("RGB").tobytes()), dtype=torch.uint8).view(
                image.height, image.width, 3
            )

    three = dict(peers.three())["torchmetrics"]
    lpips = dict(peers.networks("lpips"))["torchmetrics"]()
    names = [file for _, file in files]
    reference = tensor(names[0]).to("cuda").permute(2, 0, 1).float()
    done = 0
    with ThreadPoolExecutor(threads) as pool, torch.inference_mode():
        decoded = pool.map(tensor, names[1:])
        while batch := [one for _, one in zip(range(BATCH), decoded, strict=False)]:
            subjects = torch.stack(batch).to("cuda").permute(0, 3, 1, 2).float()
            several = reference.expand(len(batch), -1, -1, -1).contiguous()
            three(subjects, several)
            lpips(subjects / 255, several / 255)
            done += len(batch)
    return done
