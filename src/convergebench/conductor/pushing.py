"""Publishing a run as a data set: export it once, look for keys in it, list what would be sent, send it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from convergebench.conductor.exporting import export
from convergebench.conductor.observer import Observer
from convergebench.datasets.export import ExportOptions
from convergebench.datasets.hub_push import PushPlan, plan_push, push, require_repo
from convergebench.datasets.secret_scan import files_with_secrets
from convergebench.datasets.source import RunSource
from convergebench.errors import StudyError
from convergebench.store.queries import exporting
from convergebench.store.run import require_run

STAMP = ".made-from.json"
"""Beside the staged data set: the run and the options that it was made from."""


@dataclass(frozen=True)
class StagedPush:
    """A data set that is ready to be sent."""

    plan: PushPlan
    notices: tuple[str, ...]
    licence: str
    """As the front matter of the card has it."""


def stage(
    root: Path,
    repo: str,
    options: ExportOptions,
    *,
    private: bool,
    out: Path | None = None,
    observer: Observer | None = None,
) -> StagedPush:
    """Export the run into the staging folder, unless it is there from the same run, and plan to send it."""
    require_repo(repo)
    require_run(root)
    folder = out or Path("push") / repo.replace("/", "--")
    stamp, beside = _stamp(root, options), folder.with_name(f"{folder.name}{STAMP}")
    made = _read(beside)
    if folder.is_dir() and any(folder.iterdir()):
        if made.get("stamp") != stamp:
            raise StudyError(f"{folder} was made from something else; remove it, or name another folder with --out")
        notices = tuple(str(one) for one in made.get("notices", ()))
    else:
        _write(beside, stamp, ())  # first: the folder comes whole or not at all
        notices = tuple(export(root, folder, options, observer).notices)
        _write(beside, stamp, notices)
    found = files_with_secrets(folder)
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        raise StudyError(f"{folder / found[0]}{more} holds what looks like a key; nothing was sent. Remove it first")
    return StagedPush(plan_push(folder, repo, private=private), notices, _licence(folder))


def send(staged: StagedPush, observer: Observer | None = None) -> str:
    """Send it; returns the address of the data set."""
    observer = observer or Observer()
    return push(staged.plan, note=lambda line: observer.note(f"note: {line}"))


def _stamp(root: Path, options: ExportOptions) -> str:
    with RunSource(root) as source:
        content = exporting.content_sha256(source.records)
        return sha256(repr((repr(options), source.manifest_sha256, content)).encode(errors="replace")).hexdigest()


def _write(path: Path, stamp: str, notices: tuple[str, ...]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"stamp": stamp, "notices": notices}, ensure_ascii=False), encoding="utf-8")


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _licence(folder: Path) -> str:
    head = (folder / "README.md").read_text(encoding="utf-8").split("---", 2)
    facts = dict(line.split(": ", 1) for line in head[1].splitlines() if line.startswith("license") and ": " in line)
    name = facts.get("license_name") if facts.get("license") == '"other"' else facts.get("license")
    return (name or "not stated").strip('"')
