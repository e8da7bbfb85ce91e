"""Images as the world has them: each is either run or refused in one line, and a run is never left half begun."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from convergebench.images.encode import encode_png
from tests.cli.conftest import World


def saved(mode: str, format: str, **options: object) -> bytes:
    bands = len(Image.new(mode, (1, 1)).getbands())
    pixels = np.random.default_rng(0).integers(0, 256, (8, 10, bands), np.uint8).repeat(6, 0).repeat(6, 1)
    image = Image.fromarray(pixels.squeeze(), mode) if mode != "CMYK" else Image.merge("CMYK", _planes(pixels))
    data = io.BytesIO()
    image.save(data, format, **options)
    return data.getvalue()


def _planes(pixels: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> list[Image.Image]:
    return [Image.fromarray(np.ascontiguousarray(pixels[..., band])) for band in range(4)]


def sixteen_bit() -> bytes:
    data = io.BytesIO()
    Image.fromarray(np.linspace(0, 65535, 48 * 60).astype(np.uint16).reshape(48, 60)).save(data, "PNG")
    return data.getvalue()


def turned() -> bytes:
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was held upright
    return saved("RGB", "JPEG", exif=exif, quality=95)


def bomb() -> bytes:
    """A PNG that claims to be 60,000 × 60,000."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


RUNS: dict[str, Callable[[], bytes]] = {
    "one-pixel.png": lambda: encode_png(np.full((1, 1, 3), 90, np.uint8)),
    "cmyk.jpg": lambda: saved("CMYK", "JPEG", quality=95),
    "sixteen-bit.png": sixteen_bit,
    "turned.jpg": turned,
    "grey.png": lambda: saved("L", "PNG"),
    "palette.png": lambda: _palette(),
    "webp.webp": lambda: saved("RGB", "WEBP", quality=90),
}
REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "alpha.png": (lambda: saved("RGBA", "PNG"), "transparen"),
    "truncated.png": (lambda: saved("RGB", "PNG")[:200], "truncated"),
    "torn.jpg": (lambda: saved("RGB", "JPEG")[:400], "torn"),
    "empty.png": (lambda: b"", "empty"),
    "text.png": (lambda: b"not an image at all", "text"),
    "bomb.png": (bomb, "pixels"),
}


def _palette() -> bytes:
    data = io.BytesIO()
    Image.open(io.BytesIO(saved("RGB", "PNG"))).quantize(16).save(data, "PNG")
    return data.getvalue()


def with_image(world: World, name: str, data: bytes) -> Path:
    (world.root / "pictures" / "scene" / name).write_bytes(data)
    return world.root / "runs" / "hard"


def test_every_readable_kind_of_image_runs_to_the_end(world: World) -> None:
    for name, make in RUNS.items():
        run = with_image(world, name, make())
    world.cbench("run", "study.toml", "--editor", "sim-perfect", "--run", "runs/hard", "--no-report")
    world.cbench("verify", "runs/hard")
    table = world.cbench("measure", "runs/hard", "--metric", "psnr").stdout
    assert "measurements.parquet" in table
    psnr = pl.read_parquet(run / "tables" / "measurements.parquet").filter(pl.col("metric") == "psnr")
    assert psnr["source"].n_unique() == len(RUNS) + 2
    assert psnr["value"].is_infinite().all(), "a perfect editor returns the picture as it was decoded"


@pytest.mark.parametrize("name", REFUSED)
def test_an_unusable_image_is_one_line_before_anything_is_begun(world: World, name: str) -> None:
    make, said = REFUSED[name]
    run = with_image(world, name, make())
    failed = world.cbench("run", "study.toml", "--run", "runs/hard", ok=False)
    assert failed.returncode == 2
    assert failed.stderr.startswith("error: ")
    assert name.split(".")[0] in failed.stderr
    assert said in failed.stderr.lower()
    assert failed.stderr.count("\n") == 1
    assert not run.exists()


def test_nested_undo_runs_from_a_study_file(world: World) -> None:
    study = world.root / "study.toml"
    study.write_text(study.read_text().replace("rounds = 3", 'rounds = 2\norder = "nested"'))
    world.cbench("run", "study.toml", "--run", "runs/nested", "--no-report")
    world.cbench("measure", "runs/nested")
    table = pl.read_parquet(world.root / "runs/nested/tables/measurements.parquet").filter(pl.col("metric") == "psnr")
    assert set(table["pair"]) == {"flip-horizontal+red-ball", "red-ball+flip-horizontal"}
    assert set(table.filter(round=2)["step"]) == {8}
    assert table.filter(editor="sim-perfect")["value"].is_infinite().all()
    failed = world.cbench("run", "study.toml", "--run", "runs/nested", "--editor", "sim-perfect", ok=True)
    assert "sim-perfect" in failed.stdout


def test_sessions_run_from_a_study_file(world: World) -> None:
    (world.root / "wishes.toml").write_text(
        'study = "session"\neditors = ["sim-tint"]\n'
        '[images]\nsuite = "pictures"\n[measure]\nmetrics = ["ssim", "rmse"]\n'
    )
    world.cbench("run", "wishes.toml", "--run", "runs/wishes", "--no-report")
    world.cbench("measure", "runs/wishes")
    table = pl.read_parquet(world.root / "runs/wishes/tables/measurements.parquet")
    assert set(table["category"]) == {"session"}
    assert table.filter(pl.col("metric") == "ssim")["value"].null_count() == 0
