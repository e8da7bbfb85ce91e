"""Recolouring, blending, placing and finding by colour, on pictures whose answer is known."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from convergebench.editors.inpaint.blending import PlacedCutout, blended, standing, with_contact_shadow
from convergebench.editors.inpaint.cutouts import Cutout, CutoutOrigin
from convergebench.editors.inpaint.finding import _round_patch
from convergebench.editors.inpaint.lab import to_lab
from convergebench.editors.inpaint.placing import choose_spot, find_horizon, pixels_per_metre
from convergebench.editors.inpaint.recolouring import recoloured
from convergebench.editors.inpaint.removing import _shadow
from convergebench.editors.inpaint.things import THINGS
from convergebench.editors.instructions.vocabulary import COLOURS
from convergebench.vision.objects import DetectedObject, PixelBox


def cutout(height: float = 0.8, size: tuple[int, int] = (80, 40), value: int = 160, **more: Any) -> Cutout:
    origin = CutoutOrigin(
        name="x", thing="chair", file="x", height=height, licence="CC0-1.0", credit="x", source="x", **more
    )
    return Cutout(origin, np.full((*size, 3), value, np.uint8), np.ones(size, np.float32))


def scene(height: int = 200, width: int = 300, value: int = 128) -> np.ndarray[Any, Any]:
    return np.full((height, width, 3), value, np.uint8)


def test_a_recoloured_object_has_the_hue_and_keeps_its_shading() -> None:
    shading = np.linspace(60, 220, 100).astype(np.uint8)
    pixels = np.repeat(np.repeat(shading[None, :, None], 40, 0), 3, 2)
    amount = np.zeros((40, 100), np.float32)
    amount[:20] = 1
    changed = recoloured(pixels, amount, COLOURS["red"])
    np.testing.assert_array_equal(changed[20:], pixels[20:])
    lab = to_lab(changed[:20])
    assert np.all(np.diff(lab[10, :, 0]) >= -0.2)  # from dark to light, as before
    middle = lab[10, 30:60]
    assert middle[:, 1].min() > 25  # red
    assert np.abs(np.arctan2(middle[:, 2], middle[:, 1])).max() < np.radians(60)


@pytest.mark.parametrize("name", ["white", "black", "grey"])
def test_a_colour_without_hue_takes_the_hue_away(name: str) -> None:
    pixels = np.full((10, 10, 3), (30, 160, 60), np.uint8)
    lab = to_lab(recoloured(pixels, np.ones((10, 10), np.float32), COLOURS[name]))
    assert np.hypot(lab[..., 1], lab[..., 2]).max() < 4
    assert {"white": 65, "black": -1, "grey": 35}[name] < lab[0, 0, 0] < {"white": 101, "black": 35, "grey": 75}[name]


def test_pixels_beside_an_added_object_stay_exactly_as_they_were() -> None:
    picture = np.random.default_rng(0).integers(0, 255, (200, 300, 3), np.uint8)
    layer = standing(cutout(), 150, 190, 80, picture.shape)
    added = blended(picture, layer)
    untouched = layer.alpha == 0
    np.testing.assert_array_equal(added[untouched], picture[untouched])
    assert layer.mask[111:189, 131:169].all()
    assert untouched[:108].all()
    assert untouched[:, :128].all()


def test_an_object_is_darker_in_a_dark_picture_and_grey_in_a_grey_one() -> None:
    coloured = Cutout(cutout().origin, np.full((80, 40, 3), (200, 60, 60), np.uint8), np.ones((80, 40), np.float32))

    def inside(picture: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        layer = standing(coloured, 150, 190, 80, picture.shape)
        return np.asarray(to_lab(blended(picture, layer))[layer.alpha > 0.99].mean(axis=0))

    green = np.full((200, 300, 3), (90, 150, 90), np.uint8)
    night = np.full((200, 300, 3), (18, 30, 18), np.uint8)
    assert inside(night)[0] < 0.75 * inside(green)[0]
    assert np.hypot(*inside(green)[1:]) > 25
    assert np.hypot(*inside(scene())[1:]) < 4


def test_a_standing_object_darkens_the_ground_under_it_and_nothing_above() -> None:
    picture = scene()
    layer = standing(cutout(), 150, 180, 80, picture.shape)
    shaded = with_contact_shadow(picture, layer)
    assert shaded[181:184, 140:160].mean() < 100
    np.testing.assert_array_equal(shaded[:150], picture[:150])


def test_the_horizon_is_where_sky_meets_ground() -> None:
    picture = scene(value=200)
    picture[110:] = 60
    assert find_horizon(picture) == pytest.approx(110, abs=4)
    assert find_horizon(scene()) == pytest.approx(90, abs=1)  # nothing to see: the usual one


def test_the_scale_comes_from_objects_of_known_height_if_there_are_any() -> None:
    person = DetectedObject("person", 0.9, PixelBox(100, 110, 130, 280))
    # 170 pixels for 1.7 metres, standing at row 280 under a horizon at 100
    assert pixels_per_metre([person], 100, 280, 400) == pytest.approx(100)
    assert pixels_per_metre([person], 100, 190, 400) == pytest.approx(50)  # half as near, half as large
    assert pixels_per_metre([], 100, 380, 400) == pytest.approx(200)


@pytest.mark.parametrize(("place", "least", "most"), [("left", 0, 150), ("right", 150, 300), (None, 0, 300)])
def test_a_spot_is_at_the_named_place_inside_the_picture(place: str | None, least: int, most: int) -> None:
    for seed in range(8):
        spot = choose_spot(scene(), [], cutout(), THINGS["chair"], place, np.random.default_rng(seed))
        assert least <= spot.middle - spot.height / 4
        assert spot.middle + spot.height / 4 <= most
        assert spot.base <= 200
        assert THINGS["chair"].shares[0] * 200 <= spot.height <= THINGS["chair"].shares[1] * 200


def test_a_spot_depends_on_the_seed_alone_and_hides_no_object_if_it_can() -> None:
    person = DetectedObject("person", 0.9, PixelBox(0, 20, 150, 199))
    spots = [
        choose_spot(scene(), [person], cutout(), THINGS["chair"], None, np.random.default_rng(seed))
        for seed in (1, 1, 2)
    ]
    assert spots[0] == spots[1] != spots[2]
    assert all(spot.middle - spot.height / 4 > 140 for spot in spots)


def test_what_ends_at_the_edge_of_its_photograph_stands_at_the_edge_of_the_picture() -> None:
    bust = cutout(bottom_edge=True)
    assert choose_spot(scene(), [], bust, THINGS["cat"], None, np.random.default_rng(0)).base == 200


def test_a_round_patch_of_the_named_colour_is_found_and_nothing_else() -> None:
    picture = scene()
    cv2.circle(picture, (80, 120), 25, (206, 34, 34), -1)
    cv2.rectangle(picture, (150, 60), (290, 90), (206, 34, 34), -1)
    found = _round_patch(picture, COLOURS["red"])
    assert found is not None
    assert np.abs(np.array(found.box) - (55, 95, 105, 145)).max() <= 3
    assert _round_patch(picture, COLOURS["blue"]) is None


def test_a_shadow_that_touches_the_object_goes_with_it_but_not_a_dark_floor() -> None:
    picture = scene(value=180)
    picture[150:158, 90:150] = 60
    mask = np.zeros((200, 300), np.bool_)
    mask[80:152, 100:140] = True
    shadow = _shadow(picture, mask)
    assert shadow[154:157, 95:145].all()
    assert not shadow[:, 200:].any()
    assert not shadow[:100].any()
    floor = scene(value=180)
    floor[142:] = 40
    assert not _shadow(floor, mask).any()


def test_a_layer_knows_where_it_is_opaque() -> None:
    layer = PlacedCutout(scene(4, 4), np.array([[0.4, 0.6], [0, 1]], np.float32))
    np.testing.assert_array_equal(layer.mask, [[False, True], [False, True]])
