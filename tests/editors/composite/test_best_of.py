"""best-of: several tries, the best one kept, all of them paid."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convergebench.editors.composite.best_of import best_of, different_seeds
from convergebench.editors.find import make_editor
from convergebench.errors import BadReply, Exhausted, Prerequisite, Refused, StudyError, Transient, Unavailable
from convergebench.images.encode import encode_png
from convergebench.metrics.base import MetricFacts
from convergebench.types import Capabilities, Edited, EditRequest, Limits, Turn
from tests.editors.composite.scripted import Answer, Scripted, Slow, call, give_up, painted, picture, pixels, same


def noise(sigma: float, dollars: float = 0.0, **rest: Any) -> Answer:
    """The input with static."""
    return painted(
        lambda image: image + np.random.default_rng(int(sigma * 10)).normal(0, sigma, image.shape), dollars, **rest
    )


def test_the_closest_to_the_input_is_chosen_and_all_are_paid() -> None:
    inner = Scripted(noise(9, 0.1), noise(2, 0.2, raw="two", reasoning="good", used={"x": 1}), noise(5, 0.3))
    done = call(best_of("x", of=inner, n=3, metric="ssim"), picture())
    assert done.raw == "two"
    assert done.reasoning == "good"
    assert done.dollars == pytest.approx(0.6)
    assert done.used["chosen"] == 2
    assert max(done.used["values"]) == done.used["values"][1]
    assert done.used["of"] == {"x": 1}


def test_the_answer_is_handed_on_as_it_came() -> None:
    inner = Scripted(noise(9), noise(2), noise(5))
    image = picture()
    done = call(best_of("x", of=inner, n=3), image)
    assert done.image == call(Scripted(noise(2)), image).image


@pytest.mark.parametrize(("metric", "best"), [("ssim", 2), ("rmse", 2), ("psnr", 2), ("gist", 2)])
def test_direction_of_the_metric_is_kept(metric: str, best: int) -> None:
    inner = Scripted(noise(20), noise(1), noise(40))
    assert call(best_of("x", of=inner, metric=metric), picture()).used["chosen"] == best


def test_a_metric_without_reference_does_not_look_at_the_input(pictures: Any) -> None:
    clean = pictures["object"]
    spoilt = np.clip(clean + np.random.default_rng(0).normal(0, 40, clean.shape), 0, 255).astype(np.uint8)
    inner = Scripted(same(), painted(lambda before: clean), noise(5))
    assert call(best_of("x", of=inner, metric="brisque"), spoilt).used["chosen"] == 2


def test_doing_nothing_wins_by_a_full_reference_metric() -> None:
    """The danger that the documentation tells of."""
    inner = Scripted(painted(lambda image: np.where(np.arange(96)[:, None, None] < 40, 220, image)), same(), noise(3))
    done = call(best_of("x", of=inner, metric="psnr"), picture())
    assert done.used["chosen"] == 2
    assert done.used["values"][1] == "inf"


def test_every_try_has_a_seed_of_its_own_and_it_is_recorded() -> None:
    inner = Scripted(same())
    done = call(best_of("x", of=inner, n=5), picture(), seed=11)
    seeds = [request.seed for request in inner.asked]
    assert len(set(seeds)) == 5
    assert seeds == done.used["seeds"] == different_seeds(11, 5)
    assert seeds[0] == 11


@given(seed=st.integers(0, 2**31 - 1), count=st.integers(2, 32))
def test_seeds_differ_and_follow_from_the_first(seed: int, count: int) -> None:
    seeds = different_seeds(seed, count)
    assert len(set(seeds)) == count
    assert seeds == different_seeds(seed, count)
    assert all(0 <= one < 2**31 for one in seeds)


def test_an_editor_without_seeds_is_asked_several_times_all_the_same() -> None:
    inner = Scripted(noise(9), noise(2), capabilities=Capabilities())
    done = call(best_of("x", of=inner, n=2), picture())
    assert done.used["chosen"] == 2
    assert "seeds" not in done.used


@pytest.mark.parametrize("use", ["sim-jpeg", "sim-perfect"])
def test_tries_that_would_all_be_the_same_are_refused(use: str) -> None:
    with pytest.raises(StudyError, match=f"'{use}' gives the same answer for every seed, so 3 tries are one try"):
        make_editor(f"best-of({use}, 3, ssim)")


def test_the_best_of_those_that_came_is_taken() -> None:
    inner = Scripted(Refused("no", dollars=0.1), noise(5, 0.2), noise(1, 0.2))
    done = call(best_of("x", of=inner, n=3), picture())
    assert done.used["chosen"] == 3
    assert done.used["refused"] == 1
    assert done.used["values"][0] is None
    assert done.dollars == pytest.approx(0.5)


def test_all_refused_is_a_refusal_with_the_price_of_all() -> None:
    def refusals() -> list[Exception]:
        return [Refused(f"no {number}", reason="policy", dollars=0.1) for number in range(3)]

    with pytest.raises(Refused, match="all 3 tries were refused: no 0") as caught:
        call(best_of("x", of=Scripted(*refusals()), n=3), picture())
    assert caught.value.reason == "policy"
    assert caught.value.dollars == pytest.approx(0.3)


@pytest.mark.parametrize("position", range(3))
@pytest.mark.parametrize("kind", [Transient, BadReply, Exhausted, Unavailable])
def test_an_error_carries_what_was_paid_before_it(kind: Any, position: int) -> None:
    outcomes: list[Any] = [noise(2, 0.5) for _ in range(3)]
    outcomes[position] = kind("busy", dollars=0.25)
    with pytest.raises(kind, match="busy") as caught:
        call(best_of("x", of=Scripted(*outcomes), n=3), picture())
    assert caught.value.dollars == pytest.approx(0.25 + 0.5 * position)


@pytest.mark.parametrize("position", range(3))
def test_a_slip_or_a_lack_after_something_was_paid_keeps_the_count(position: int) -> None:
    for slip, kind in ((ValueError("oh"), BadReply), (Prerequisite("no key"), Unavailable)):
        outcomes: list[Any] = [noise(2, 0.5) for _ in range(3)]
        outcomes[position] = slip
        with pytest.raises(kind if position else type(slip)) as caught:
            call(best_of("x", of=Scripted(*outcomes), n=3), picture())
        assert getattr(caught.value, "dollars", 0.0) == pytest.approx(0.5 * position)


def test_a_retry_asks_and_pays_only_for_what_is_missing() -> None:
    inner = Scripted(noise(9, 0.5), Transient("busy", retry_after=3), noise(2, 0.5), noise(5, 0.5))
    editor, image = best_of("x", of=inner, n=3), picture()
    with pytest.raises(Transient) as caught:
        call(editor, image)
    assert (caught.value.dollars, caught.value.retry_after) == (0.5, 3)
    done = call(editor, image, attempt=2)
    assert done.dollars == pytest.approx(1.0)
    assert done.used["chosen"] == 2
    assert len(inner.asked) == 4
    assert [request.seed for request in inner.asked[1:]] == [different_seeds(7, 3)[k] for k in (1, 1, 2)]


def test_a_call_that_took_too_long_goes_on_where_it_stopped() -> None:
    inner = Slow(noise(9, 0.5), noise(2, 0.5), slow=1)
    editor, image = best_of("x", of=inner, n=2), picture()
    give_up(editor, image)
    assert call(editor, image, attempt=2).dollars == pytest.approx(0.5)
    assert [request.seed for request in inner.asked] == [different_seeds(7, 2)[k] for k in (0, 1, 1)]


def test_calls_that_fail_together_are_all_kept() -> None:
    """A provider that is busy is busy for everybody in flight."""
    many = 24
    busy = [Transient("busy") for _ in range(many)]
    inner = Scripted(*[noise(9, 0.5)] * many, *busy, noise(2, 0.5), limits=Limits(at_once=many))
    editor, image = best_of("x", of=inner, n=2), encode_png(picture(side=48))

    async def all_at_once(attempt: int) -> list[Any]:
        requests = [EditRequest(image, "image/png", "add", case=f"c{k}", attempt=attempt) for k in range(many)]
        return list(await asyncio.gather(*map(editor.edit, requests), return_exceptions=True))

    assert [error.dollars for error in asyncio.run(all_at_once(1))] == [0.5] * many
    assert [done.dollars for done in asyncio.run(all_at_once(2))] == [0.5] * many
    assert len(inner.asked) == 3 * many


def test_a_judge_that_slips_does_not_make_the_tries_be_paid_again(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = Scripted(noise(9, 0.5), noise(2, 0.5))
    editor, image = best_of("x", of=inner, n=2), picture()
    with monkeypatch.context() as patched:
        patched.setattr(editor, "_readings", lambda *_: 1 / 0)
        with pytest.raises(BadReply, match="division by zero") as caught:
            call(editor, image)
    assert caught.value.dollars == pytest.approx(1.0)
    assert call(editor, image, attempt=2).dollars == 0
    assert len(inner.asked) == 2


def test_another_call_is_not_answered_from_what_is_kept() -> None:
    inner = Scripted(noise(9), Transient("busy"), noise(2))
    editor, image = best_of("x", of=inner, n=3), picture()
    with pytest.raises(Transient):
        call(editor, image)
    call(editor, image, attempt=2, seed=8)
    assert len(inner.asked) == 5


def test_bytes_that_are_no_image_are_a_bad_reply_with_the_price_of_all() -> None:
    inner = Scripted(noise(1, 0.5), lambda request: Edited(b"oops", "image/png", "m", 0.25))
    with pytest.raises(BadReply, match="the image from scripted is not a readable image") as caught:
        call(best_of("x", of=inner, n=3), picture())
    assert caught.value.dollars == pytest.approx(0.75)


def test_tries_of_another_size_are_compared_after_fitting() -> None:
    inner = Scripted(painted(lambda image: 255 - np.repeat(image, 2, axis=0)), painted(lambda image: image[::2, ::2]))
    assert call(best_of("x", of=inner, n=2), picture()).used["chosen"] == 2


def test_where_nothing_can_be_measured_the_first_is_taken_and_it_is_told() -> None:
    inner = Scripted(painted(lambda image: image[:60]), painted(lambda image: image[:50]))
    done = call(best_of("x", of=inner, n=2, align="strict"), picture())
    assert done.used["chosen"] == 1
    assert done.used["values"] == [None, None]
    assert "96×60 vs 96×96" in done.used["not_measured"]


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("judge-happened", "asks a judge; choose one that needs only images"),
        ("happened", "needs more than two images"),
        ("clip-text", "needs more than two images"),
        ("sharpness", "has no better direction"),
        ("sssim", "unknown metric 'sssim'; did you mean 'ssim'"),
    ],
)
def test_a_metric_that_cannot_choose_is_refused(metric: str, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        best_of("x", of=Scripted(), metric=metric)


@pytest.mark.parametrize("n", [0, 1, 33, "many"])
def test_a_number_of_tries_that_makes_no_sense_is_refused(n: Any) -> None:
    with pytest.raises(StudyError, match=r"^x: n: "):
        best_of("x", of=Scripted(), n=n)


def test_what_the_metric_lacks_is_told_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(facts: MetricFacts) -> list[str]:
        return [f"weights {facts.name}: cbench weights fetch {facts.name}"]

    monkeypatch.setattr("convergebench.editors.composite.best_of.metric_lacks", lacking)
    inner = Scripted()
    inner.missing = ["a key: export KEY=…"]
    assert best_of("x", of=inner, metric="lpips").lacks() == [
        "a key: export KEY=…",
        "weights lpips: cbench weights fetch lpips (for lpips)",
    ]


def test_the_danger_is_told_beforehand_where_there_is_one() -> None:
    assert best_of("x", of=Scripted(), metric="ssim").notices() == [
        "x keeps the try closest to its input (ssim), so it favours tries that did nothing"
    ]
    assert best_of("x", of=Scripted(), metric="brisque").notices() == []


def test_a_session_goes_on_from_the_chosen_answer() -> None:
    can = Capabilities(sessions=True, dollars_per_call=0.1, dollars_per_turn=0.02)
    inner = Scripted(noise(9, raw="a"), noise(2, raw="b"), capabilities=can)
    editor = best_of("x", of=inner, n=2)
    assert editor.capabilities.sessions
    assert editor.capabilities.dollars_per_turn == pytest.approx(0.04)
    turn = Turn("add", b"1", "image/png", b"2", "image/png", "b")
    assert call(editor, picture(), history=(turn,)).raw == "b"
    assert all(request.history == (turn,) for request in inner.asked)


def test_real_chance_is_chosen_from(pictures: Any, run: Any) -> None:
    done = run(make_editor("best-of(sim-scatter, 4, ssim)"), pictures["object"], "add an apple in the foreground")
    assert done.used["values"][done.used["chosen"] - 1] == max(done.used["values"])
    assert len(set(done.used["values"])) == 4
    assert pixels(done.image).shape == pictures["object"].shape
