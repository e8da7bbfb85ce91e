"""What every rule about noise, colour and texture must do; what is special to one is in its own file."""

from __future__ import annotations

import numpy as np
import pytest

from convergebench.failures import load_detector
from convergebench.images.frame import Pixels
from tests.failures.planted import FAILURES, FROM, STEPS, astronaut, chain, coffee, found, others, planted
from tests.metrics.pictures import jpeg


@pytest.mark.parametrize("name", FAILURES)
def test_it_is_found_from_the_step_on_that_first_shows_it_with_the_numbers_of_every_step(name: str) -> None:
    result = load_detector(name)(planted(FAILURES[name]))
    assert found(result) == FROM
    finding = result.findings[0]
    assert 0.5 <= finding.confidence < 1
    assert finding.last is None
    assert finding.detail
    assert finding.shown is not None
    assert finding.shown >= FROM
    longest = max(result.probes.values(), key=len)
    assert list(longest) == list(range(1, STEPS + 1))
    assert all(np.isfinite(value) for series in result.probes.values() for value in series.values())


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("source", [astronaut, coffee])
def test_copies_and_re_encoded_copies_have_none(name: str, source: object) -> None:
    pixels = astronaut() if source is astronaut else coffee()
    assert found(load_detector(name)(chain([pixels] * 4))) is None
    assert found(load_detector(name)(chain([pixels, *(jpeg(pixels, 92 + step) for step in range(3))]))) is None


@pytest.mark.parametrize(("name", "other"), [(name, other) for name in FAILURES for other in others(name)])
def test_one_failure_is_not_taken_for_another(name: str, other: str) -> None:
    assert found(load_detector(name)(planted(FAILURES[other], steps=3, first=1))) is None


@pytest.mark.parametrize("name", FAILURES)
def test_it_is_found_in_steps_that_lie_mirrored(name: str) -> None:
    frames = [one.load().pixels for one in planted(FAILURES[name]).steps]
    turned = [frame[:, ::-1] if step % 2 else frame for step, frame in enumerate(frames)]
    mirrored = chain(turned, orientation=lambda step: "flip-horizontal" if step % 2 else None)
    assert found(load_detector(name)(mirrored)) == FROM


@pytest.mark.parametrize("name", FAILURES)
def test_it_is_found_after_a_crop_in_the_first_step(name: str) -> None:
    frames = [one.load().pixels for one in planted(FAILURES[name]).steps]
    cropped = [frames[0], *(frame[8:-8, :-6] for frame in frames[1:])]
    assert found(load_detector(name)(chain(cropped))) == FROM


@pytest.mark.parametrize("name", FAILURES)
def test_an_added_thing_is_not_what_is_looked_at(name: str) -> None:
    """A disc that has the failure in it; around it nothing changed."""
    source = astronaut()
    rows, columns = np.mgrid[0:256, 0:256]
    disc = np.hypot(rows - 70, columns - 70) < 55

    def with_disc(step: int) -> Pixels:
        thing = FAILURES[name](np.roll(source, 97, (0, 1))[..., ::-1].copy(), step)
        return np.where(disc[..., None], thing, source)

    added = chain([source, *(with_disc(step) for step in range(1, 4))], compared="around")
    assert found(load_detector(name)(added)) is None


@pytest.mark.parametrize("name", FAILURES)
def test_its_facts_say_what_the_table_needs(name: str) -> None:
    facts = load_detector(name).facts
    assert facts.name == name
    assert facts.level == ("sub-object" if name == "simplification" else "noise")
    assert "three steps in a row" in facts.rule
    assert facts.summary
