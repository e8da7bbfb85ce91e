"""Who is shown what: all of it, blind, balanced over raters and places, the same for the same seed."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

from convergebench.conductor.rating_plan import QUESTIONS, RatedCase, RatingSettings, rater_order, williams
from convergebench.store.rating_book import Showing, ShownPicture


def cases(pictures: int, methods: int, *, clean: bool = True, proposed: int = 0) -> list[RatedCase]:
    return [
        RatedCase(
            f"picture-{number}/LF3/0",
            *(f"picture-{number}", "text", f"i1:in{number}"),
            clean=f"i1:clean{number}" if clean else None,
            results={
                name: ShownPicture(name, f"picture-{number}/LF3/0", 1, f"i1:{name}{number}") for name in names(methods)
            },
            proposed=frozenset(names(methods)[:1] if number < proposed else ()),
        )
        for number in range(pictures)
    ]


def names(count: int) -> tuple[str, ...]:
    return tuple(f"m{number}" for number in range(count))


def settings(mode: Any, methods: int, **more: Any) -> RatingSettings:
    asked = QUESTIONS.get(mode, {"new-object": (0.0, 1.0)})
    return RatingSettings(mode=mode, study="restoration", methods=names(methods), questions=asked, **more)


def ordinary(shown: list[Showing]) -> list[Showing]:
    return [one for one in shown if not one.attention and one.time == 1]


def what(showing: Showing) -> tuple[str, ...]:
    return tuple(picture.image for picture in showing.pictures)


@tried(max_examples=30, deadline=None)
@given(st.integers(1, 12))
def test_a_williams_square_balances_places_and_neighbours(count: int) -> None:
    rows = williams(count)
    for place in range(count):
        assert len(set(Counter(row[place] for row in rows).values())) == 1
    following = Counter(pair for row in rows for pair in pairwise(row))
    assert len(following) == count * (count - 1)
    assert len(set(following.values())) <= 1


@tried(max_examples=30, deadline=None)
@given(st.integers(1, 9), st.integers(1, 6), st.integers(1, 30), st.integers(0, 3))
def test_every_rater_sees_every_result_of_every_picture_once(
    pictures: int, methods: int, rater: int, seed: int
) -> None:
    plan = settings("score", methods, seed=seed)
    shown = rater_order(plan, cases(pictures, methods), rater)
    expected = {(f"i1:m{method}{number}",) for number in range(pictures) for method in range(methods)}
    assert sorted(map(what, ordinary(shown))) == sorted(expected)
    assert [one.position for one in shown] == list(range(1, len(shown) + 1))
    assert shown == rater_order(plan, cases(pictures, methods)[::-1], rater), "the same whatever the order of the input"


@tried(max_examples=30, deadline=None)
@given(st.integers(1, 7), st.integers(2, 6), st.integers(0, 3))
def test_over_raters_each_method_is_equally_often_at_each_place_of_each_picture(
    pictures: int, methods: int, seed: int
) -> None:
    """As many raters as the square has rows: the balance is exact, for every picture."""
    plan = settings("score", methods, seed=seed)
    places: Counter[tuple[str, int, str]] = Counter()
    for rater in range(1, len(williams(methods)) + 1):
        seen: Counter[str] = Counter()
        for one in ordinary(rater_order(plan, cases(pictures, methods), rater)):
            picture = one.pictures[0]
            places[picture.case, seen[picture.case], picture.editor] += 1
            seen[picture.case] += 1
    assert len(places) == pictures * methods * methods
    assert len(set(places.values())) == 1


@tried(max_examples=30, deadline=None)
@given(st.integers(2, 8), st.integers(2, 5), st.integers(1, 9))
def test_between_two_results_of_a_picture_there_are_others(pictures: int, methods: int, rater: int) -> None:
    shown = ordinary(rater_order(settings("score", methods, repeats=0, attention=0), cases(pictures, methods), rater))
    assert all(one.input != other.input for one, other in pairwise(shown))


def test_orders_differ_between_raters_and_between_seeds() -> None:
    orders = [
        tuple(map(what, rater_order(settings("score", 5, seed=seed), cases(20, 5), rater)))
        for seed in (0, 1)
        for rater in range(1, 21)
    ]
    assert len(set(orders)) == 40


def test_the_published_plan_has_its_numbers() -> None:
    for rater in range(1, 21):
        shown = rater_order(settings("score", 5), cases(20, 5), rater)
        assert len(ordinary(shown)) == 100
        assert sum(one.time == 2 for one in shown) == 10
        assert Counter(one.pictures[0].editor for one in shown if one.attention) == {"clean": 3, "input": 2}


@tried(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(1, 4), st.sampled_from([0.0, 0.1, 0.3]), st.integers(1, 5))
def test_repeats_come_late_and_attention_items_never_first(
    pictures: int, methods: int, share: float, rater: int
) -> None:
    shown = rater_order(settings("score", methods, repeats=share, attention=share), cases(pictures, methods), rater)
    count = pictures * methods
    again = [one for one in shown if one.time == 2]
    attention = [one for one in shown if one.attention]
    if share == 0:
        assert not again
        assert not attention
        return
    assert len(again) == min(max(1 if count >= 5 else 0, round(share * count)), (count + 2) // 3)
    assert len(attention) == max(2 if count >= 10 else 0, round(share * count))
    for one in again:
        first = next(other for other in shown if what(other) == what(one) and other.time == 1)
        assert first.position < one.position
        assert count < 5 or one.position - first.position > 1
    assert not shown[0].attention


def test_attention_items_say_what_anybody_would_answer() -> None:
    shown = rater_order(settings("score", 5), cases(20, 5), 1)
    for one in (one for one in shown if one.attention):
        (picture,) = one.pictures
        expected = {"clean": ({"least": 3.0}, one.clean), "input": ({"most": 2.0}, one.input)}[picture.editor]
        assert (one.attention, picture.image, picture.step) == (*expected, 0)
    without = rater_order(settings("score", 5), cases(20, 5, clean=False), 1)
    assert {one.pictures[0].editor for one in without if one.attention} == {"input"}


@tried(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(2, 5), st.integers(0, 2))
def test_pairs_are_all_shown_with_both_methods_equally_often_on_the_left(
    pictures: int, methods: int, seed: int
) -> None:
    plan, left = settings("pairs", methods, seed=seed, repeats=0, attention=0), Counter[tuple[str, str, str]]()
    for rater in range(1, 5):
        shown = rater_order(plan, cases(pictures, methods), rater)
        sides: Counter[tuple[str, str]] = Counter()
        for one in shown:
            first, second = (picture.editor for picture in one.pictures)
            left[one.input, first, second] += 1
            sides[first, second] += 1
        assert len(shown) == pictures * methods * (methods - 1) // 2
        for this, that in combinations(names(methods), 2):
            assert abs(sides[this, that] - sides[that, this]) <= pictures % 2, "within one rater, over pictures"
    assert set(left.values()) == {2}, "over four raters, every picture and pair twice in each order"


def test_attention_pairs_have_the_clean_picture_on_both_sides() -> None:
    known = [one for rater in (1, 2) for one in rater_order(settings("pairs", 3), cases(8, 3), rater) if one.attention]
    for one in known:
        editors = [picture.editor for picture in one.pictures]
        assert (editors, dict(one.attention)) in (
            (["clean", "input"], {"least": 1.0}),
            (["input", "clean"], {"most": 0.0}),
        )
    assert {one.pictures[0].editor for one in known} == {"clean", "input"}
    assert not [one for one in rater_order(settings("pairs", 3), cases(8, 3, clean=False), 1) if one.attention]


@tried(max_examples=30, deadline=None)
@given(st.integers(2, 9), st.integers(2, 4), st.integers(1, 40), st.sampled_from(["score", "pairs"]))
def test_with_a_limit_all_items_are_shown_to_equally_many_raters(
    pictures: int, methods: int, items: int, mode: str
) -> None:
    plan, given_cases = settings(mode, methods, items=items, repeats=0, attention=0), cases(pictures, methods)
    count: Counter[tuple[str, ...]] = Counter()
    for rater in range(1, 13):
        shown = rater_order(plan, given_cases, rater)
        assert len(shown) <= max(items, methods if mode == "score" else 1)
        count.update(tuple(sorted(what(one))) for one in shown)
        assert len({tuple(sorted(what(one))) for one in shown}) == len(shown), "nobody sees the same twice"
    if len(count) == pictures * (methods if mode == "score" else methods * (methods - 1) // 2):
        assert max(count.values()) - min(count.values()) <= 1


def test_proposed_failures_come_first_among_as_many_others_in_an_order_of_each_rater() -> None:
    plan = settings("label", 2)
    orders = []
    for rater in (1, 2):
        shown = rater_order(plan, cases(12, 2, proposed=4), rater)
        assert len(shown) == 24
        first = [one.pictures[0] for one in shown[:8]]
        proposed = [picture for picture in first if picture.editor == "m0" and int(picture.image[5:]) < 4]
        assert len(proposed) == 4
        orders.append(first)
    assert orders[0] != orders[1]
    assert set(orders[0]) == set(orders[1])
    limited = [rater_order(settings("label", 2, items=6), cases(12, 2, proposed=4), rater) for rater in (1, 2)]
    assert [len(one) for one in limited] == [6, 6]
    assert {what(one) for one in limited[0]} == {what(one) for one in limited[1]}


@pytest.mark.parametrize("mode", ["score", "axes"])
@pytest.mark.parametrize(("pictures", "methods"), [(1, 1), (1, 2), (3, 1)])
def test_the_smallest_plans_are_plans_too(mode: str, pictures: int, methods: int) -> None:
    assert len(ordinary(rater_order(settings(mode, methods), cases(pictures, methods), 1))) == pictures * methods
