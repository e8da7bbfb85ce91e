"""Degraded copies of a suite's pictures: known by their recipe, cached, and made again when the cache is damaged."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from convergebench.degradations import load_degradation
from convergebench.degradations.pictures import degraded
from convergebench.errors import Prerequisite
from convergebench.images.decode import decode
from convergebench.images.encode import encode_png
from convergebench.images.frame import Pixels
from convergebench.types import SourceImage
from tests.degradations.scenes import scene


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "degraded"


def source(id: str = "anna", *, seed: int = 0) -> SourceImage:
    data = encode_png(scene(48, 40, seed=seed))
    return SourceImage(id, "face", hashlib.sha256(data).hexdigest(), 48, 40, "CC0-1.0", "a test", lambda: data)


def made(image: SourceImage, name: str = "motion-blur", *, severity: float = 1.0, seed: int = 0) -> SourceImage:
    return degraded(image, name, kind="motion-blur", severity=severity, seed=seed)


def test_a_copy_says_what_it_is_a_copy_of() -> None:
    copy = made(source())
    assert (copy.id, copy.kind) == ("anna.motion-blur", "motion-blur")
    assert (copy.clean, copy.degradation) == ("anna", "motion-blur")
    assert copy.source == "a test, degraded: motion-blur 1, severity 1, seed 0"
    assert copy.sha256 == hashlib.sha256(copy.read()).hexdigest()
    assert decode(copy.read()).size == (48, 40)


def test_other_pictures_seeds_severities_and_degradations_are_other_copies() -> None:
    image = source()
    copies = [
        made(image),
        made(source("bert", seed=1)),
        made(image, seed=1),
        made(image, severity=2),
        degraded(image, "mixed", kind="face", severity=1, seed=0),
    ]
    assert len({copy.sha256 for copy in copies}) == 5
    assert made(image).sha256 == copies[0].sha256


def test_the_severity_does_not_change_what_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the severity is the same damage, stronger: the direction of motion stays."""
    seeds: list[int] = []

    def watch(pixels: Pixels, draw: np.random.Generator, severity: float) -> Pixels:
        seeds.append(int(draw.integers(2**62)))
        return pixels

    watched = replace(load_degradation("motion-blur"), function=watch)
    monkeypatch.setattr("convergebench.degradations.pictures.load_degradation", lambda name: watched)
    for severity in (0.5, 1, 2):
        made(source(), severity=severity)
    assert len(seeds) == 3
    assert len(set(seeds)) == 1


def test_a_copy_is_made_once(cache: Path) -> None:
    copy = made(source())
    (file,) = cache.glob("*.png")
    before = file.stat().st_mtime_ns
    assert made(source()).read() == copy.read()
    assert file.stat().st_mtime_ns == before


@pytest.mark.parametrize("damage", ["cut", "changed", "no sum", "sum not text", "gone"])
def test_a_damaged_or_lost_file_of_the_cache_is_made_again(cache: Path, damage: str) -> None:
    copy = made(source())
    data = copy.read()
    (file,), (digest,) = cache.glob("*.png"), cache.glob("*.sha256")
    if damage == "cut":
        file.write_bytes(data[:100])
    elif damage == "changed":
        file.write_bytes(data[:-40] + bytes(40))
    elif damage == "no sum":
        digest.unlink()
    elif damage == "sum not text":
        digest.write_bytes(b"\xff\xfe\x00")
    else:
        file.unlink()
    assert copy.read() == data, "a copy that is in use already"
    assert made(source()).sha256 == copy.sha256
    assert hashlib.sha256(file.read_bytes()).hexdigest() == digest.read_text()


def test_copies_work_without_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = made(source())
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path / "file"))
    assert made(source()).read() == first.read()


def test_a_picture_that_is_not_here_is_described_and_asked_for_later() -> None:
    def lost() -> bytes:
        raise Prerequisite("image 'anna' is not here: not fetched")

    copy = made(replace(source(), read=lost))
    assert (copy.id, copy.clean) == ("anna.motion-blur", "anna")
    with pytest.raises(Prerequisite, match="not fetched"):
        copy.read()


def test_the_copy_is_what_the_degradation_makes_of_the_picture() -> None:
    image = source()
    copy = decode(made(image).read()).pixels
    clean = decode(image.read()).pixels
    assert not np.array_equal(copy, clean)
    assert np.abs(copy.astype(float).mean() - clean.mean()) < 12
