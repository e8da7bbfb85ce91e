"""Which images a bundle shows: derived from the head of its hash chain, so that its maker cannot choose them.

For every editor the chains are put into an order that the head decides, and the first ones are taken with all images of
a few rounds. A maintainer may ask for other images by a challenge, a word that nobody knew when the chain was made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from convergebench.datasets.licences import read_licence
from convergebench.leaderboard.layout import Row, Tables
from convergebench.store.images import EXTENSIONS

CHAINS_PER_EDITOR = 2
ROUNDS = (1, 2, 5, 10, 20, 50, 100)
"""Rounds whose images are shown, and the last one."""


class SampledChain(NamedTuple):
    """A chain whose images are in the bundle."""

    editor: str
    case: str
    source: str
    """Image id of the untouched source."""
    rounds: tuple[int, ...]


def sampled_chains(
    head: str, challenge: str, sources: Mapping[str, Mapping[str, Any]], tables: Tables
) -> list[SampledChain]:
    """The chains that the head and the challenge choose; sources whose licence restricts derived works have none."""
    cases = {row["id"]: row for row in tables["cases"]}
    by_editor: dict[str, list[Row]] = {}
    for row in tables["chains"]:
        licence = str(sources.get(cases[row["case"]]["source"], {}).get("licence") or "")
        if row["rounds"] > 0 and not read_licence(licence).restricted:
            by_editor.setdefault(row["editor"], []).append(row)
    found = []
    for editor in sorted(by_editor):
        order = sorted(by_editor[editor], key=lambda row: _draw(head, challenge, editor, row["case"]))
        for row in order[:CHAINS_PER_EDITOR]:
            rounds = tuple(sorted({n for n in (*ROUNDS, row["rounds"]) if n <= row["rounds"]}))
            found.append(SampledChain(editor, row["case"], cases[row["case"]]["image"], rounds))
    return found


def _draw(*words: str) -> str:
    return hashlib.sha256("\n".join(words).encode()).hexdigest()


def sampled_images(chains: list[SampledChain], tables: Tables) -> list[str]:
    """Ids of all images of these chains in their rounds, sources included, in order of their ids."""
    wanted = {(one.editor, one.case): set(one.rounds) for one in chains}
    found = {one.source for one in chains}
    for row in tables["comparisons"]:
        rounds = wanted.get((row["editor"], row["case"]))
        if (
            rounds is not None
            and row["round"] in rounds
            and row["role"] in ("return", "around", "forward", "backward", "step")
        ):
            found.add(row["subject"])
    return sorted(found)


def member_of_image(row: Row) -> str:
    """The member that holds an image."""
    return f"images/{row['id'].removeprefix('i1:')}.{EXTENSIONS[row['mime']]}"
