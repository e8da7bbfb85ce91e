"""Is a run what it says it is? Database integrity, and every image against its own name."""

from __future__ import annotations

from pathlib import Path

from convergebench.ids import image_id
from convergebench.store.journal import connect
from convergebench.store.run import require_run

DANGLING = {
    "steps without their image": (
        "select count(*) from steps where status = 'ok' and image not in (select id from images)"
    ),
    "chain positions without their step": "select count(*) from chain_steps where step not in (select id from steps)",
    "measurements without their comparison": (
        "select count(*) from measurements where comparison not in (select id from comparisons)"
    ),
    "chains without their case": 'select count(*) from chains where "case" not in (select id from cases)',
}


def problems(root: Path) -> list[str]:
    """Everything that is not as it should be, one line each."""
    connection = connect(require_run(root) / "run.sqlite", read_only=True)
    found = [f"database: {row[0]}" for row in connection.execute("pragma integrity_check").fetchall() if row[0] != "ok"]
    for what, query in DANGLING.items():
        (count,) = connection.execute(query).fetchone()
        if count:
            found.append(f"{count} {what}")
    for identity, file in connection.execute("select id, file from images").fetchall():
        path = root / file
        if not path.exists():
            found.append(f"{file} is missing")
        elif image_id(path.read_bytes()) != identity:
            found.append(f"{file} is not the image it was")
    connection.close()
    return found


def totals(root: Path) -> str:
    """How much a run holds, in words."""
    connection = connect(root / "run.sqlite", read_only=True)
    counts = [
        f"{connection.execute(f'select count(*) from {table}').fetchone()[0]:,} {table}"
        for table in ("chains", "steps", "attempts", "images", "measurements")
    ]
    connection.close()
    return ", ".join(counts)
