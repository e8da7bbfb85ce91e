"""What SQLite would undo when it opens a database: a journal beside it can name another file, which is then deleted.

A transaction over several databases leaves the name of a file that they share at the end of each one's journal. SQLite
deletes that file once it has undone the last of them, wherever it lies. No run is written in such a way, so a journal
with a name in it was made by somebody who wants a file of this machine gone.
"""

from __future__ import annotations

from pathlib import Path

from convergebench.errors import StudyError

ENDING = bytes.fromhex("d9d505f920a163d7")
"""The last bytes of a journal that names another file."""


def require_harmless_rollback(database: Path) -> None:
    """`StudyError` if opening this database could delete another file."""
    journal = database.resolve().with_name(f"{database.resolve().name}-journal")
    if not journal.is_file():  # a pipe would keep us waiting
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
            "or get the run again from where it came"
        )
