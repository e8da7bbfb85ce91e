"""Which edits of a factory run people are asked to rate, and in which order.

Half of them were accepted and half were not, as far as there are enough: among edits that are all good nobody can tell
whether judge and people agree. Within each half, editors, categories and source images have equal shares.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from convergebench.errors import StudyError
from convergebench.store.frames import RunFrames
from convergebench.store.images import identity_of

REPEATED, FEWEST_REPEATED = 0.1, 3
"""Share of edits that are shown twice, and at least how many: so that raters are held against themselves."""


@dataclass(frozen=True, slots=True)
class JudgedEdit:
    """An attempt that the judge scored, with its pictures."""

    editor: str
    case: str
    position: int
    source: str
    category: str
    accepted: bool
    instruction: str
    image: str
    """Id of the edited picture."""
    before: str
    """File of the picture that was edited, relative to the run directory."""
    after: str

    @property
    def place(self) -> tuple[str, str, int]:
        """What names it in the run."""
        return self.editor, self.case, self.position


def judged_edits(frames: RunFrames) -> list[JudgedEdit]:
    """Every attempt of the run that has a picture and a score, chain by chain."""
    steps = {(row["editor"], row["case"], row["index"]): row for row in frames.steps().iter_rows(named=True)}
    found: list[JudgedEdit] = []
    accepted: dict[tuple[str, str], str] = {}
    for row in frames.decisions().iter_rows(named=True):
        if row["decision"] != "attempt":
            continue
        chain, facts = (row["editor"], row["case"]), _facts(row["facts"])
        step, source = steps.get((*chain, row["position"])), steps.get((*chain, 0))
        if step is None or source is None or not step["image"] or facts.get("score") is None:
            continue
        image = identity_of(step["image"])
        if image is None:
            raise StudyError(f"{frames.root}: {step['image']} is not the name of a stored image")
        words, before = step["instruction"], accepted.get(chain, source["image"])
        if facts.get("accepted"):  # the next turn starts from this picture
            accepted[chain] = step["image"]
        named = (*chain, row["position"], row["source"], row["category"], bool(facts.get("accepted")))
        found.append(JudgedEdit(*named, words, image, before, step["image"]))
    return found


def _facts(text: str) -> dict[str, Any]:
    """The facts of a decision; none where a received run has something else there."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def sample(edits: Sequence[JudgedEdit], count: int, seed: int) -> list[JudgedEdit]:
    """So many edits, or all if there are fewer; the same for the same seed."""
    chance = random.Random(seed)
    halves = {verdict: [one for one in edits if one.accepted is verdict] for verdict in (True, False)}
    rejected = min(len(halves[False]), max(count - count // 2, count - len(halves[True])))
    quota = {False: rejected, True: min(len(halves[True]), count - rejected)}
    used: Counter[str] = Counter()
    return [one for verdict in (False, True) for one in _even(halves[verdict], quota[verdict], used, chance)]


def _even(edits: Iterable[JudgedEdit], count: int, used: Counter[str], chance: random.Random) -> Iterator[JudgedEdit]:
    """One edit of each editor and category in turn, of the source image that was taken least so far."""
    groups: dict[tuple[str, str], list[JudgedEdit]] = defaultdict(list)
    for one in edits:
        groups[one.editor, one.category].append(one)
    turns = list(groups.values())
    chance.shuffle(turns)
    for group in turns:
        chance.shuffle(group)
    while count > 0:
        for group in [group for group in turns if group][:count]:
            one = min(group, key=lambda edit: used[edit.source])
            group.remove(one)
            used[one.source] += 1
            count -= 1
            yield one


def in_order(chosen: Sequence[JudgedEdit], seed: int) -> list[JudgedEdit]:
    """Shuffled; some edits of the first third come again in the last."""
    chance = random.Random(f"order {seed}")
    shown = sorted(chosen, key=lambda one: one.place)
    chance.shuffle(shown)
    twice = min(len(shown), max(FEWEST_REPEATED, round(REPEATED * len(shown))))
    third = ceil(len(shown) / 3)
    again = chance.sample(shown[: max(third, twice)], twice)
    last = shown[len(shown) - third :] + again
    chance.shuffle(last)
    return shown[: len(shown) - third] + last
