"""Crops at 100 %: the same place in every picture, in its own pixels."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from convergebench.report.crops import MOST_SIDE as SIDE
from convergebench.report.crops import crop_strip, find_place, native_crop
from convergebench.report.thumbnails import Thumbnails


def png(pixels: np.ndarray) -> bytes:
    return cv2.imencode(".png", pixels)[1].tobytes()


def picture(seed: int = 0, height: int = 480, width: int = 640) -> np.ndarray:
    """Flat grey with one textured patch, left of the middle."""
    found = np.full((height, width, 3), 128, np.uint8)
    found[40:260, 100:320] = np.random.default_rng(seed).integers(90, 166, (220, 220, 1), np.uint8)
    return found


def test_the_place_is_where_texture_and_difference_meet() -> None:
    first, last = picture(), picture()
    last[40:260, 100:320] = np.clip(last[40:260, 100:320].astype(int) + 30, 0, 255)
    last[300:460, 380:540] = 148  # changed too, but flat
    place = find_place(png(first), png(last), shown_at=180)
    assert place is not None
    assert 100 + SIDE / 2 <= place.x * 640 <= 320 - SIDE / 2 + 1
    assert 40 + SIDE / 2 <= place.y * 480 <= 260 - SIDE / 2 + 1
    assert abs(place.left * 480 + 80 + SIDE / 2 - place.x * 640) < 1, "the frame is drawn in the middle square"
    assert abs(place.size - SIDE / 480) < 1e-9


def test_a_crop_is_not_resized() -> None:
    first = picture()
    place = find_place(png(first), png(picture(1)), shown_at=180)
    assert place is not None
    data = native_crop(png(first), place)
    assert data is not None
    cut = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    assert cut is not None
    left, top = round(place.x * 640 - SIDE / 2), round(place.y * 480 - SIDE / 2)
    assert cut.shape == (SIDE, SIDE, 3)
    whole = first[top : top + SIDE, left : left + SIDE].astype(int)
    assert np.abs(cut.astype(int) - whole).mean() < 6, "WebP at high quality, the same pixels"
    assert len(data) < 40_000


def test_small_and_unreadable_pictures_have_no_crop() -> None:
    small = png(picture()[:200, :200])
    assert find_place(small, small, shown_at=124) is not None, "half of the shorter side"
    assert find_place(small, small, shown_at=180) is None
    assert find_place(b"no image", png(picture()), shown_at=180) is None
    assert find_place(None, png(picture()), shown_at=180) is None


def test_a_strip_is_cut_at_one_place_even_where_an_editor_changed_the_size(tmp_path: Path) -> None:
    files = {"a": png(picture()), "b": png(picture(1)), "c": png(picture(2, 960, 1280)), "gone": None, "bad": b"x"}
    thumbnails = Thumbnails(files.__getitem__, tmp_path)
    found = crop_strip(thumbnails, ["a", "b", "gone", "bad", "c"], shown_at=180)
    assert found is not None
    assert sorted(found.crops) == ["a", "b", "c"]
    written = dict(thumbnails.take())
    assert sorted(written) == sorted(found.crops.values())
    for name, data in written.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    again = crop_strip(thumbnails, ["a", "b", "c"], shown_at=180)
    assert again is not None
    assert again.crops == found.crops
    assert thumbnails.take() == [], "crops that are there are not made again"


def test_one_picture_alone_has_nothing_to_compare(tmp_path: Path) -> None:
    thumbnails = Thumbnails({"a": png(picture())}.__getitem__, tmp_path)
    assert crop_strip(thumbnails, ["a", "a"], shown_at=180) is None
    assert crop_strip(thumbnails, [], shown_at=180) is None
