"""A run as an older version of the package would have written it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from convergebench.store.schema import MIGRATIONS

_UNDO = {
    7: "drop table decisions;",
    6: """drop table ratings; alter table cases drop column clean; alter table answers drop column editor;
          alter table answers drop column "case"; alter table answers drop column position;""",
    5: "drop table parts; alter table attempts drop column settled; alter table attempts drop column part;",
    4: "drop table anchors;",
    2: "alter table steps drop column used;",
    3: "drop table labels; drop table probes; alter table steps drop column draw;",
}


def make_older(root: Path, schema: int) -> None:
    """Take the run's database back to this schema."""
    undone = "".join(_UNDO[number] for number in range(len(MIGRATIONS), schema, -1))
    with closing(sqlite3.connect(root / "run.sqlite")) as connection:
        connection.executescript(f"{undone}pragma user_version = {schema};")
