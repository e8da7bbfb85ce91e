"""Metrics of the user's own, rubric files and functions: a run keeps a file about each and reads only that file.

A manifest names such a metric by its original path. The path is only a name: a received run must not choose which files
of this machine are read, and on another machine the file does not exist. Of a function it keeps what a report needs.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from convergebench.errors import StudyError
from convergebench.registry import is_own_code
from convergebench.store.images import write_synced
from convergebench.texts import short_line

FOLDER = "rubrics"
ENDING = ".toml"
FACTS = ".json"
"""Ending of the files about functions; a manifest that names one itself is not followed."""
MOST = 1_000_000
"""Largest size in bytes; a few thousand are usual."""


def is_file(metric: str) -> bool:
    """Whether a metric is of the user's own, named by a rubric's path or as a function, so that a run keeps a file."""
    return metric.endswith((ENDING, FACTS)) or is_function(metric)


def is_function(metric: str) -> bool:
    """Whether a metric is a function of the user's own."""
    return metric.startswith("given:") or is_own_code(metric)


def copy_of(root: Path, metric: str) -> Path:
    """Where a run keeps the rubric that had this path."""
    stem = re.sub(r"[^A-Za-z0-9]+", "-", re.split(r"[/\\]", metric)[-1].removesuffix(ENDING)).strip("-")[:40]
    digest = sha256(metric.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return root / FOLDER / f"{stem or 'rubric'}-{digest}{FACTS if is_function(metric) else ENDING}"


def readable(root: Path, metric: str) -> str:
    """The name to load a metric of the manifest by: itself, or the run's own copy of a rubric."""
    if not is_file(metric):
        return metric
    copy = copy_of(root, metric)
    if copy.is_file() and not copy.is_symlink():
        _require_short(copy)
        return str(copy)
    if is_function(metric):
        raise StudyError(
            f"{root} was measured by the function {short_line(metric)} and does not say what it is; if it is yours: "
            f"cbench measure {root} --metric {shlex.quote(short_line(metric))}"
        )
    # quoted, because users may paste the command: the path may come from a received run
    path = shlex.quote(short_line(metric))
    raise StudyError(
        f"{root} names the rubric file {path}, but has no copy of it, and a run may not choose which files are read "
        f"from your disk; if the file is yours: mkdir -p {shlex.quote(str(copy.parent))} && cp {path} "
        f"{shlex.quote(str(copy))}"
    )


def keep(root: Path, metrics: Iterable[str]) -> None:
    """Copy the rubrics that the user named into the run; the manifest names them by their paths."""
    for metric in metrics:
        if not metric.endswith(ENDING) or Path(metric).resolve().parent == (root / FOLDER).resolve():
            continue
        copy = copy_of(root, metric)
        _require_short(Path(metric))
        data = Path(metric).read_bytes()
        if not copy.is_file() or copy.is_symlink() or copy.read_bytes() != data:
            write_synced(copy, data)


def keep_facts(root: Path, metric: str, facts: bytes) -> None:
    """Write what a report needs to know of a function that the user named."""
    copy = copy_of(root, metric)
    if not copy.is_file() or copy.is_symlink() or copy.read_bytes() != facts:
        write_synced(copy, facts)


def _require_short(file: Path) -> None:
    size = file.stat().st_size
    if size > MOST:
        raise StudyError(
            f"{short_line(file)} has {size:,} bytes, more than the {MOST:,} allowed for a rubric; name another file"
        )


def key_of(root: Path, manifest: Iterable[str], metric: str) -> str:
    """The manifest's name of a metric that was loaded from the run's own copy."""
    if not metric.endswith(ENDING):
        return metric
    place = Path(metric).resolve()
    return next((key for key in manifest if key.endswith(ENDING) and copy_of(root, key).resolve() == place), metric)
