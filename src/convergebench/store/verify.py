"""Is a run what it says it is? Database integrity, every step against its key, every image against its own name."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from convergebench.errors import StudyError
from convergebench.ids import image_id, step_id
from convergebench.store.journal import connect
from convergebench.store.manifest import Manifest, read_manifest
from convergebench.store.run import require_run

DANGLING = {
    "steps without their image": (
        "select count(*) from steps where status = 'ok' and (image is null or image not in (select id from images))"
    ),
    "cases without their image": "select count(*) from cases where image not in (select id from images)",
    "comparisons without an image": """
        select count(*) from comparisons where subject not in (select id from images)
        or reference not in (select id from images) or via not in (select id from images)""",
    "chain positions without their step": "select count(*) from chain_steps where step not in (select id from steps)",
    "measurements without their comparison": (
        "select count(*) from measurements where comparison not in (select id from comparisons)"
    ),
    "chains without their case": 'select count(*) from chains where "case" not in (select id from cases)',
}


def problems(root: Path) -> list[str]:
    """Everything that is not as it should be, one line each."""
    require_run(root)
    found: list[str] = []
    try:
        manifest = read_manifest(root / "manifest.json")
        with closing(connect(root / "run.sqlite", read_only=True)) as connection:
            found += _integrity(connection)
            found += _dangling(connection)
            found += _keys(connection, manifest)
            found += _files(connection, root)
    except (StudyError, sqlite3.Error) as error:  # what comes after it cannot be looked at
        found.append(str(error))
    return found


def _integrity(connection: sqlite3.Connection) -> Iterator[str]:
    for (line,) in connection.execute("pragma integrity_check"):
        if line != "ok":
            yield f"database: {line}"


def _dangling(connection: sqlite3.Connection) -> Iterator[str]:
    for what, query in DANGLING.items():
        (count,) = connection.execute(query).fetchone()
        if count:
            yield f"{count} {what}"


def _keys(connection: sqlite3.Connection, manifest: Manifest) -> Iterator[str]:
    """A step's key is the hash of its history, so a history that was changed gives itself away."""
    drawn = any(row[1] == "draw" for row in connection.execute("pragma table_info(steps)"))
    query = f"select id, parent, instruction, settings, editor, replicate, {'draw' if drawn else 0} from steps"
    for identity, parent, instruction, settings, editor, replicate, draw in connection.execute(query):
        if editor not in manifest.editors:
            yield f"step {identity} is by '{editor}', which the manifest does not know"
            continue
        key = step_id(
            parent=parent,
            instruction=instruction,
            settings=json.loads(settings),
            fingerprint=manifest.editors[editor]["fingerprint"],
            replicate=replicate,
            draw=draw,
        )
        if key != identity:
            yield f"step {identity} has another history than its key says"


def _files(connection: sqlite3.Connection, root: Path) -> Iterator[str]:
    for identity, file in connection.execute("select id, file from images"):
        path = root / file
        if not path.exists():
            yield f"{file} is missing"
        elif image_id(path.read_bytes()) != identity:
            yield f"{file} is not the image it was"


def totals(root: Path) -> str:
    """How much a run holds, in words."""
    connection = connect(root / "run.sqlite", read_only=True)
    counts = [
        f"{connection.execute(f'select count(*) from {table}').fetchone()[0]:,} {table}"
        for table in ("chains", "steps", "attempts", "images", "measurements")
    ]
    connection.close()
    return ", ".join(counts)
