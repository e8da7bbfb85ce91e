"""`cbench verify`: does a run still hold what it says?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def verify(run: Annotated[Path, typer.Argument(help="Run directory.")]) -> None:
    """Check the database and re-derive the hash of every stored image."""
    from convergebench.cli.display import say
    from convergebench.errors import StudyError
    from convergebench.store.verify import problems, totals

    found = problems(run)
    if found:
        raise StudyError(f"{run} has {len(found)} problems:\n  " + "\n  ".join(found[:20]))
    say(f"{run}: sound ({totals(run)})")
