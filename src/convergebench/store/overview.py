"""Many runs at a glance: what each is, how far it came, what it cost and what its report found.

Nothing is analysed, created or brought up to date, so that hundreds of runs take a moment; a damaged or foreign folder
is one row that says so.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

from convergebench.errors import ConvergeBenchError, StudyError
from convergebench.store.connection import connect_quietly, limit_seconds
from convergebench.store.run import is_run
from convergebench.texts import plain_line

PAGES = ("report/index.html", "audit/index.html")
MOST_OF_A_PAGE = 200_000
"""Characters of a page in which the finding is looked for."""
MOST_SECONDS = 5.0
"""Of reading one journal; a database that was made to be slow is given up."""
_FINDING = re.compile(r'<p class="finding"[^>]*>(.*?)</p>', re.S)
_HEADING = re.compile(r"<h1[^>]*>(.*?)</h1>", re.S)
"""Where older pages have their finding."""
_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class RunOverview:
    """One folder among runs."""

    root: Path
    study: str = ""
    editors: tuple[str, ...] = ()
    title: str = ""
    """The title in the study file, if it gives one."""
    finished: int = 0
    chains: int = 0
    failed: int = 0
    """Chains that failed or were refused."""
    dollars: float | None = None
    finding: str = ""
    """The heading of its report, which says the finding; empty without a report."""
    outdated: bool = False
    """Whether the run has changed since its report was written."""
    changed: float = 0.0
    """When its journal was last written, in seconds since 1970."""
    problem: str = ""
    """Why it cannot be shown; else empty."""
    steps: int = 0
    """Steps that were answered."""


def overview(folder: Path) -> list[RunOverview]:
    """Every folder in a folder of runs, the latest change first; a folder that is a run itself is the only one."""
    if not folder.is_dir():
        raise StudyError(f"there is no folder {folder}; runs are made by: cbench run demo-light --run {folder}/first")
    if is_run(folder):
        return [look_at(folder)]
    found = [look_at(path) for path in sorted(folder.iterdir()) if path.is_dir() and not path.name.startswith(".")]
    return sorted(found, key=lambda one: (bool(one.problem), -one.changed, one.root.name))


def look_at(root: Path) -> RunOverview:
    """One folder; whatever is wrong with it becomes its `problem`."""
    try:
        return _look_at(root)
    except (ConvergeBenchError, OSError, ValueError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return RunOverview(root, problem=f"cannot be read: {plain_line(reason) or type(error).__name__}")


def _look_at(root: Path) -> RunOverview:
    database, manifest = root / "run.sqlite", root / "manifest.json"
    if not is_run(root):
        inside = sum(1 for path in root.glob("*/manifest.json"))
        return RunOverview(root, problem=f"not a run; see: cbench runs {root}" if inside else "not a run")
    for path in (database, manifest):
        if not path.is_file():
            return RunOverview(root, problem=f"has no {path.name}; see: cbench verify {root}")
    study, editors, title = _facts(manifest)
    with closing(_opened(database)) as connection:
        statuses = dict(_rows(connection, "select status, count(*) from chains group by status"))
        ((steps,),) = _rows(connection, "select count(*) from chain_steps")
        ((dollars,),) = _rows(connection, "select coalesce(sum(dollars), 0) from attempts")
    changed = max(path.stat().st_mtime for path in _journal_files(database))
    finding, made = _finding(root, study)
    return RunOverview(
        root,
        study,
        editors,
        title=title,
        finished=int(statuses.get("finished", 0)) + int(statuses.get("ended", 0)),
        chains=sum(map(int, statuses.values())),
        failed=int(statuses.get("failed", 0)) + int(statuses.get("refused", 0)),
        dollars=float(dollars),
        finding=finding,
        outdated=bool(finding) and made + 1 < changed,
        changed=changed,
        steps=int(steps),
    )


def _facts(manifest: Path) -> tuple[str, tuple[str, ...], str]:
    """Its study, its editors, and the title of its study file."""
    from convergebench.store.manifest_model import load_document  # pydantic loads slowly

    content: Any = load_document(manifest)
    editors = content.get("editors") if isinstance(content, dict) else None
    if not isinstance(editors, dict) or not isinstance(content.get("study"), str):
        raise ValueError("its manifest.json is damaged")
    spec = content.get("spec")
    title = str(spec.get("title") or "") if isinstance(spec, dict) else ""
    return plain_line(content["study"]), tuple(plain_line(str(name)) for name in editors), plain_line(title)


def _journal_files(database: Path) -> Iterator[Path]:
    """The database, and its log where that holds something; reading alone changes neither."""
    yield database
    log = database.with_name(f"{database.name}-wal")
    if log.is_file() and log.stat().st_size:
        yield log


def _opened(database: Path) -> sqlite3.Connection:
    connection = connect_quietly(database)
    limit_seconds(connection, MOST_SECONDS)
    return connection


def _rows(connection: sqlite3.Connection, query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query).fetchall()


def _finding(root: Path, study: str) -> tuple[str, float]:
    """The finding at the top of the report (of an audit: of its page), and when the page was written."""
    for name in reversed(PAGES) if study == "audit" else PAGES:
        page = root / name
        if page.is_file() and page.resolve().is_relative_to(root.resolve()):
            with page.open(encoding="utf-8", errors="replace") as file:
                text = file.read(MOST_OF_A_PAGE)
            match = _FINDING.search(text) or _HEADING.search(text)
            if match:
                return plain_line(unescape(_TAG.sub("", match[1]))), page.stat().st_mtime
    return "", 0.0


def report_page(root: Path) -> Path | None:
    """The run's page, if there is one inside its folder."""
    pages = (root / name for name in PAGES)
    return next((one for one in pages if one.is_file() and one.resolve().is_relative_to(root.resolve())), None)
