"""then: one editor after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from convergebench.editors.composite.then import then
from convergebench.editors.find import make_editor
from convergebench.errors import BadReply, Exhausted, Prerequisite, Refused, StudyError, Transient, Unavailable
from convergebench.types import Capabilities, Edited, Settings
from tests.editors.composite.scripted import Scripted, Slow, call, give_up, painted, picture, pixels, same

BRIGHTER = painted(lambda image: image.astype(int) + 10, 0.2, raw="one", reasoning="First.", used={"size": 1})
HALVED = painted(lambda image: image // 2, 0.3, raw="two", reasoning="Second.", used={"size": 2})


def test_the_second_works_on_the_answer_of_the_first() -> None:
    image = picture()
    done = call(then("x", first=Scripted(BRIGHTER), second=Scripted(HALVED)), image)
    np.testing.assert_array_equal(pixels(done.image), (image.astype(int) + 10) // 2)
    assert done.dollars == pytest.approx(0.5)
    assert done.model == "model-1, then model-1"
    assert done.reasoning == "First.\n\nSecond."
    assert done.raw == '{"first":"one","second":"two"}'
    assert done.used == {"first": {"size": 1}, "second": {"size": 2}}


def test_both_get_the_same_words_unless_others_are_given() -> None:
    first, second = Scripted(BRIGHTER), Scripted(HALVED)
    call(then("x", first=first, second=second), picture(), "add a hat")
    call(then("x", first=first, second=second, second_instruction="sharpen"), picture(), "add a hat")
    assert [request.instruction for request in second.asked] == ["add a hat", "sharpen"]
    assert [request.instruction for request in first.asked] == ["add a hat", "add a hat"]


def test_each_has_a_seed_of_its_own() -> None:
    first, second = Scripted(BRIGHTER), Scripted(HALVED)
    call(then("x", first=first, second=second), picture(), seed=3)
    assert first.asked[0].seed == 3 != second.asked[0].seed


def test_two_wears_of_one_kind_are_independent(pictures: Any, run: Any) -> None:
    image = pictures["object"]
    done = run(make_editor("then(sim-noise, sim-noise)"), image, "Produce an exact replica of the provided image.")
    assert np.std(pixels(done.image).astype(float) - image) == pytest.approx(2 * np.sqrt(2), rel=0.05)


@pytest.mark.parametrize("kind", [Transient, BadReply, Refused, Exhausted, Unavailable])
def test_an_error_of_the_second_carries_the_price_of_the_first(kind: Any) -> None:
    with pytest.raises(kind, match="no") as caught:
        call(then("x", first=Scripted(BRIGHTER), second=Scripted(kind("no", dollars=0.1))), picture())
    assert caught.value.dollars == pytest.approx(0.3)


@pytest.mark.parametrize("kind", [Transient, BadReply, Refused, Exhausted, Unavailable])
def test_an_error_of_the_first_is_its_own(kind: Any) -> None:
    second = Scripted(HALVED)
    with pytest.raises(kind, match="no") as caught:
        call(then("x", first=Scripted(kind("no", dollars=0.1)), second=second), picture())
    assert caught.value.dollars == pytest.approx(0.1)
    assert not second.asked


@pytest.mark.parametrize(("slip", "kind"), [(ValueError("oh"), BadReply), (Prerequisite("no key"), Unavailable)])
def test_a_slip_of_the_second_keeps_the_count(slip: Exception, kind: Any) -> None:
    with pytest.raises(kind) as caught:
        call(then("x", first=Scripted(BRIGHTER), second=Scripted(slip)), picture())
    assert caught.value.dollars == pytest.approx(0.2)
    with pytest.raises(type(slip)):
        call(then("x", first=Scripted(same()), second=Scripted(slip)), picture())


def test_a_retry_does_not_pay_the_first_again() -> None:
    first, second = Scripted(BRIGHTER), Scripted(Transient("busy"), HALVED)
    editor, image = then("x", first=first, second=second), picture()
    with pytest.raises(Transient) as caught:
        call(editor, image)
    assert caught.value.dollars == pytest.approx(0.2)
    done = call(editor, image, attempt=2)
    assert done.dollars == pytest.approx(0.3)
    assert (len(first.asked), len(second.asked)) == (1, 2)
    call(editor, image, attempt=2)
    assert len(first.asked) == 2


def test_a_second_that_took_too_long_is_asked_again_without_the_first() -> None:
    first, second = Scripted(BRIGHTER), Slow(same(0.1), slow=0)
    editor, image = then("x", first=first, second=second), picture()
    give_up(editor, image)
    assert call(editor, image, attempt=2).dollars == pytest.approx(0.1)
    assert (len(first.asked), len(second.asked)) == (1, 2)


def test_bytes_that_are_no_image_do_not_reach_the_second() -> None:
    second = Scripted(HALVED)
    broken = Scripted(lambda request: Edited(b"oops", "image/png", "m", 0.5))
    with pytest.raises(BadReply, match="the image from scripted is not a readable image") as caught:
        call(then("x", first=broken, second=second), picture())
    assert caught.value.dollars == 0.5
    assert not second.asked


def test_settings_reach_those_who_know_them() -> None:
    knows = Capabilities(seed=True, temperature=True, resolutions=("1K", "2K"), reasoning=True)
    restorer = Capabilities(deterministic=True, instructed=False)
    first, second = Scripted(BRIGHTER, capabilities=knows), Scripted(HALVED, capabilities=restorer)
    editor = then("x", first=first, second=second)
    assert editor.capabilities.temperature
    assert editor.capabilities.resolutions == ("1K", "2K")
    settings = Settings(temperature=0.5, resolution="2K", reasoning=True)
    call(editor, picture(), settings=settings)
    assert first.asked[0].settings == settings
    assert second.asked[0].settings == Settings()


@pytest.mark.parametrize("missing", ["first", "second"])
def test_both_editors_are_needed(missing: str) -> None:
    options = {"first": Scripted(), "second": Scripted(), missing: None}
    with pytest.raises(StudyError, match=f"x needs an editor as '{missing}'"):
        then("x", **options)
