"""What must hold after every session, read from the files without any code of the package but `verify`."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convergebench.store.verify import problems
from tests.gauntlet.provider import KEY, Provider

COMPOSED = "two"
"""The editor whose money is spent by its parts."""
TABLES = {
    "steps": "select id, parent, editor, instruction, seed, replicate, status, image, draw from steps order by id",
    "chains": 'select editor, "case", plan, status, rounds, planned from chains order by 1, 2',
    "positions": "select * from chain_steps order by 1, 2, 3",
    "comparisons": "select * from comparisons order by id",
    "measurements": "select * from measurements order by 1, 2, 3, 4",
    "answers": "select id, role, payload, value from answers order by id",
    "images": "select * from images order by id",
}
_CALL = re.compile(r"call-(\d+)")


class Violated(AssertionError):
    """An invariant does not hold."""


def require(holds: object, what: str) -> None:
    if not holds:
        raise Violated(what)


def rows(root: Path, query: str, *values: Any) -> list[tuple[Any, ...]]:
    """Read beside the session, or after it."""
    with closing(sqlite3.connect(f"{(root / 'run.sqlite').as_uri()}?mode=ro", uri=True)) as connection:
        return connection.execute(query, values).fetchall()


@dataclass
class Books:
    """The journal's account of the calls."""

    counted: float
    settled: dict[int, float]
    """Call number → dollars, of rows that say which call they are about."""
    unsettled: int


def books(root: Path) -> Books:
    settled: dict[int, float] = {}
    unsettled, counted = 0, 0.0
    query = "select step, editor, part, outcome, dollars, settled, model, raw, error from attempts"
    for step, editor, part, outcome, dollars, is_settled, model, raw, error in rows(root, query):
        counted += dollars
        if editor == COMPOSED and not part:
            require(dollars == 0, f"{step}: a composed step costs {dollars} beside its parts")
            continue
        if not is_settled:
            require(dollars > 0, f"{step}: a call of unknown cost is counted at nothing")
            unsettled += 1
            continue
        found = _CALL.search(f"{model} {raw}")
        if found is None:
            require(dollars == 0, f"{step}: {outcome} at {dollars} dollars, but no reply said so ({error})")
            continue
        number = int(found[1])
        require(number not in settled, f"call {number} is counted twice")
        require(outcome != "ok" or f"/call-{number}" in model, f"call {number}: its model is not the one that answered")
        settled[number] = dollars
    return Books(counted, settled, unsettled)


def check_money(root: Path, provider: Provider, *, limit: float | None) -> Books:
    """The ledger is the provider's bill, and what nobody can know is counted at its price."""
    found = books(root)
    for number, dollars in found.settled.items():
        call = provider.calls[number]
        require(abs(call.dollars - dollars) < 1e-9, f"call {number} was billed {call.dollars}, counted {dollars}")
    missing = [call for call in provider.calls.values() if call.dollars > 0 and call.number not in found.settled]
    require(
        found.unsettled >= len(missing),
        f"{len(missing)} billed calls are not on record, only {found.unsettled} rows may stand for them",
    )
    require(found.counted >= provider.billed - 1e-9, f"billed {provider.billed:.4f}, counted {found.counted:.4f}")
    if limit is not None:
        require(provider.billed <= limit + 1e-9, f"billed {provider.billed:.4f} beyond the limit of {limit}")
    return found


def check_steps(root: Path, before: dict[Any, Any]) -> dict[Any, Any]:
    """None lost, none doubled, each with its image; returns what must not be lost from now on."""
    steps = {key: (status, image) for key, status, image in rows(root, "select id, status, image from steps")}
    answers = dict(rows(root, "select id, value from answers"))
    scores = {one[:4]: one[4:] for one in rows(root, "select * from measurements")}
    kept: dict[Any, Any] = {**steps, **answers, **scores}
    for key, value in before.items():
        require(key in kept, f"lost: {key}")
        require(kept[key] == value, f"changed: {key} from {value} to {kept[key]}")
    paid = Counter(
        key for (key,) in rows(root, "select step from attempts where outcome = 'ok' and part = ''") if key in steps
    )
    require(all(count == 1 for count in paid.values()), f"answered more than once: {paid.most_common(1)}")
    missing = [key for key, (status, _) in steps.items() if status == "ok" and key not in paid]
    require(not missing, f"steps that no call answered: {missing}")
    tries = rows(root, "select step, count(*) from attempts where part != '' and outcome = 'ok' group by step")
    require(all(count <= 2 for _, count in tries), f"parts paid for twice: {tries}")
    files = dict(rows(root, "select id, file from images"))
    for key, (status, image) in steps.items():
        require(status != "ok" or image in files, f"step {key} without its image")
    for identity, file in files.items():
        path = root / file
        require(path.is_file(), f"{file} is missing")
        require(f"i1:{hashlib.sha256(path.read_bytes()).hexdigest()}" == identity, f"{file} is damaged")
    for subject, reference in rows(
        root, "select subject, reference from comparisons join measurements on comparison = id"
    ):
        require(subject in files and (reference is None or reference in files), "a score without its image")
    loose = rows(root, "select count(*) from measurements where comparison not in (select id from comparisons)")
    require(loose == [(0,)], "a score without its comparison")
    return kept


def check_files(root: Path) -> None:
    """`cbench verify` finds nothing, and no file holds the key."""
    found = problems(root) if (root / "manifest.json").exists() else []
    require(not found, f"verify: {found}")
    for path in root.rglob("*"):
        require(not path.is_file() or KEY.encode() not in path.read_bytes(), f"{path.name} holds the key")


def check_equal(root: Path, calm: Path) -> None:
    """The disturbed run is the calm one, but for its calls."""
    for table, query in TABLES.items():
        mine, theirs = rows(root, query), rows(calm, query)
        require(mine == theirs, f"{table} differ from the undisturbed run: {_difference(mine, theirs)}")


def _difference(mine: list[tuple[Any, ...]], theirs: list[tuple[Any, ...]]) -> str:
    extra, missing = [one for one in mine if one not in theirs], [one for one in theirs if one not in mine]
    return f"{len(extra)} more ({extra[:1]}), {len(missing)} missing ({missing[:1]})"
