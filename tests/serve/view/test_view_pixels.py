"""Images as they are, small, in tiles and as maps: the pixels are those of the run, and memory has a bound."""

from __future__ import annotations

import hashlib
import io
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from convergebench.errors import Unmeasurable
from convergebench.images.decode import decode
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item
from convergebench.metrics.full_reference.maps import difference_map, ssim_map
from convergebench.report.palette import INFERNO
from convergebench.serve.guard import Refusal
from convergebench.serve.view import pixels
from convergebench.serve.view.maps import draw_map
from convergebench.serve.view.pixels import Bounded, RunImages
from convergebench.serve.view.tiles import TILE, levels, tile
from convergebench.store.frames import RunFrames
from tests.serve.view.site import ServedView, refused


def noise(height: int, width: int, seed: int = 0) -> Pixels:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def opened(data: bytes) -> Pixels:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


@pytest.fixture
def chain(served: ServedView) -> dict[str, Any]:
    return served.rows("/api/runs/small/chains?where=editor:is:sim-tint")[0]


def stored(root: Path, digest: str) -> bytes:
    (path,) = (root / "images").rglob(f"{digest[2:]}.*")
    return path.read_bytes()


def test_an_image_is_sent_as_the_editor_returned_it(served: ServedView, made: Path, chain: dict[str, Any]) -> None:
    reply = served.client.get(f"/image/small/{chain['final']}")
    assert hashlib.sha256(reply.content).hexdigest() == chain["final"]
    assert "immutable" in reply.headers["cache-control"]
    again = served.client.get(f"/image/small/{chain['final']}", headers={"if-none-match": reply.headers["etag"]})
    assert again.status_code == 304


@pytest.mark.parametrize("size", [96, 192, 384])
def test_a_thumbnail_is_no_larger_than_asked_and_looks_like_the_image(
    served: ServedView, made: Path, chain: dict[str, Any], size: int
) -> None:
    reply = served.client.get(f"/thumb/small/{chain['first']}?size={size}")
    assert reply.headers["content-type"] == "image/webp"
    small, own = opened(reply.content), decode(stored(made, chain["first"])).pixels
    assert small.shape == own.shape, "64 pixels are never enlarged"
    assert np.abs(small.astype(int) - own.astype(int)).mean() < 12


@pytest.mark.parametrize("query", ["size=95", "size=0", "size=99999", "size=x", "size=", "width=96"])
def test_other_sizes_are_refused(served: ServedView, chain: dict[str, Any], query: str) -> None:
    assert refused(served.client.get(f"/thumb/small/{chain['first']}?{query}"))


@pytest.mark.parametrize(("height", "width"), [(1, 1), (512, 512), (513, 1030), (1200, 30)])
def test_the_tiles_of_the_last_level_are_the_image_without_loss(height: int, width: int) -> None:
    whole, last = noise(height, width), levels(width, height) - 1
    rows = []
    for row in range(-(-height // TILE)):
        parts = [opened(tile(whole, last, column, row)) for column in range(-(-width // TILE))]
        rows.append(np.concatenate(parts, axis=1))
    assert np.array_equal(np.concatenate(rows), whole)


def test_levels_halve_until_one_pixel_and_no_tile_lies_beyond_them() -> None:
    whole = noise(700, 1025)
    assert levels(1025, 700) == 12
    for level in range(12):
        first = opened(tile(whole, level, 0, 0))
        each = 1 << (11 - level)
        assert first.shape[:2] == (min(512, -(-700 // each)), min(512, -(-1025 // each)))
    for level, column, row in ((12, 0, 0), (-1, 0, 0), (11, 3, 0), (11, 0, 2), (0, 1, 0), (5, 99999, 99999)):
        with pytest.raises(Refusal):
            tile(whole, level, column, row)


def test_tiles_are_served_with_their_plan(served: ServedView, made: Path, chain: dict[str, Any]) -> None:
    plan = served.data(f"/tile/small/{chain['final']}.json")
    assert plan == {"width": 64, "height": 64, "tile": 512, "levels": 7}
    reply = served.client.get(f"/tile/small/{chain['final']}/6/0_0.webp")
    assert np.array_equal(opened(reply.content), decode(stored(made, chain["final"])).pixels)
    for path in ("7/0_0.webp", "6/1_0.webp", "6/0_0.png", "6/-1_0.webp", "6/0.webp", "x/0_0.webp", "6/٣_0.webp"):
        assert refused(served.client.get(f"/tile/small/{chain['final']}/{path}"))


@pytest.mark.parametrize(("height", "width"), [(11, 11), (64, 40), (301, 130)])
def test_the_mean_of_the_map_is_the_metric(height: int, width: int) -> None:
    first = noise(height, width)
    second = np.clip(first.astype(int) + np.random.default_rng(1).normal(0, 30, first.shape), 0, 255).astype(np.uint8)
    found = ssim_map(Frame(second), Frame(first))
    assert found.shape == (height, width)
    known = load_metric("ssim").measure([Item(Frame(second), Frame(first))])[0].value
    assert found[5:-5, 5:-5].mean() == pytest.approx(known, abs=1e-5)
    assert difference_map(Frame(second), Frame(first)).max() == np.abs(first.astype(int) - second.astype(int)).max()


def test_equal_images_have_no_difference_and_tiny_ones_no_map_of_structure() -> None:
    one = Frame(noise(40, 40))
    assert float(ssim_map(one, Frame(one.pixels.copy())).min()) == pytest.approx(1, abs=1e-6)
    assert float(difference_map(one, one).max()) == 0
    with pytest.raises(Unmeasurable):
        ssim_map(Frame(noise(10, 40)), Frame(noise(10, 40)))


def test_a_map_says_what_its_colours_mean(served: ServedView, made: Path, chain: dict[str, Any]) -> None:
    base = f"/map/small/{chain['final']}/{chain['first']}"
    facts = served.data(f"{base}/difference.json?gain=8")
    assert (facts["low"], facts["high"], facts["gain"]) == (0, 255 / 8, 8)
    assert (facts["width"], facts["height"], facts["stops"]) == (64, 64, list(INFERNO))
    reply = served.client.get(f"{base}/difference.png?gain=8")
    assert reply.headers["x-scale"] == "0 31.875"
    one, other = (decode(stored(made, chain[name])).pixels.astype(int) for name in ("final", "first"))
    largest = np.abs(one - other).max(axis=2)
    shown = opened(reply.content)
    top = tuple(int(INFERNO[-1][at : at + 2], 16) for at in (1, 3, 5))
    assert facts["mean"] == pytest.approx(largest.mean())
    assert np.array_equal((shown == top).all(axis=2), largest >= 31.875)
    assert served.client.get(f"{base}/ssim.png").status_code == 200
    for path in ("ssim.gif", "other.png", "difference.png?gain=3", "difference.png?gain=x", "ssim.png?x=1"):
        assert refused(served.client.get(f"{base}/{path}"))


def test_images_of_different_size_get_a_map_with_a_note_and_huge_ones_none() -> None:
    drawn = draw_map("difference", Frame(noise(30, 40)), Frame(noise(60, 80)), 4)
    assert "sizes differ" in drawn.facts["note"]
    assert opened(drawn.png).shape == (30, 40, 3)
    huge = Frame(np.zeros((7000, 6000, 3), np.uint8))
    with pytest.raises(Refusal, match="megapixels"):
        draw_map("ssim", huge, huge, 4)


def test_damaged_missing_and_strange_images_are_one_line(runs: Path) -> None:
    with closing(RunFrames(runs / "small")) as frames:
        files = frames.steps()["image"].to_list()
    first, second = runs / "small" / files[1], runs / "small" / files[2]
    first.write_bytes(first.read_bytes()[:-9])
    second.unlink()
    with ServedView(runs) as site:
        for file in files[1:3]:
            digest = file.removeprefix("images/").replace("/", "").partition(".")[0]
            for kind in ("image", "thumb"):
                reply = site.client.get(f"/{kind}/small/{digest}")
                assert (reply.status_code, refused(reply)) == (410, True)
        assert len(site.rows("/api/runs/small/images")) == 24, "the rest is shown"


def test_what_is_kept_has_a_bound_and_the_oldest_goes_first() -> None:
    kept: Bounded[int, bytes] = Bounded(100, len)
    made: list[int] = []

    def make(number: int) -> bytes:
        made.append(number)
        return bytes(30)

    for number in (1, 2, 3, 1, 4, 1, 2):
        kept.get(number, lambda number=number: make(number))  # type: ignore[misc]
    assert made == [1, 2, 3, 4, 2]
    assert kept.bytes <= 100
    kept.get(9, lambda: bytes(1000))
    assert kept.bytes == 0, "larger than all room: not kept"


def test_thumbnails_of_many_images_stay_within_their_bound(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pixels, "KEPT_THUMBNAILS", 5000)
    monkeypatch.setattr(pixels, "KEPT_PIXELS", 5000)
    images = RunImages()
    with closing(RunFrames(made)) as frames:
        files = frames.steps()["image"].to_list()
    for file in files:
        digest = file.removeprefix("images/").replace("/", "").partition(".")[0]
        images.thumbnail(made, digest, 96)
        images.frame(made, digest)
        assert images._thumbnails.bytes <= 5000
        assert images._pixels.bytes <= 5000
