"""Edit pairs by name: sets, categories, ids, or a person's own file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from convergebench.documents import read_document
from convergebench.edits.schema import PairRow, PairsFile
from convergebench.errors import StudyError
from convergebench.ids import content_hash
from convergebench.registry import suggest
from convergebench.types import EditPair, Kind

DATA = Path(__file__).parent / "data"


@cache
def _shipped() -> tuple[Mapping[str, PairRow], Mapping[str, tuple[str, ...]]]:
    """Every shipped pair by id, and what each selectable name stands for."""
    first = read_document(DATA / "pairs.toml", PairsFile)
    later = read_document(DATA / "later.toml", PairsFile)
    rows = {row.id: row for row in (*first.pair, *later.pair)}
    names: dict[str, tuple[str, ...]] = {
        **first.sets,
        "all": tuple(row.id for row in first.pair),
        "later": tuple(row.id for row in later.pair),
    }
    for row in rows.values():
        names[row.category] = (*names.get(row.category, ()), row.id)
    return rows, names


def pair_names() -> tuple[str, ...]:
    """Everything `load_pairs` knows by name: sets, then categories, then ids."""
    rows, names = _shipped()
    return (*names, *rows)


def load_pairs(selection: Sequence[str], *, wordings: int = 1) -> tuple[EditPair, ...]:
    """Pairs in the order asked for, each once, with their first `wordings` phrasings.

    A word of the selection is a set (`v1`, `all`, `later`), a category (`geometric`), a pair's id, or the path
    of a TOML file with `[[pair]]` tables. A pair with fewer phrasings gives all it has.
    """
    if wordings < 1:
        raise StudyError(f"wordings must be 1 or more, not {wordings}")
    if isinstance(selection, str) or not selection:
        raise StudyError('no edit pairs selected; give a list of sets, categories or ids, e.g. pairs = ["v1"]')
    chosen: dict[str, PairRow] = {}
    for word in selection:
        for row in _rows(word):
            if chosen.setdefault(row.id, row) != row:
                raise StudyError(f"two different pairs are called '{row.id}' (second one from {word}); rename one")
    return tuple(pair for row in chosen.values() for pair in row.pairs(wordings))


def _rows(word: str) -> tuple[PairRow, ...]:
    rows, names = _shipped()
    if word in names:
        return tuple(rows[one] for one in names[word])
    if word in rows:
        return (rows[word],)
    if word.endswith(".toml"):
        return read_document(Path(word), PairsFile).pair
    known = pair_names()
    raise StudyError(f"unknown edit pair, set or category '{word}'{suggest(word, known)} (cbench list pairs)")


def pairs_for(kind: Kind, pairs: Iterable[EditPair]) -> tuple[EditPair, ...]:
    """Those of `pairs` that make sense on a picture of this kind."""
    return tuple(pair for pair in pairs if kind in pair.kinds)


def pairs_hash(pairs: Iterable[EditPair]) -> str:
    """One word for exactly these pairs, their wording and order; enters the run's manifest."""
    return content_hash(
        [
            [
                pair.id,
                pair.wording,
                pair.category,
                pair.reversibility,
                list(pair.kinds),
                pair.forward,
                pair.backward,
                pair.forward_operation,
                pair.backward_operation,
                pair.before,
                pair.after,
            ]
            for pair in pairs
        ]
    )
