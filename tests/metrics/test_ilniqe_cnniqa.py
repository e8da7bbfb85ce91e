"""IL-NIQE and CNNIQA: true to the programs they stand in for, and well behaved where those are not."""

from __future__ import annotations

import csv
import subprocess
import sys
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest

from convergebench.errors import Prerequisite, Unmeasurable
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item
from convergebench.metrics.no_reference import _ilniqe_features, _ilniqe_fits, _ilniqe_maps
from convergebench.metrics.no_reference.cnniqa_live import patches
from convergebench.metrics.place import Place, place
from convergebench.weights import locate
from tests.metrics import plain_ilniqe
from tests.metrics.calibration import NAMES, calibration_pair, published
from tests.metrics.pictures import GOLDEN, box_blur, golden_pair, jpeg, noisy, photograph

ALL = ("ilniqe", "ilniqe-matlab", "cnniqa-live")
BOTH = ("ilniqe", "cnniqa-live")
"""`ilniqe-matlab` is the same code as `ilniqe`."""
PATH = Path(__file__).parents[1] / "golden" / "no_reference.csv"
ROWS = [row for row in csv.DictReader(PATH.read_text(encoding="utf-8").splitlines()) if row["metric"] in ALL]
WEIGHTS = {"ilniqe": "ilniqe-template", "ilniqe-matlab": "ilniqe-template", "cnniqa-live": "cnniqa-live"}


@cache
def ready(name: str) -> str:
    """Why a metric cannot run here; empty if it can."""
    if name == "cnniqa-live":
        try:
            import torch  # noqa: F401
        except ImportError:
            return "cnniqa-live needs torch"
    try:
        locate(WEIGHTS[name])
    except Prerequisite as reason:
        return str(reason)
    return ""


def score(name: str, pixels: Pixels) -> float:
    if ready(name):
        pytest.skip(ready(name))
    reading = load_metric(name).measure([Item(Frame(pixels))])[0]
    assert reading.value is not None, reading
    return reading.value


def refused(name: str, pixels: Pixels) -> str:
    if ready(name):
        pytest.skip(ready(name))
    reading = load_metric(name).measure([Item(Frame(pixels))])[0]
    assert reading.value is None
    assert reading.detail
    return reading.status


def even(value: int, width: int = 160, height: int = 120) -> Pixels:
    return np.full((height, width, 3), value, np.uint8)


# True to the originals


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['metric']}-{row['case']}")
def test_golden_values_of_other_peoples_code(row: dict[str, str]) -> None:
    value = score(row["metric"], golden_pair(row["case"])[0])
    assert value == pytest.approx(float(row["value"]), abs=float(row["tolerance"]))


def test_every_metric_has_golden_rows() -> None:
    assert {(row["metric"], row["case"]) for row in ROWS} == {(name, case) for name in ALL for case in GOLDEN}


# Distances allowed for I03, I04, I06, I08, I19. Even areas make up a third of I19.
CALIBRATION = [
    ("ilniqe", "ilniqe(ours)", (0.005, 0.003, 0.008, 0.043, 0.012)),
    ("ilniqe-matlab", "ilniqe", (0.2, 0.009, 0.008, 0.031, 0.054)),
]


@pytest.mark.parametrize(("metric", "who", "allowed"), CALIBRATION)
def test_published_values(metric: str, who: str, allowed: tuple[float, ...]) -> None:
    for name, tolerance in zip(NAMES, allowed, strict=True):
        assert score(metric, calibration_pair(name)[1]) == pytest.approx(published(who)[name], abs=tolerance), name


def test_cnniqa_on_the_calibration_images() -> None:
    """Values of the code that the weights come from; the reference images are the clean ones."""
    clean = (11.496954, 12.150784, 14.910247, 18.356461, 20.467115)
    damaged = (78.477844, 12.035336, 14.828380, 19.712078, 85.587387)
    for name, *expected in zip(NAMES, clean, damaged, strict=True):
        found = [score("cnniqa-live", pixels) for pixels in calibration_pair(name)]
        assert found == pytest.approx(expected, abs=1e-4), name


@pytest.mark.slow
@pytest.mark.parametrize("case", GOLDEN)
@pytest.mark.parametrize(("metric", "rounded", "faintest"), [("ilniqe", False, 1e-4), ("ilniqe-matlab", True, 2**-52)])
def test_the_fast_way_gives_what_the_plain_way_gives(case: str, metric: str, rounded: bool, faintest: float) -> None:
    pixels = golden_pair(case)[0]
    expected = plain_ilniqe.ilniqe(pixels, rounded=rounded, faintest=faintest)
    assert score(metric, pixels) == pytest.approx(expected, abs=0.0005)


# Parts


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("size", [(90, 61), (61, 90), (33, 700), (640, 524)])
def test_resizing_is_that_of_matlab(size: tuple[int, int], rounded: bool) -> None:
    pixels = cv2.resize(photograph("coffee", 300, 200), size)
    found = _ilniqe_maps.normalised(np.asarray(pixels, np.uint8), rounded=rounded)
    expected = plain_ilniqe.resized(np.asarray(pixels, np.uint8), rounded)[:504, :504]
    assert found.shape == (504, 504, 3)
    if rounded:
        # a value half way between two levels may fall to either
        assert (found != expected).mean() < 1e-3
        assert np.abs(found - expected).max() <= 1
    else:
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_fits_are_those_of_the_plain_way() -> None:
    random = np.random.default_rng(1)
    planes = random.standard_t(3, (84, 126, 2)) * np.where(random.random((84, 126, 2)) < 0.3, 0, 1) + 0.05
    squares = random.weibull(1.3, (84, 126, 2)) ** 2 + 1e-8
    found = _ilniqe_fits.gaussian(_ilniqe_fits.tally(planes, 42), 42 * 42)
    sizes = _ilniqe_fits.weibull(squares, 42)
    boxes = [(slice(y, y + 42), slice(x, x + 42)) for x in (0, 42, 84) for y in (0, 42)]
    for index, box in enumerate(boxes):
        for channel in (0, 1):
            expected = plain_ilniqe.asymmetric(planes[(*box, channel)])
            assert [part[index, channel] for part in found] == pytest.approx(expected, rel=1e-9)
            expected_size = plain_ilniqe.weibull(np.sqrt(squares[(*box, channel)]).ravel())
            assert [part[index, channel] for part in sizes] == pytest.approx(expected_size, rel=1e-5)


def test_a_patch_of_one_value_has_an_infinite_shape_and_one_sided_ones_no_scale() -> None:
    fit = _ilniqe_fits.weibull(np.full((42, 42, 1), 0.25), 42)
    assert fit.scale[0, 0] == pytest.approx(0.5)
    assert np.isinf(fit.shape[0, 0])
    one_sided = _ilniqe_fits.gaussian(
        _ilniqe_fits.tally(np.abs(np.random.default_rng(0).normal(size=(42, 42, 1))), 42), 1764
    )
    assert np.isnan(one_sided.left[0, 0])
    assert one_sided.right[0, 0] > 0


def test_features_are_234_at_each_of_two_sizes() -> None:
    image = _ilniqe_maps.normalised(photograph("chelsea"), rounded=False)
    found = _ilniqe_features.features(image, 1e-4)
    assert found.shape == (36, 2 * 234)
    assert np.isfinite(found).all()


def test_patches_leave_out_what_the_original_leaves_out() -> None:
    counts = {size: len(patches(Frame(even(0, *size)))) for size in ((64, 64), (65, 65), (97, 33), (512, 384))}
    assert counts == {(64, 64): 1, (65, 65): 4, (97, 33): 3, (512, 384): 165}


def test_a_patch_is_normalised_by_itself() -> None:
    pixels = photograph("astronaut", 100, 70)
    alone = patches(Frame(np.ascontiguousarray(pixels[32:65, 32:65])))
    np.testing.assert_array_equal(patches(Frame(pixels))[4], alone[0])
    assert not patches(Frame(even(90))).any()


# Behaviour


@pytest.mark.parametrize("name", BOTH)
def test_more_damage_gives_a_higher_value(name: str) -> None:
    clean = photograph("astronaut", 320, 256)
    blurred = [score(name, clean), *(score(name, box_blur(clean, side)) for side in (3, 7))]
    assert blurred == sorted(blurred)
    assert score(name, jpeg(clean, 8)) > blurred[0] + 5
    assert score(name, noisy(clean, 40)) > score(name, noisy(clean, 20)) > blurred[0] + 5


@pytest.mark.parametrize("name", BOTH)
def test_the_same_image_has_the_same_value(name: str) -> None:
    pixels = photograph("coffee", 211, 133)
    before = pixels.copy()
    first = score(name, pixels)
    assert score(name, np.asfortranarray(pixels)) == first
    np.testing.assert_array_equal(pixels, before)


@pytest.mark.parametrize("name", BOTH)
def test_many_at_once_have_the_values_of_each_alone(name: str) -> None:
    pictures = [photograph("astronaut", 150, 90), even(0, 20, 20), photograph("chelsea", 97, 201)]
    alone = [score(name, pictures[0]), score(name, pictures[2])]
    together = load_metric(name).measure([Item(Frame(pixels)) for pixels in pictures])
    assert together[1].value is None
    assert [together[0].value, together[2].value] == alone


def test_threads_do_not_change_a_value() -> None:
    pixels = photograph("coffee", 160, 120)
    before = cv2.getNumThreads()
    try:
        found = set()
        for threads in (1, 2):
            cv2.setNumThreads(threads)
            found.add(score("ilniqe", pixels))
    finally:
        cv2.setNumThreads(before)
    assert len(found) == 1


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("size", [(33, 33), (35, 150), (151, 47)])
def test_odd_and_small_sizes_are_measured(name: str, size: tuple[int, int]) -> None:
    assert np.isfinite(score(name, photograph("chelsea", *size)))


@pytest.mark.parametrize(("name", "size"), [("ilniqe", 31), ("ilniqe-matlab", 31), ("cnniqa-live", 32)])
def test_what_is_too_small_is_refused(name: str, size: int) -> None:
    assert refused(name, photograph("chelsea", size, 100)) == "too-small"
    assert refused(name, photograph("chelsea", 100, size)) == "too-small"


@pytest.mark.parametrize(("name", "value"), [("ilniqe", 0), ("ilniqe", 255), ("ilniqe-matlab", 77)])
def test_an_even_image_has_no_value(name: str, value: int) -> None:
    assert refused(name, even(value)) == "featureless"


@pytest.mark.parametrize("name", ["ilniqe", "ilniqe-matlab"])
def test_patches_without_features_count_as_the_mean_of_the_others(name: str) -> None:
    pixels = np.array(photograph("astronaut", 320, 256))
    pixels[:, 200:] = 255
    assert 10 < score(name, pixels) < 200
    # one column of patches is left
    pixels[:, 60:] = 255
    assert np.isfinite(score(name, pixels))


def test_one_patch_is_enough_and_none_is_not() -> None:
    if ready("ilniqe"):
        pytest.skip(ready("ilniqe"))
    template = _ilniqe_features._template(locate("ilniqe-template"))
    natural = template.centre + np.random.default_rng(0).normal(size=(36, 468))
    natural[1:, 7] = np.nan
    alone = _ilniqe_features.distance_from(template, natural)
    assert alone == pytest.approx(_ilniqe_features.distance_from(template, natural[:1]))
    natural[0, 9] = np.nan
    with pytest.raises(Unmeasurable, match="no patch"):
        _ilniqe_features.distance_from(template, natural)


@pytest.mark.parametrize("name", BOTH)
def test_grey_images_and_two_level_images_are_measured(name: str) -> None:
    colour = photograph("astronaut", 200, 160)
    grey = np.repeat(colour[:, :, 1:2], 3, axis=2)
    assert np.isfinite(score(name, grey))
    assert np.isfinite(score(name, np.where(grey > 110, 255, 0).astype(np.uint8)))


def test_cnniqa_does_not_see_colour() -> None:
    grey = np.repeat(photograph("astronaut", 200, 160)[:, :, 1:2], 3, axis=2)
    assert score("cnniqa-live", grey) == score("cnniqa-live", np.ascontiguousarray(grey[:, :, ::-1]))


def test_cnniqa_in_bfloat16_is_near() -> None:
    pixels = photograph("astronaut")
    exact = score("cnniqa-live", pixels)
    with place(Place("cpu", "bfloat16")):
        rough = score("cnniqa-live", pixels)
    assert rough != exact
    assert rough == pytest.approx(exact, abs=0.2)


@pytest.mark.gpu
@pytest.mark.parametrize(("precision", "allowed"), [("float32", 1e-4), ("bfloat16", 0.2)])
def test_cnniqa_on_a_gpu(precision: str, allowed: float) -> None:
    pixels = photograph("astronaut", 512, 512)
    exact = score("cnniqa-live", pixels)
    with place(Place("cuda", precision)):  # type: ignore[arg-type]
        found = [score("cnniqa-live", pixels) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0] == pytest.approx(exact, abs=allowed)


# Facts


@pytest.mark.parametrize("name", ALL)
def test_facts(name: str) -> None:
    facts = load_metric(name).facts
    assert (facts.kind, facts.better, facts.typical) == ("no-reference", "lower", (0.0, 100.0))
    assert facts.roles == ("source", "return")
    assert not facts.aligned
    assert facts.weights == (WEIGHTS[name],)
    assert facts.needs == (("learned",) if name == "cnniqa-live" else ())


def test_a_missing_model_is_one_line_with_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CONVERGEBENCH_WEIGHTS", str(tmp_path))
    monkeypatch.setenv("CONVERGEBENCH_CACHE", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(Prerequisite, match="cbench weights fetch ilniqe-template"):
        load_metric("ilniqe").measure([Item(Frame(photograph("chelsea", 60, 60)))])


def test_the_facts_are_read_without_torch() -> None:
    code = (
        "import sys; from convergebench.metrics import load_metric; "
        f"[load_metric(name) for name in {ALL!r}]; sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_calling_a_metric_on_a_small_image_says_why() -> None:
    with pytest.raises(Unmeasurable, match="20×30 has a side shorter than 32 pixels"):
        load_metric("ilniqe")(Item(Frame(even(0, 20, 30))))  # type: ignore[operator]
