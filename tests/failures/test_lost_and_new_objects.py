"""Objects that vanish or appear, by what the object detector sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import cv2
import numpy as np
import pytest

from convergebench.errors import Prerequisite
from convergebench.failures import _objects
from convergebench.failures._asked_objects import asked_labels, category_of
from convergebench.failures.base import Box, ChainView, StepView
from convergebench.failures.lost_object import lost_object
from convergebench.failures.new_object import new_object
from convergebench.images.frame import Frame, Pixels
from convergebench.types import Operation
from tests.failures.chains import picture
from tests.failures.told_network import ToldNetwork
from tests.metrics.pictures import resized

DISC = Box(0.55, 0.5, 0.2, 0.2)
"""Where `with_ball` puts its ball."""


def with_ball(pixels: Pixels, middle: tuple[int, int] = (208, 192)) -> Pixels:
    out = pixels.copy()
    cv2.circle(out, middle, 30, (40, 60, 200), -1, cv2.LINE_AA)
    cv2.circle(out, (middle[0] - 10, middle[1] - 12), 8, (220, 225, 250), -1, cv2.LINE_AA)
    return out


def copied(index: int) -> tuple[str, Operation, str]:
    return "", "replicate", "whole"


def chain(frames: Sequence[Pixels], words: Callable[[int], tuple[str, Operation, str]] = copied) -> ChainView:
    steps = [StepView(0, lambda: Frame(frames[0]))]
    for index, pixels in enumerate(frames[1:], start=1):
        instruction, operation, compared = words(index)
        steps.append(
            StepView(
                *(index, partial(Frame, pixels), instruction, operation),
                compared=compared,  # type: ignore[arg-type]
                parent=index - 1,
            )
        )
    return ChainView("editor", "case", "source", "variant", "family", steps)


def added(index: int) -> tuple[str, Operation, str]:
    return ("Add a chair.", "add", "around") if index % 2 else ("Remove the chair.", "remove", "whole")


def test_an_object_that_is_gone_is_found_from_the_step_that_lost_it(network: ToldNetwork) -> None:
    source = network.shows(with_ball(picture()), ("sports ball", 0.7, DISC))
    bare = network.shows(picture())
    (finding,) = lost_object(chain([source, source, bare, bare, bare])).findings
    assert (finding.step, finding.last) == (2, None)
    assert finding.detail == "seen in the source and not here: sports ball (score 0.70)"
    assert finding.region == pytest.approx(DISC)
    assert finding.confidence > 0.5


def test_what_came_is_new_and_not_lost_and_the_other_way_round(network: ToldNetwork) -> None:
    source = network.shows(picture())
    ball = network.shows(with_ball(picture()), ("sports ball", 0.7, DISC))
    grown, shrunk = chain([source, ball, ball, ball]), chain([ball, source, source, source])
    assert new_object(grown).findings[0].detail == "seen here and not in the source: sports ball (score 0.70)"
    assert (new_object(grown).findings[0].step, lost_object(grown).findings) == (1, ())
    assert (lost_object(shrunk).findings[0].step, new_object(shrunk).findings) == (1, ())


@pytest.mark.parametrize(
    ("seen", "box", "is_lost"),
    [
        (0.29, DISC, False),  # hardly seen in the source
        (0.31, DISC, True),
        (0.9, Box(0.55, 0.5, 0.09, 0.09), False),  # too small to be sure of
        (0.9, Box(0.6, 0.4, 0.05, 0.4), False),  # too slender
    ],
)
def test_only_a_clear_and_large_enough_object_can_be_lost(
    network: ToldNetwork, seen: float, box: Box, is_lost: bool
) -> None:
    source, bare = network.shows(with_ball(picture()), ("cup", seen, box)), network.shows(picture())
    assert bool(lost_object(chain([source, bare, bare, bare])).findings) == is_lost


@pytest.mark.parametrize(
    ("label", "box", "is_lost"),
    [
        ("cat", DISC, False),  # a dog taken for a cat
        ("vase", DISC, False),  # another kind that fills the place
        ("cat", Box(0.6, 0.55, 0.2, 0.2), False),  # moved a little
        ("cat", Box(0.05, 0.05, 0.2, 0.2), True),
        ("vase", Box(0.6, 0.55, 0.2, 0.2), True),
        ("cat", Box(0.58, 0.52, 0.105, 0.105), False),  # a large part of it
        ("cat", Box(0.6, 0.55, 0.06, 0.06), True),
    ],
)
def test_something_alike_at_its_place_is_its_counterpart(
    network: ToldNetwork, label: str, box: Box, is_lost: bool
) -> None:
    source = network.shows(with_ball(picture()), ("dog", 0.8, DISC))
    step = network.shows(picture(), (label, _objects.FAINT, box))
    assert bool(lost_object(chain([source, step, step, step])).findings) == is_lost


def test_of_two_objects_that_overlap_one_can_be_lost(network: ToldNetwork) -> None:
    """What is left is the counterpart of one of them only."""
    behind = Box(0.6, 0.55, 0.2, 0.2)
    source = network.shows(with_ball(picture()), ("cat", 0.8, DISC), ("cat", 0.6, behind))
    step = network.shows(picture(), ("cat", 0.6, behind))
    (finding,) = lost_object(chain([source, step, step, step])).findings
    assert finding.detail.endswith("not here: cat (score 0.80)")


def test_an_object_that_the_network_no_longer_sees_in_the_same_pixels_is_still_there(network: ToldNetwork) -> None:
    source = network.shows(with_ball(picture()), ("sports ball", 0.9, DISC))
    worn = network.shows(np.asarray(cv2.GaussianBlur(source, (0, 0), 3), np.uint8))
    found = lost_object(chain([source, worn, worn, worn]))
    assert found.findings == ()
    assert found.probes["objects-lost"] == {1: 0.0, 2: 0.0, 3: 0.0}


def test_two_steps_are_not_enough(network: ToldNetwork) -> None:
    source, bare = network.shows(with_ball(picture()), ("sports ball", 0.9, DISC)), network.shows(picture())
    assert lost_object(chain([source, bare, bare, source])).findings == ()


def test_what_an_instruction_adds_is_expected(network: ToldNetwork) -> None:
    source = network.shows(picture())
    chairs = network.shows(with_ball(picture()), ("chair", 0.9, DISC))

    def asks(words: str) -> ChainView:
        return chain([source, chairs, chairs, chairs], lambda index: (words, "add", "around"))

    assert new_object(asks("Add a chair.")).findings == ()
    assert new_object(asks("Put an armchair on the left.")).findings == ()


def test_a_thing_that_the_network_calls_by_another_name_stands_where_the_edit_was(network: ToldNetwork) -> None:
    """A lamp is none of its kinds; it sees a vase where the lamp was put."""
    source = network.shows(picture())
    lamp = network.shows(with_ball(picture()), ("vase", 0.9, DISC))
    found = new_object(chain([source, lamp, lamp, lamp], lambda index: ("Add a lamp.", "add", "around")))
    assert found.findings == ()
    assert "could be measured" in found.cannot_tell


def test_a_second_thing_that_nobody_asked_for_is_new(network: ToldNetwork) -> None:
    source = network.shows(picture())
    both = picture().copy()
    both[20:130, 20:120] = (30, 160, 60)
    both = network.shows(
        with_ball(both), ("chair", 0.9, Box(20 / 320, 20 / 320, 100 / 320, 110 / 320)), ("vase", 0.9, DISC)
    )

    def once(index: int) -> tuple[str, Operation, str]:
        return ("Add a chair.", "add", "around") if index == 1 else ("", "replicate", "around")

    (finding,) = new_object(chain([source, both, both, both], once)).findings
    assert "vase" in finding.detail
    assert "chair" not in finding.detail


def test_the_sources_own_chair_must_be_back_when_the_added_one_is_removed(network: ToldNetwork) -> None:
    """While a chair is to be there, one chair or another is; only the steps after its removal count."""
    source = network.shows(with_ball(picture()), ("chair", 0.8, DISC))
    other = network.shows(with_ball(picture(), (190, 180)), ("chair", 0.8, DISC))
    bare = network.shows(picture())
    (finding,) = lost_object(chain([source, other, bare, other, bare, other, bare], added)).findings
    assert finding.step == 2
    kept = lost_object(chain([source, other, source, other, source, other, source], added))
    assert (kept.findings, kept.cannot_tell) == ((), "")


def test_a_picture_that_has_fallen_apart_lost_no_single_object(network: ToldNetwork) -> None:
    source = network.shows(with_ball(picture()), ("sports ball", 0.9, DISC))
    noise = network.shows(np.random.default_rng(3).integers(0, 256, source.shape, np.uint8))
    assert "could be measured" in lost_object(chain([source, noise, noise, noise])).cannot_tell


def test_an_object_that_was_most_of_the_picture_can_be_lost(network: ToldNetwork) -> None:
    """The rest of the picture is what must be the same, not the picture."""
    large = picture("astronaut")
    source = network.shows(large, ("person", 0.8, Box(0.1, 0.0, 0.6, 1.0)))
    bare = large.copy()
    bare[:, 32:224] = (40, 120, 200)
    bare = network.shows(bare)
    assert lost_object(chain([source, bare, bare, bare])).findings[0].step == 1
    network.shows(large, ("person", 0.8, Box(0.0, 0.0, 0.96, 1.0)))  # nothing is left to compare
    assert "could be measured" in lost_object(chain([source, bare, bare, bare])).cannot_tell


def test_without_the_networks_weights_nothing_can_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(frame: Frame) -> tuple[_objects.SeenObject, ...]:
        raise Prerequisite("needs weights: cbench weights fetch objects")

    monkeypatch.setattr(_objects, "_detect", missing)
    for detector in (lost_object, new_object):
        found = detector(chain([picture()] * 4))
        assert found.cannot_tell == "needs weights: cbench weights fetch objects"
        assert found.retry


def test_the_network_itself_sees_a_person_come_and_go(real_network: None) -> None:
    """The upper half of the astronaut, put on the launching pad."""
    alone = picture("rocket")
    person = resized(picture("astronaut")[0:300, 0:240], 120, 150)
    together = alone.copy()
    together[165:315, 190:310] = person
    worn = np.asarray(cv2.GaussianBlur(together, (0, 0), 1.5), np.uint8)
    (came,) = new_object(chain([alone, together, together, together])).findings
    (went,) = lost_object(chain([together, alone, alone, alone])).findings
    assert "person" in came.detail
    assert "person" in went.detail
    assert lost_object(chain([together, worn, worn, worn])).findings == ()
    asked = chain([alone, together, together, together], lambda index: ("Add a woman.", "add", "around"))
    assert new_object(asked).findings == ()


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        ("Add one more apple to the table.", {"apple"}),
        ("add a red ball", {"sports ball"}),
        ("Remove the sofas.", {"couch"}),
        ("Replace the cat with a dog", {"cat", "dog"}),
        ("In the foreground, put a puppy.", {"dog"}),
        ("Take the glasses off the person's face.", {"person"}),
        ("Add a lamp on the left.", set()),
        ("Scatter stars over the sky", set()),  # no car
    ],
)
def test_the_objects_that_an_instruction_names(words: str, labels: set[str]) -> None:
    assert asked_labels(words) == labels


def test_kinds_that_are_taken_for_one_another() -> None:
    assert category_of("cat") == category_of("dog")
    assert category_of("chair") == category_of("couch")
    assert category_of("person") != category_of("dog")
    assert category_of("umbrella") == "umbrella"
