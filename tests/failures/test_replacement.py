"""Replacement: the new thing stands where an earlier step's thing stood."""

from __future__ import annotations

from dataclasses import replace

from convergebench.failures.base import ChainView
from convergebench.failures.replacement import replacement
from tests.failures.chains import APPLE, NOISE, asked, picture, simulated

FRUITS = ("banana", "coconut", "plum", "watermelon", "orange", "kiwi")


def fruits(count: int, **options: object) -> ChainView:
    steps = [asked(f"Add a {fruit} to the table.", "add", **options) for fruit in FRUITS[:count]]
    return simulated(steps, source=picture("motorcycle"))


def test_things_put_side_by_side_replace_nothing() -> None:
    found = replacement(fruits(6, wear=NOISE))
    assert found.findings == ()
    assert set(found.probes["place-changed"]) == {2, 3, 4, 5, 6}


def test_a_thing_in_place_of_an_earlier_one_is_found_with_both_instructions() -> None:
    (finding,) = replacement(fruits(4, wear=NOISE, replace_every=3)).findings
    assert (finding.step, finding.last) == (3, 3)
    assert "now: “Add a plum to the table.”" in finding.detail
    assert finding.confidence > 0.5
    assert finding.region is not None
    assert 0 < finding.region.width < 0.5


def test_every_replacement_is_a_finding_of_its_own() -> None:
    assert [one.step for one in replacement(fruits(6, replace_every=2)).findings] == [2, 4, 6]


def test_adding_again_what_was_taken_away_replaces_nothing() -> None:
    away = asked("Remove the banana.", "remove")
    steps = [asked("Add a banana.", "add", remove="remember"), away, asked("Add a coconut.", "add")]
    assert replacement(simulated(steps)).findings == ()


def test_independent_steps_have_nothing_to_replace() -> None:
    """Every step starts from the source, so what another step added was never there."""
    chain = fruits(3)
    alone = ChainView("e", "c", "s", "v", "f", [replace(step, parent=0) for step in chain.steps])
    assert replacement(alone).does_not_apply


def test_an_apple_in_place_of_an_apple_looks_like_nothing_at_all() -> None:
    """Said in the detector's file: this one belongs to counting."""
    chain = simulated([asked(APPLE, "add", replace_every=2) for _ in range(2)])
    assert replacement(chain).findings == ()
