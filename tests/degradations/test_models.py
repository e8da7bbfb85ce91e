"""What each degradation is told by: halves of light, combs, casts, grain, scratches."""

from __future__ import annotations

import numpy as np
import pytest

from convergebench.degradations import load_degradation
from convergebench.degradations._compression import jpeg, quality
from convergebench.degradations._cracks import damaged
from convergebench.degradations._film_defects import dust, hairs, scratches
from convergebench.degradations._noise import clouds, exposed, grain
from convergebench.degradations._stains import foxing, paper_texture, stains
from convergebench.degradations._timestamp import stamped, timestamp
from convergebench.degradations.surveillance import _interlaced
from convergebench.images.frame import Pixels
from tests.degradations.scenes import flat, scene

SHAPE = (256, 256)


def chance(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def sharpness(pixels: Pixels) -> float:
    grey = pixels.astype(float).mean(axis=2)
    return float(np.abs(np.diff(grey, axis=0)).mean() + np.abs(np.diff(grey, axis=1)).mean())


@pytest.mark.parametrize("name", ["defocus-blur", "motion-blur"])
def test_blur_adds_up_light_and_not_levels(name: str) -> None:
    """A fine grid of black and white has half the light of white, which is the level 188 and not 128."""
    grid = np.indices((128, 128)).sum(axis=0) % 2 * 255
    pixels = grid[..., None].repeat(3, axis=2).astype(np.uint8)
    spoilt = load_degradation(name)(pixels, seed=0, severity=3)
    assert abs(float(spoilt[30:-30, 30:-30].mean()) - 188) < 4


def test_motion_is_blurred_along_one_way_more_than_across_it() -> None:
    noise = chance().integers(0, 256, (192, 192, 1)).repeat(3, axis=2).astype(np.uint8)
    ratios = []
    for seed in range(12):
        power = np.abs(np.fft.fft2(load_degradation("motion-blur")(noise, seed=seed, severity=2)[..., 0])) ** 2
        power[0, 0] = 0
        rows, columns = np.fft.fftfreq(192)[:, None], np.fft.fftfreq(192)[None, :]
        tensor = [[(power * a * b).sum() for a in (rows, columns)] for b in (rows, columns)]
        low, high = np.linalg.eigvalsh(np.array(tensor) / power.sum())
        ratios.append(high / low)
    assert np.median(ratios) > 2.5
    assert max(ratios) > 8, "a straight line"


def test_defocus_has_depth_in_some_pictures_and_not_in_others() -> None:
    """Where depth varies, one part of the picture keeps clearly more detail than another."""
    texture = chance().integers(0, 256, (256, 256, 1)).repeat(3, axis=2).astype(np.uint8)
    spreads = []
    for seed in range(16):
        spoilt = load_degradation("defocus-blur")(texture, seed=seed, severity=2)
        tiles = [sharpness(spoilt[y : y + 64, x : x + 64]) for y in range(0, 256, 64) for x in range(0, 256, 64)]
        spreads.append(max(tiles) / min(tiles))
    assert min(spreads) < 1.25, "even blur"
    assert sum(spread > 1.5 for spread in spreads) >= 4


def test_digital_zoom_keeps_the_framing_and_loses_the_detail() -> None:
    picture = scene(256, 256)
    spoilt = load_degradation("digital-zoom")(picture, seed=1)
    small, clean = (one.reshape(16, 16, 16, 16, 3).mean(axis=(1, 3)) for one in (spoilt, picture))
    assert np.abs(small - clean).mean() < 4
    assert sharpness(spoilt) < 0.75 * sharpness(picture)


def test_digital_zoom_leaves_halos_at_edges() -> None:
    edge = np.full((256, 256, 3), 80, np.uint8)
    edge[:, 128:] = 170
    rows = [load_degradation("digital-zoom")(edge, seed=seed)[64:192].mean(axis=(0, 2)) for seed in range(6)]
    assert max(row.max() for row in rows) > 176
    assert min(row.min() for row in rows) < 74


def test_an_old_photograph_in_black_and_white_is_really_grey_faded_and_marked() -> None:
    picture = scene(192, 192)
    for seed in range(6):
        for severity in (0.1, 1, 3):
            spoilt = load_degradation("old-photo-grey")(picture, seed=seed, severity=severity)
            assert np.array_equal(spoilt[..., 0], spoilt[..., 1])
            assert np.array_equal(spoilt[..., 0], spoilt[..., 2])
    black = load_degradation("old-photo-grey")(flat(0, 192), seed=2)
    white = load_degradation("old-photo-grey")(flat(255, 192), seed=2)
    assert np.median(black) > 18, "blacks have faded"
    assert np.median(white) < 245, "whites have darkened"


def test_some_plates_are_blind_to_red() -> None:
    red, blue = flat(20), flat(20)
    red[..., 0] = blue[..., 2] = 220
    spoil = load_degradation("old-photo-grey")
    darker = [np.median(spoil(red, seed=seed)) < np.median(spoil(blue, seed=seed)) - 25 for seed in range(100, 120)]
    assert 3 <= sum(darker) <= 17


def test_the_colours_of_an_old_print_fade_to_red_or_yellow() -> None:
    casts = []
    for seed in range(12):
        middle = np.median(load_degradation("old-photo-colour")(flat(90, 160), seed=seed), axis=(0, 1))
        assert middle[0] > middle[2] + 5, "warm"
        assert middle.mean() > 90, "faded dyes let more light through"
        casts.append(middle[0] - middle[1])
    assert sum(cast > 12 for cast in casts) >= 5, "most have lost their cyan"
    assert min(casts) < 12, "some have yellowed"


def test_film_grain_has_mean_0_and_is_widest_in_the_middle_tones() -> None:
    widths = []
    for tone in (0.0, 0.1, 0.5, 0.9, 1.0):
        plane = grain(np.full(SHAPE, tone, np.float32), chance(), amount=0.05, size=1.0)
        assert abs(float(plane.mean())) < 1e-4
        widths.append(float(plane.std()))
    assert widths[0] == widths[4] == 0
    assert widths[2] == pytest.approx(0.05, rel=0.01)
    assert widths[1] == pytest.approx(0.05 * 0.6, rel=0.02)


def test_sensor_noise_grows_with_the_light() -> None:
    widths = [
        float((exposed(np.full(SHAPE, light, np.float32), chance(), shot=1e-3, read=0.01) - light).std())
        for light in (0.0, 0.5)
    ]
    assert widths == [pytest.approx(0.01, rel=0.03), pytest.approx((1e-3 * 0.5 + 1e-4) ** 0.5, rel=0.03)]


def test_clouds_are_smooth_and_of_width_1() -> None:
    planes = [clouds((200, 150), chance(seed), cell=20) for seed in range(8)]
    assert np.std(planes) == pytest.approx(1, rel=0.15)
    assert abs(np.mean(planes)) < 0.3
    assert np.abs(np.diff(planes[0], axis=0)).mean() < 0.2


def test_scratches_run_down_the_film_and_wander() -> None:
    marks = scratches((400, 300), chance(1), count=3, scale=1)
    mask = np.maximum(marks.bright, marks.dark)
    assert mask.max() > 0.25
    assert 0.002 < (mask > 0.1).mean() < 0.05
    down, right = np.nonzero(mask > 0.2)
    assert np.ptp(down) > 200, "long"
    assert np.array_equal(mask, np.maximum(*scratches((400, 300), chance(1), count=3, scale=1)))
    more = scratches((400, 300), chance(1), count=9, scale=1)
    assert (np.maximum(*more) >= mask - 1e-6).all(), "those of a lower severity stay where they are"
    assert np.unique(right).size > 6, "they do not stay in one column"


def test_most_scratches_are_bright_and_some_are_dark() -> None:
    bright, dark = (
        sum(plane.sum() for plane in planes)
        for planes in zip(*(scratches((120, 120), chance(seed), count=6, scale=1) for seed in range(8)), strict=True)
    )
    assert bright > dark > 0


@pytest.mark.parametrize("mark", [dust, hairs, scratches])
def test_no_marks_without_severity_and_more_with_more(mark: type) -> None:
    none, few, many = (mark(SHAPE, chance(3), count=count, scale=0.5) for count in (0, 3, 20))
    covered = [float(one.bright.sum() + one.dark.sum()) for one in (none, few, many)]
    assert covered[0] == 0 < covered[1] < covered[2]
    assert max(float(plane.max()) for plane in many) <= 1


def test_old_film_is_mostly_grey_and_has_dark_and_bright_marks() -> None:
    picture = scene(160, 160)
    spoilt = [load_degradation("old-film")(picture, seed=seed) for seed in range(100, 120)]
    grey = [bool((np.ptp(one.astype(int), axis=2) == 0).all()) for one in spoilt]
    assert 7 <= sum(grey) <= 17
    even = load_degradation("old-film")(flat(128, 256), seed=4, severity=1.5).astype(float).mean(axis=2)
    middle = np.median(even)
    assert even.max() > middle + 60
    assert even.min() < middle - 50


def test_cracks_lose_emulsion_in_thin_lines_and_folds_throw_a_shade() -> None:
    surfaces = [damaged(SHAPE, chance(seed), severity=1.5, scale=0.5) for seed in range(6)]
    for one in surfaces:
        assert 0.001 < (one.lost > 0.5).mean() < 0.15
        assert 0 <= one.lost.min() <= one.lost.max() <= 1
        assert one.relief.mean() == pytest.approx(1, abs=0.01)
    assert max(float(one.relief.max()) for one in surfaces) > 1.05
    assert min(float(one.relief.min()) for one in surfaces) < 0.95
    weak = damaged(SHAPE, chance(2), severity=0.2, scale=0.5)
    assert weak.lost.sum() < surfaces[2].lost.sum()


def test_stains_are_darker_at_their_rim() -> None:
    plane = max((stains(SHAPE, chance(seed), count=1, scale=0.5) for seed in range(8)), key=lambda one: one.max())
    inside = plane[plane > 0.01]
    assert plane.max() > 1.8 * np.median(inside)
    assert (stains(SHAPE, chance(0), count=0, scale=0.5) == 0).all()


def test_foxing_is_spots_and_paper_is_even() -> None:
    spots = foxing(SHAPE, chance(), count=60, scale=0.5)
    assert 0.005 < (spots > 0.02).mean() < 0.3
    assert (spots >= 0).all()
    tooth = paper_texture(SHAPE, chance(), scale=0.5)
    assert abs(float(tooth.mean())) < 1e-4
    assert float(tooth.std()) == pytest.approx(1, rel=1e-3)


def test_interlacing_shows_as_combs_between_neighbouring_lines() -> None:
    bars = (np.arange(120) // 12 % 2).astype(np.float32)[None, :, None].repeat(90, 0).repeat(3, 2)
    assert np.abs(np.diff(bars, axis=0)).max() == 0
    combed = _interlaced(bars, chance(1), 1.0)
    neighbours, fields = (float(np.abs(combed[step:] - combed[:-step]).mean()) for step in (1, 2))
    assert neighbours > 0.02
    assert neighbours > 4 * fields, "lines of the same field agree"


def test_surveillance_pictures_keep_the_combs() -> None:
    bars = (np.arange(512) // 64 % 2 * 140 + 60).astype(np.uint8)[None, :, None].repeat(512, 0).repeat(3, 2)
    spoilt = load_degradation("surveillance")(bars, seed=3)[120:400].astype(float).mean(axis=2)
    profile = np.abs(np.fft.rfft(spoilt - spoilt.mean(axis=0), axis=0)).mean(axis=1)
    lines = np.argmax(profile[40:]) + 40
    assert profile[lines] > 4 * np.median(profile[40:]), "one frequency from line to line"


def test_the_timestamp_is_drawn_in_corners_and_reads_as_a_time() -> None:
    when, camera = timestamp(chance(5))
    assert [when.count(mark) for mark in ":"] == [2]
    assert camera[-2:].isdigit()
    frame = flat(120, 240)
    stamp = stamped(frame, chance(5))
    changed = (stamp != frame).any(axis=2)
    assert 0.01 < changed.mean() < 0.12
    assert not changed[60:180].any()
    assert stamp.max() > 200
    assert stamp.min() < 50


def test_surveillance_pictures_have_the_timestamp_on_them() -> None:
    for seed in range(3):
        spoilt = load_degradation("surveillance")(flat(120, 384), seed=seed)
        rim, middle = np.concatenate([spoilt[:48], spoilt[-48:]]), spoilt[96:-96]
        assert rim.max() > middle.max() + 50


def test_surveillance_has_little_colour() -> None:
    picture = scene(256, 256)
    strength = np.ptp(picture.astype(int), axis=2).mean()
    for seed in range(5):
        spoilt = load_degradation("surveillance")(picture, seed=seed)
        assert np.ptp(spoilt.astype(int), axis=2).mean() < 0.75 * strength


def test_compression_is_twice_as_coarse_at_twice_the_severity() -> None:
    assert [quality(50, severity) for severity in (0, 1, 2, 4)] == [100, 50, 25, 12]
    assert [quality(80, severity) for severity in (0.5, 1, 2)] == [90, 80, 60]
    losses = [np.abs(jpeg(scene(64, 64), one).astype(int) - scene(64, 64)).mean() for one in (95, 50, 12)]
    assert losses == sorted(losses)


def test_the_mixture_keeps_brightness_and_loses_detail_differently_each_time() -> None:
    picture = scene(256, 256)
    spoilt = [load_degradation("mixed")(picture, seed=seed) for seed in range(6)]
    for one in spoilt:
        assert np.abs(one.astype(float).mean(axis=(0, 1)) - picture.mean(axis=(0, 1))).max() < 5
    losses = [sharpness(one) / sharpness(picture) for one in spoilt]
    assert max(losses) > 1.1 * min(losses)
