"""Edit pairs by name: sets, categories, ids, or a user's own file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from convergebench.documents import read_document
from convergebench.edits.schema import PairRow, PairsFile
from convergebench.edits.sessions import EditSession
from convergebench.errors import StudyError
from convergebench.ids import content_hash
from convergebench.registry import suggest
from convergebench.types import EditPair, Kind

DATA = Path(__file__).parent / "data"


@cache
def _shipped() -> tuple[Mapping[str, PairRow], Mapping[str, tuple[str, ...]]]:
    """Every shipped pair by id, and the pair ids of each selectable name."""
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
    """Pairs in the order of the selection, each once, with their first `wordings` phrasings.

    An entry of the selection is a set (`v1`, `all`, `later`), a category (`geometric`), a pair's id, or the path
    of a TOML file with `[[pair]]` tables; `FILE.toml#NAME` is one pair, category or set of a file. A pair with fewer
    phrasings gives all it has.
    """
    if wordings < 1:
        raise StudyError(f"wordings must be 1 or more, not {wordings}")
    if isinstance(selection, str) or not selection:
        raise StudyError('no edit pairs selected; give a list of sets, categories or ids, e.g. pairs = ["v1"]')
    chosen: dict[str, PairRow] = {}
    for name in selection:
        for row in _rows(name):
            if chosen.setdefault(row.id, row) != row:
                raise StudyError(f"two different pairs are called '{row.id}' (second one from {name}); rename one")
    return tuple(pair for row in chosen.values() for pair in row.pairs(wordings))


def _rows(name: str) -> tuple[PairRow, ...]:
    rows, names = _shipped()
    if name in names:
        return tuple(rows[one] for one in names[name])
    if name in rows:
        return (rows[name],)
    if name.endswith(".toml"):
        return read_document(Path(name), PairsFile).pair
    path, mark, inner = name.rpartition("#")
    if mark and path.endswith(".toml"):
        return _of_file(path, inner)
    known = pair_names()
    raise StudyError(f"unknown edit pair, set or category '{name}'{suggest(name, known)} (cbench list pairs)")


def _of_file(path: str, name: str) -> tuple[PairRow, ...]:
    """The pairs of a user's own file that go by this name: one id, a set of the file, or a category."""
    file = read_document(Path(path), PairsFile)
    members = file.sets.get(name, ())
    found = tuple(row for row in file.pair if name in (row.id, row.category) or row.id in members)
    if not found:
        known = dict.fromkeys(one for row in file.pair for one in (row.id, row.category))
        raise StudyError(f"{path} has no pair, category or set '{name}'{suggest(name, [*known, *file.sets])}")
    return found


def choose_pairs(selection: Sequence[str], wanted: Sequence[str]) -> tuple[str, ...]:
    """The selection narrowed to names that a command gives: those of the study's own files first, then shipped ones."""
    files = [one for one in selection if one.rpartition("#")[0].endswith(".toml") or one.endswith(".toml")]
    own = {one.rpartition("#")[0] if not one.endswith(".toml") else one: None for one in files}
    chosen = []
    for name in wanted:
        inside = [f"{path}#{name}" for path in own if _is_in(path, name)]
        chosen += inside or [name]
    return tuple(dict.fromkeys(chosen))


def _is_in(path: str, name: str) -> bool:
    file = read_document(Path(path), PairsFile)
    return name in file.sets or any(name in (row.id, row.category) for row in file.pair)


def pairs_for(kind: Kind, pairs: Iterable[EditPair]) -> tuple[EditPair, ...]:
    """Those of `pairs` that apply to a picture of this kind."""
    return tuple(pair for pair in pairs if kind in pair.kinds)


def misfit(holds: Iterable[str] | None, edit: EditPair | EditSession) -> str:
    """Why an edit is not for a picture that is said to hold these things; empty if it is, or if nobody has said.

    >>> misfit(["man", "hat"], load_pairs(["hat"])[0])
    'it holds a hat already'
    """
    if holds is None:
        return ""
    held = {_noun(one) for one in holds}
    there = next((one for one in edit.adds if _noun(one) in held), None)
    if there is not None:
        return f"it already shows {_with_article(there)}"
    if edit.needs and not any(_noun(one) in held for one in edit.needs):
        return f"it shows no {edit.needs[0]}"
    return ""


def _noun(word: str) -> str:
    """One spelling for singular and plural, with or without hyphens."""
    plain = " ".join(word.lower().replace("-", " ").replace("_", " ").split())
    return plain if plain.endswith("ss") else plain.removesuffix("s")


def _with_article(noun: str) -> str:
    if noun.endswith("s") or noun == "coffee":
        return noun
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def pairs_hash(pairs: Iterable[EditPair]) -> str:
    """Hash of these pairs with their wording and order, for the run's manifest."""
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
