"""Guards against rollback journals that would have SQLite delete another file when it opens a database.

A transaction over several databases writes the name of a shared file at the end of each journal, and SQLite deletes
that file after the rollback. No run is written that way, so such a journal is an attack on a file of this machine.
"""

from __future__ import annotations

from pathlib import Path

from convergebench.errors import StudyError

ENDING = bytes.fromhex("d9d505f920a163d7")
"""The last bytes of a journal that names another file."""


def require_harmless_rollback(database: Path) -> None:
    """`StudyError` if opening this database could delete another file."""
    journal = database.resolve().with_name(f"{database.resolve().name}-journal")
    if not journal.is_file():  # reading a pipe would block
        return
    try:
        with journal.open("rb") as file:
            file.seek(max(0, journal.stat().st_size - len(ENDING)))
            names_a_file = file.read(len(ENDING)) == ENDING
    except OSError:  # SQLite cannot read it either
        return
    if names_a_file:
        raise StudyError(
            f"{journal} would have SQLite delete another file; nothing was read. No run has such a file: remove it, "
            f"or download the run again from its source"
        )
