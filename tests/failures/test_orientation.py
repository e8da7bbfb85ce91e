"""Orientation: mirrored or turned as asked, or not."""

from __future__ import annotations

import numpy as np
import pytest

from convergebench.failures.orientation import orientation
from convergebench.types import Operation
from tests.failures.chains import COPY, MIRROR, NOISE, TURN, asked, drawn, picture, simulated


@pytest.mark.parametrize(("words", "operation"), [(MIRROR, "flip-horizontal"), (TURN, "rotate-90")])
@pytest.mark.parametrize("kind", ["noise", "blur", "crop", "wrinkle"])
def test_what_was_done_is_no_failure(words: str, operation: Operation, kind: str) -> None:
    wide = np.ascontiguousarray(picture()[:230])
    found = orientation(simulated([asked(words, operation, wear=[{"kind": kind}]) for _ in range(4)], source=wide))
    assert found.findings == ()
    assert min(found.probes["done"].values()) > 0.7


def test_what_was_not_done_is_found_with_the_success_rate() -> None:
    steps = [asked(MIRROR, "flip-horizontal", wear=NOISE, unturned=float(index in (1, 2))) for index in range(5)]
    (finding,) = orientation(simulated(steps)).findings
    assert (finding.step, finding.last) == (2, 3)
    assert "left as it was" in finding.detail
    assert "3 of 5 such steps were done (60%)" in finding.detail
    assert finding.confidence > 0.9


@pytest.mark.parametrize(
    ("words", "operation", "instead"),
    [
        (MIRROR, "flip-horizontal", "mirrored top to bottom"),
        (TURN, "rotate-90", "turned counter-clockwise by a quarter"),
    ],
)
def test_the_wrong_way_counts_as_failed_and_is_named(words: str, operation: Operation, instead: str) -> None:
    wide = np.ascontiguousarray(picture("motorcycle")[:250])
    (finding,) = orientation(simulated([asked(words, operation, wrong_turn=1)], source=wide)).findings
    assert instead in finding.detail


def test_a_turn_on_a_canvas_that_was_not_turned_is_still_a_turn() -> None:
    """A landscape stays a landscape, so the turned picture is cut: content turned is what was asked for."""
    source = picture("motorcycle")
    turned = np.rot90(source, -1)
    cut = np.ascontiguousarray(turned[40:280])
    found = orientation(drawn([source, cut], "rotate-90"))
    assert found.findings == ()
    assert found.probes["done"][1] > 0.5


def test_confidence_falls_to_a_half_as_the_two_ways_become_equally_likely() -> None:
    source = picture("motorcycle")
    mirrored = source[:, ::-1]
    sure = []
    for share in (0.0, 0.25, 0.45):
        mixed = np.rint(source * (1 - share) + mirrored * share).astype(np.uint8)
        (finding,) = orientation(drawn([source, mixed], "flip-horizontal")).findings
        sure.append(finding.confidence)
    assert sure == sorted(sure, reverse=True)
    assert sure[0] > 0.95
    assert 0.5 < sure[-1] < 0.65


def test_a_symmetric_picture_cannot_be_told() -> None:
    half = picture()[:, :160]
    both = np.ascontiguousarray(np.concatenate([half, half[:, ::-1]], axis=1))
    assert "look the same" in orientation(drawn([both, both], "flip-horizontal")).cannot_tell


def test_another_picture_altogether_cannot_be_told() -> None:
    assert "too far" in orientation(drawn([picture(), picture("astronaut")], "flip-horizontal")).cannot_tell


def test_a_chain_of_copies_has_no_orientation_to_fail() -> None:
    assert orientation(simulated([asked(COPY, "replicate")])).does_not_apply
