"""Who is shown what, in which order: a pure function of the pictures, the settings and the rater's number.

Raters see the same pictures in orders of their own. Of each picture, the methods come in the order of a row of a
Williams square, another row for the next rater and the next picture: so each method is equally often first, and equally
often follows each other one. Between two results of one picture all other pictures are shown once. Pairs have each
method equally often on the left. Some items come a second time, and to some everybody who looks knows the answer.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from convergebench.documents import Strict
from convergebench.store.rating_book import Showing, ShownPicture

T = TypeVar("T")

Mode = Literal["score", "pairs", "axes", "label"]
MODES: tuple[Mode, ...] = ("score", "pairs", "axes", "label")
CLEAN, INPUT = "clean", "input"
"""Editors of pictures that are shown as if they were results."""
QUESTIONS: dict[str, dict[str, tuple[float, ...]]] = {
    "score": {"score": (0, 1, 2, 3, 4, 5)},
    "pairs": {"preference": (1, 0.5, 0)},
    "axes": {
        "overall": (0, 1, 2, 3, 4),
        "semantics": (0, 1, 2, 3, 4),
        "detail": (-3, -2, -1, 0, 1, 2, 3),
        "sharpness": (-3, -2, -1, 0, 1, 2, 3),
    },
}
"""By mode: question → the values it may have. In `label`, every failure mode is a question with the values 0 and 1."""
KNOWN = {"score": (3.0, 2.0), "axes": (3.0, 2.0)}
"""By mode: the least that the clean picture, and the most that the untouched input gets from anybody who looks."""
KNOWN_QUESTION = {"score": "score", "axes": "overall", "pairs": "preference"}
"""The question whose answer is known for attention items."""
FEWEST_FOR_ATTENTION, FEWEST_FOR_REPEATS = 10, 5

Values = Annotated[tuple[float, ...], Field(min_length=1)]


class RatingSettings(Strict):
    """What a plan was made with; it grows by raters and by nothing else."""

    mode: Mode
    study: str
    methods: tuple[str, ...]
    questions: dict[str, Values]
    seed: int = 0
    images: int | None = None
    """How many pictures were asked for."""
    round: int | None = None
    """The round whose results are shown; None: the last."""
    repeats: float = 0.1
    """Share of items that are shown twice."""
    attention: float = 0.05
    """Share of items whose answer is known."""
    items: int | None = None
    """Most items for one rater, repeats and attention items not counted."""
    show_clean: bool = False


@dataclass(frozen=True, slots=True)
class RatedCase:
    """A picture and what the methods made of it."""

    case: str
    source: str
    kind: str
    input: str
    """Image id."""
    clean: str | None
    results: Mapping[str, ShownPicture]
    """By method."""
    proposed: frozenset[str] = field(default_factory=frozenset)
    """Methods in whose results a rule sees a failure."""


def rater_order(settings: RatingSettings, cases: Sequence[RatedCase], rater: int) -> list[Showing]:
    """What rater number `rater` (from 1) is shown."""
    dealt = sorted(cases, key=lambda one: one.case)
    random.Random(f"cases {settings.seed}").shuffle(dealt)
    chance = random.Random(f"rater {settings.seed} {rater}")
    if settings.mode == "label":
        shown = _labelled(settings, dealt, chance)
    else:
        entries = _pairs(settings, dealt, rater) if settings.mode == "pairs" else _singles(settings, dealt, rater)
        shown = list(_spread(entries, chance))
        extra = _attention(settings, dealt, shown, chance, rater)
        shown = _with_attention(_with_repeats(settings, shown, chance), extra, chance)
    return [replace(one, position=position) for position, one in enumerate(shown, start=1)]


def williams(count: int) -> list[list[int]]:
    """Rows of a Williams square: each number equally often at each place and after each other one."""
    first = [0]
    for step in range(1, count):
        first.append((first[-1] + (step if step % 2 else -step)) % count)
    rows = [[(one + shift) % count for one in first] for shift in range(count)]
    return rows if count % 2 == 0 else [*rows, *(row[::-1] for row in rows)]


def _singles(settings: RatingSettings, cases: Sequence[RatedCase], rater: int) -> list[list[Showing]]:
    """For each picture its results, in the order of this rater."""
    square, names = williams(len(settings.methods)), settings.methods
    most = len(cases) if settings.items is None else max(1, settings.items // len(names))
    return [
        [_showing(case, case.results[names[place]]) for place in square[(rater + number) % len(square)]]
        for number, case in _window(cases, most, rater)
    ]


def _pairs(settings: RatingSettings, cases: Sequence[RatedCase], rater: int) -> list[list[Showing]]:
    """For each picture its pairs, in the order of this rater; sides change with rater, picture and pair."""
    pairs = list(combinations(settings.methods, 2))
    every = [
        (number, case, (turn + number) % len(pairs)) for turn in range(len(pairs)) for number, case in enumerate(cases)
    ]
    chosen = _window(every, len(every) if settings.items is None else settings.items, rater)
    found: dict[str, list[Showing]] = {}
    for _, (number, case, pair) in sorted(chosen, key=lambda one: (one[1][2] - rater - one[1][0]) % len(pairs)):
        left, right = pairs[pair][:: -1 if (rater + number + pair) % 2 else 1]
        found.setdefault(case.case, []).append(_showing(case, case.results[left], case.results[right]))
    return list(found.values())


def _window(items: Sequence[T], most: int, rater: int) -> Iterator[tuple[int, T]]:
    """At most so many items with their numbers: a window that moves on from rater to rater, so all are shown alike."""
    most = min(most, len(items))
    for place in range(most):
        number = ((rater - 1) * most + place) % len(items)
        yield number, items[number]


def _spread(entries: Sequence[Sequence[Showing]], chance: random.Random) -> Iterator[Showing]:
    """In passes: one entry of every picture, in an order of its own, then the next of each."""
    last = None
    for turn in range(max(map(len, entries), default=0)):
        order = [number for number, listed in enumerate(entries) if turn < len(listed)]
        chance.shuffle(order)
        if len(order) > 1 and order[0] == last:
            order = [*order[1:], order[0]]
        for number in order:
            yield entries[number][turn]
        last = order[-1]


def _labelled(settings: RatingSettings, cases: Sequence[RatedCase], chance: random.Random) -> list[Showing]:
    """First what a rule proposed among as many results that no rule proposed, then the others; nobody sees which."""
    draw = random.Random(f"labelled {settings.seed}")
    chains = [(case, method) for case in cases for method in settings.methods if method in case.results]
    proposed = _shuffled([one for one in chains if one[1] in one[0].proposed], draw)
    others = _shuffled([one for one in chains if one[1] not in one[0].proposed], draw)
    mixed = [one for pair in zip(proposed, others, strict=False) for one in pair] + proposed[len(others) :]
    first, rest = mixed[: settings.items], others[len(proposed) :]
    rest = rest if settings.items is None else rest[: max(0, settings.items - len(first))]
    ordered = [*_shuffled(first, chance), *_shuffled(rest, chance)]
    return [_showing(case, case.results[method]) for case, method in ordered]


def _with_repeats(settings: RatingSettings, shown: list[Showing], chance: random.Random) -> list[Showing]:
    """Some items of the first third come again in the last; all others stay in their order."""
    third = max(1, (len(shown) + 2) // 3)
    least = 1 if len(shown) >= FEWEST_FOR_REPEATS else 0
    count = min(max(least, round(settings.repeats * len(shown))), third) if settings.repeats else 0
    found = list(shown)
    for one in chance.sample(shown[:third], count):
        found.insert(chance.randint(len(shown) - third, len(found)), replace(one, time=2))
    return found


def _attention(
    settings: RatingSettings, cases: Sequence[RatedCase], shown: Sequence[Showing], chance: random.Random, rater: int
) -> list[Showing]:
    """Items whose answer is known: the clean picture and the untouched input in the place of a result."""
    count = round(settings.attention * len(shown))
    if settings.attention and len(shown) >= FEWEST_FOR_ATTENTION:
        count = max(2, count)
    clean = _shuffled([one for one in cases if one.clean is not None], chance)
    damaged = _shuffled([one for one in cases if one.clean != one.input], chance)
    found: list[Showing] = []
    for number in range(count):
        kind = CLEAN if clean and (number % 2 == 0 or not damaged) else INPUT
        drawn = clean if kind == CLEAN else damaged
        both = [one for one in clean if one.clean != one.input]
        if settings.mode == "pairs":
            if both:
                found.append(_known_pair(both[number % len(both)], (rater + number) % 2 == 0))
        elif drawn:
            case, (least, most) = drawn[(number // 2) % len(drawn)], KNOWN[settings.mode]
            known = {"least": least} if kind == CLEAN else {"most": most}
            found.append(replace(_showing(case, _as_result(case, kind)), attention=known))
    return found


def _known_pair(case: RatedCase, clean_first: bool) -> Showing:
    kinds = (CLEAN, INPUT) if clean_first else (INPUT, CLEAN)
    known = {"least": 1.0} if clean_first else {"most": 0.0}
    return replace(_showing(case, *(_as_result(case, kind) for kind in kinds)), attention=known)


def _as_result(case: RatedCase, kind: str) -> ShownPicture:
    return ShownPicture(kind, case.case, 0, (case.clean or "") if kind == CLEAN else case.input)


def _with_attention(shown: list[Showing], extra: Sequence[Showing], chance: random.Random) -> list[Showing]:
    """Put in at even distances, each somewhere in its own part, never first."""
    parts = len(extra)
    for number, one in reversed(list(enumerate(extra))):
        low, high = len(shown) * number // parts, len(shown) * (number + 1) // parts
        shown.insert(chance.randint(max(1, low + 1), max(1, high)), one)
    return shown


def _showing(case: RatedCase, *pictures: ShownPicture) -> Showing:
    return Showing(0, case.input, case.clean, pictures)


def _shuffled(items: Sequence[T], chance: random.Random) -> list[T]:
    return chance.sample(list(items), len(items))
