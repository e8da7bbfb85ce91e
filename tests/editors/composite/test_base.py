"""What editors made of editors can, cost and are called."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

from convergebench.editors.base import close, cpu_limits
from convergebench.editors.composite.base import CompositePart, combined_capabilities, combined_limits
from convergebench.editors.composite.paste_back import paste_back
from convergebench.editors.composite.then import then
from convergebench.editors.find import make_editor
from convergebench.errors import StudyError
from convergebench.types import Capabilities, Editor, Limits, Settings
from tests.editors.composite.scripted import Scripted, call, picture, pixels

API = Capabilities(
    seed=True,
    temperature=True,
    resolutions=("1K", "2K", "4K"),
    aspects=("1:1", "16:9"),
    sessions=True,
    reasoning=True,
    sides=(64, 2048),
    dollars_per_call=0.1,
    dollars_by_resolution={"4K": 0.4},
    dollars_per_turn=0.01,
    seconds_per_call=10,
)
OTHER = Capabilities(
    resolutions=("2K", "1K"), sides=(32, 1024), dollars_per_call=0.02, dollars_by_resolution={"2K": 0.05}
)
RESTORER = Capabilities(deterministic=True, instructed=False, seconds_per_call=0.5)


def of(*capabilities: Capabilities, times: int = 1) -> Capabilities:
    return combined_capabilities([CompositePart(Scripted(capabilities=one), times) for one in capabilities])


def test_a_call_costs_what_its_parts_cost() -> None:
    both = of(API, OTHER)
    assert both.dollars_per_call == pytest.approx(0.12)
    assert both.dollars(Settings(resolution="4K")) == pytest.approx(0.42)
    assert both.dollars(Settings(resolution="2K")) == pytest.approx(0.15)
    assert both.dollars(Settings(resolution="1K")) == pytest.approx(0.12)
    assert of(API, times=3).dollars(Settings(resolution="4K")) == pytest.approx(1.2)


def test_an_unknown_price_of_one_part_is_an_unknown_price() -> None:
    assert of(API, Capabilities(dollars_per_call=None)).dollars_per_call is None
    assert not of(API, Capabilities(dollars_per_call=None)).dollars_by_resolution


def test_earlier_turns_cost_only_where_there_are_sessions() -> None:
    assert of(API).dollars_per_turn == 0
    kept = combined_capabilities([CompositePart(Scripted(capabilities=API), 3)], sessions=True)
    assert kept.dollars(Settings(session="single"), turns=2) == pytest.approx(0.3 + 2 * 0.03)


def test_settings_are_those_that_all_who_read_words_honour() -> None:
    both = of(API, OTHER)
    assert not both.temperature
    assert both.resolutions == ("1K", "2K")
    assert both.aspects == ()
    with_restorer = of(API, RESTORER)
    assert with_restorer.temperature
    assert with_restorer.resolutions == API.resolutions
    assert with_restorer.seconds_per_call == 10.5


def test_a_seed_counts_if_it_fixes_every_part_that_chance_has_a_hand_in() -> None:
    assert of(API, RESTORER).seed
    assert not of(API, OTHER).seed
    assert not of(RESTORER).seed


def test_simulated_deterministic_and_instructed_follow_from_the_parts() -> None:
    simulated = Capabilities(simulated=True, deterministic=True)
    assert of(simulated, RESTORER).deterministic
    assert of(simulated, RESTORER).simulated
    assert of(simulated, RESTORER).instructed
    assert not of(RESTORER, RESTORER).instructed
    assert not of(simulated, API).deterministic


def test_sides_are_those_that_all_take() -> None:
    assert of(API, OTHER).sides == (64, 1024)
    assert of(API, RESTORER).sides == (64, 2048)
    assert of(Capabilities(sides=(8, 100)), Capabilities(sides=(200, 300))).sides == (8, 100)


def test_nobody_is_driven_harder_than_alone() -> None:
    one = Scripted(limits=Limits(at_once=8, per_minute=60, seconds=100, account="a"))
    two = Scripted(name="other", limits=Limits(at_once=2, seconds=50))
    assert combined_limits([CompositePart(two), CompositePart(one)]) == Limits(
        at_once=2, per_minute=60, seconds=150, account="a"
    )
    assert combined_limits([CompositePart(one, 3)]) == Limits(at_once=8, per_minute=20, seconds=300, account="a")
    assert combined_limits([CompositePart(one), CompositePart(one)]).per_minute == 30


@pytest.mark.parametrize("order", [1, -1])
def test_a_provider_that_asks_to_wait_is_heard_wherever_it_stands(order: int) -> None:
    here, there = Scripted(limits=cpu_limits()), Scripted(limits=Limits(account="bfl:KEY"))
    first, second = (here, there)[::order]
    limits = then("x", first=first, second=second).limits
    assert (limits.account, limits.together) == ("bfl:KEY", None)
    assert paste_back("x", of=here).limits == cpu_limits()


def test_lacks_and_close_reach_the_parts() -> None:
    first, second = Scripted(), Scripted(name="other")
    first.missing, second.missing = ["a key: export KEY=…"], ["a key: export KEY=…", "a GPU"]
    editor = then("x", first=first, second=paste_back("y", of=second))
    assert editor.lacks() == ["a key: export KEY=…", "a GPU"]
    asyncio.run(close(editor))
    assert (first.closed, second.closed) == (1, 1)


EXPRESSIONS = [
    "paste-back(sim-jpeg)",
    "paste-back(sim-noise)",
    "paste-back(sim-jpeg, grow=0.05)",
    "paste-back(sim-jpeg, tint=9)",
    "anchor(sim-jpeg)",
    "anchor(sim-jpeg, reach=0.2)",
    "resave(sim-jpeg)",
    "paste-back(anchor(sim-jpeg))",
    "anchor(paste-back(sim-jpeg))",
    "then(sim-jpeg, sim-noise)",
    "then(sim-noise, sim-jpeg)",
    "then(sim-noise, sim-jpeg, second_instruction=sharpen)",
    "best-of(sim-noise, 3, ssim)",
    "best-of(sim-noise, 4, ssim)",
    "best-of(sim-noise, 3, psnr)",
    "best-of(sim-noise, 3, ssim, align=strict)",
    "best-of(paste-back(sim-noise), 3, ssim)",
    "paste-back(best-of(sim-noise, 3, ssim))",
]


def test_everything_that_changes_answers_is_in_the_fingerprint() -> None:
    prints = [make_editor(text).fingerprint for text in EXPRESSIONS]
    assert len(set(prints)) == len(prints)
    assert prints == [make_editor(text).fingerprint for text in EXPRESSIONS]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_an_expression_is_an_editor_like_any_other(text: str, pictures: Any, run: Any) -> None:
    editor = make_editor(text)
    assert isinstance(editor, Editor)
    assert editor.name == text
    assert editor.capabilities.simulated
    assert editor.capabilities.seed
    first = run(editor, pictures["object"], "add an apple in the foreground", seed=5)
    again = run(make_editor(text), pictures["object"], "add an apple in the foreground", seed=5)
    assert first == again
    assert np.abs(pixels(first.image).astype(int) - pictures["object"]).max() > 40


def test_an_option_may_be_a_table() -> None:
    table = make_editor("paste-back", "sim-cured", of={"use": "sim-jpeg", "quality": 30})
    assert table.fingerprint != make_editor("paste-back(sim-jpeg)").fingerprint
    same = make_editor("paste-back", "sim-other", of={"use": "sim-jpeg", "quality": 30, "name": "sim-harsh"})
    assert same.fingerprint == table.fingerprint


@pytest.mark.parametrize("use", ["paste-back", "anchor", "resave"])
def test_a_name_of_ones_own_shows_what_is_simulated(use: str) -> None:
    with pytest.raises(StudyError, match="its name starts with 'sim-': call it 'sim-cured'"):
        make_editor(use, "cured", of="sim-jpeg")
    assert make_editor(use, "sim-cured", of="sim-jpeg").name == "sim-cured"
    assert make_editor(use, "cured", of=Scripted()).name == "cured"


def test_a_name_that_only_looks_like_an_expression_does_not_hide_it() -> None:
    with pytest.raises(StudyError, match="has a simulated editor in it"):
        make_editor("paste-back", "paste-back(gemini-3-pro-image)", of="sim-jpeg")
    with pytest.raises(StudyError, match="has a simulated editor in it"):
        make_editor("then", "then(taesd, gemini-3-pro-image)", first="taesd", second="sim-jpeg")


def test_then_and_best_of_show_it_too() -> None:
    with pytest.raises(StudyError, match="call it 'sim-both'"):
        make_editor("then", "both", first=Scripted(), second="sim-jpeg")
    with pytest.raises(StudyError, match="call it 'sim-best'"):
        make_editor("best-of", "best", of="sim-noise")


def test_an_unknown_editor_inside_is_told() -> None:
    with pytest.raises(StudyError, match="unknown editor 'sim-jpg'; did you mean 'sim-jpeg'"):
        make_editor("paste-back(sim-jpg)")


def test_costs_of_nested_editors_are_counted_once() -> None:
    from tests.editors.composite.scripted import painted

    noisy = Scripted(*(painted(lambda image: image.astype(int) + 1, 0.1) for _ in range(2)))
    nested = then("x", first=paste_back("y", of=noisy), second=noisy)
    assert call(nested, picture()).dollars == pytest.approx(0.2)
