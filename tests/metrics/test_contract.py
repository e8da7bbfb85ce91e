"""What every metric that works on pixels must do, whatever it measures. Those that cannot run here are skipped."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from convergebench import registry
from convergebench.images.frame import Frame, Pixels
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item, MetricFacts
from convergebench.metrics.readiness import lacks
from tests.metrics.pictures import jpeg, noisy, photograph

WORDS = {"instruction": "add a red ball", "before": "a room", "after": "a room with a red ball"}


@cache
def facts_of(name: str) -> MetricFacts:
    return load_metric(name).facts


# who is asked answers in tests/roles; what pyiqa brings is held to its own tests
NAMES = [name for name in registry.names("metrics") if not facts_of(name).asks and "iqa" not in facts_of(name).needs]


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    missing = lacks(facts_of(request.param))
    if missing:
        pytest.skip(f"{request.param} lacks {'; '.join(missing)}")
    return str(request.param)


def item(subject: Pixels, reference: Pixels) -> Item:
    """A round: reference, an image between, subject."""
    return Item(Frame(subject, "subject"), Frame(reference, "reference"), between(reference), "add", **WORDS)


def between(reference: Pixels) -> Frame:
    return Frame(reference[:, ::-1].copy(), "via")


def values(name: str, *items: Item) -> list[tuple[float | None, str]]:
    return [(reading.value, reading.status) for reading in load_metric(name).measure(items)]


PICTURE = photograph("astronaut", 230, 201)
WORN = jpeg(PICTURE, 25)
OTHERS = {
    "worn": WORN,
    "noisy": noisy(PICTURE, 12),
    "untouched": PICTURE,
    "another": photograph("coffee", 230, 201),
    "spoilt": noisy(PICTURE, 60),
}


def fitting(name: str, picture: Pixels) -> Pixels:
    """Networks take seconds for what pixels tell at once: they get a part of the picture."""
    return np.ascontiguousarray(picture[40:152, 50:178]) if facts_of(name).network else picture


@cache
def reference_of(name: str) -> tuple[Frame, Frame]:
    """The reference and the image between, each with what a metric keeps of it: networks look at them once."""
    picture = fitting(name, PICTURE)
    return Frame(picture, "reference"), between(picture)


@cache
def alone(name: str, other: str) -> tuple[float | None, str]:
    """The value of one picture by itself, for every test that needs it."""
    reference, via = reference_of(name)
    subject = Frame(fitting(name, OTHERS[other]).copy(), "subject")
    return values(name, Item(subject, reference, via, "add", **WORDS))[0]


def test_the_same_pictures_have_the_same_value_again_and_stay_as_they_were(name: str) -> None:
    subject, reference = fitting(name, WORN).copy(), fitting(name, PICTURE).copy()
    subject.setflags(write=False)
    reference.setflags(write=False)
    assert values(name, item(subject, reference)) == [alone(name, "worn")]
    assert (subject == fitting(name, WORN)).all()
    assert (reference == fitting(name, PICTURE)).all()


def test_a_batch_gives_what_each_gives_alone(name: str) -> None:
    others = ("worn", "noisy", "untouched", "another")
    together = values(name, *(item(fitting(name, OTHERS[one]), fitting(name, PICTURE)) for one in others))
    single_values = [alone(name, one) for one in others]
    for (value, status), (single, same) in zip(together, single_values, strict=True):
        assert status == same
        assert value == (None if single is None else pytest.approx(single, abs=1e-5, rel=1e-5, nan_ok=False))


def test_an_untouched_image_has_the_self_value(name: str) -> None:
    expected = facts_of(name).self_value
    if expected is None or facts_of(name).kind == "adherence":
        return
    value, status = alone(name, "untouched")
    if (name, status) not in (("text-kept", "no-text"), ("face-identity", "no-face")):
        assert value == pytest.approx(expected, abs=1e-6)


def test_values_stay_within_the_declared_range(name: str) -> None:
    low, high = facts_of(name).range
    for other in ("worn", "spoilt", "another"):
        value, _ = alone(name, other)
        assert value is None or (not math.isnan(value) and low <= value <= high)


def test_grey_and_even_pictures_have_a_value_or_a_reason(name: str) -> None:
    picture = fitting(name, PICTURE)
    grey = np.repeat(picture.mean(axis=2, keepdims=True), 3, axis=2).astype(np.uint8)
    even = np.full_like(picture, 128)
    for subject in (grey, even, np.zeros_like(picture), np.full_like(picture, 255)):
        items = [item(subject, picture), item(picture, subject)]
        # without a reference the second one is the same picture every time
        for value, status in values(name, *items[: 1 if facts_of(name).kind == "no-reference" else 2]):
            assert (value is not None and not math.isnan(value)) == (status == "ok")


@pytest.mark.parametrize("size", [(1, 1), (7, 5), (16, 16), (33, 64)])
def test_small_pictures_have_a_value_or_a_reason(name: str, size: tuple[int, int]) -> None:
    width, height = size
    small = np.ascontiguousarray(PICTURE[:height, :width])
    for value, status in values(name, item(small, small.copy()), item(255 - small, small)):
        assert (value is not None and not math.isnan(value)) == (status == "ok")


def test_what_compares_says_so_when_there_is_nothing_to_compare_with(name: str) -> None:
    ((value, status),) = values(name, Item(Frame(fitting(name, PICTURE))))
    if facts_of(name).kind == "no-reference":
        assert status == "ok"
        assert value is not None
    elif facts_of(name).kind in ("full-reference", "semantic"):
        assert (value, status) == (None, "no-reference")


def test_sizes_are_never_made_equal_quietly(name: str) -> None:
    ((value, status),) = values(name, item(np.ascontiguousarray(PICTURE[:, :200]), PICTURE))
    if facts_of(name).kind == "full-reference":
        assert (value, status) == (None, "size")


@pytest.mark.parametrize("name", registry.names("metrics"))
def test_a_metric_says_where_it_comes_from_and_on_which_terms(name: str) -> None:
    facts = load_metric(name).facts
    assert facts.licence
    if facts.kind in ("full-reference", "no-reference") and name not in (
        "psnr",
        "rmse",
        "rubric-quality",
        "changed-share",
    ):
        assert facts.paper
    if facts.kind == "no-reference":
        assert facts.typical is not None
        assert not facts.aligned
        assert "source" in facts.roles
