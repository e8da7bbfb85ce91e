"""`manifest.json`: everything that could change a number, and the rule for going on.

Growing a run (more rounds, replicates, images, pairs, editors, metrics) goes on. Asking for less takes nothing away:
the spec is what the run was ever asked for. The same name with another content (an image's hash, a pair's words, an
editor's or metric's fingerprint, the seed) would mix numbers that mean different things: that stops, and shows the
difference.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from convergebench.errors import ChangedMeaning, StudyError
from convergebench.redaction import redact
from convergebench.store.asked import asked_in_all
from convergebench.store.images import write_synced
from convergebench.store.step_keys import UNKNOWN

FORMAT = 2
"""2: intervals by percentiles, which every run of format 1 has on record as the default, are too narrow and are left to
the default of today."""
RECORDED_PACKAGES = (
    "convergebench", "numpy", "opencv-python-headless", "pillow", "scipy", "polars", "scikit-image", "torch",
)  # fmt: skip


@dataclass(frozen=True)
class Manifest:
    """What a run is. The tables map a name to the content that name stands for."""

    name: str
    study: str
    created: str
    spec: dict[str, Any]
    """The study file as understood, defaults filled in; of several, the most that was asked for."""
    fixed: dict[str, Any]
    """Settings that may not change: seed, order, temperature …"""
    sources: dict[str, dict[str, Any]] = field(default_factory=dict)
    pairs: dict[str, dict[str, Any]] = field(default_factory=dict)
    editors: dict[str, dict[str, Any]] = field(default_factory=dict)
    metrics: dict[str, str] = field(default_factory=dict)
    recordings: dict[str, str] = field(default_factory=dict)
    """Imported chains: editor/chain → hash of its files."""
    sessions: list[dict[str, Any]] = field(default_factory=list)
    format: int = FORMAT

    @property
    def align(self) -> str:
        """How sizes are made comparable, as the run was last told."""
        return str(self.spec.get("measure", {}).get("align", "auto"))


def read_manifest(path: Path) -> Manifest:
    """Read it back, or say what is wrong with it."""
    from convergebench.store.manifest_model import damaged, load_document, require_sound  # pydantic takes its time

    try:
        content = load_document(path)
    except ValueError as error:
        raise StudyError(damaged(path, str(error))) from error
    number = content.get("format") if isinstance(content, dict) else None
    if isinstance(number, int) and number > FORMAT:
        raise StudyError(f"{path} was written by a newer convergebench; upgrade with: pip install -U convergebench")
    require_sound(content, path)
    return Manifest(**_of_today(content))


def _of_today(content: dict[str, Any]) -> dict[str, Any]:
    analysis = content["spec"].get("analysis", {})
    if content["format"] == 1 and analysis.get("interval") == "percentile":
        kept = {key: value for key, value in analysis.items() if key != "interval"}
        content = {**content, "spec": {**content["spec"], "analysis": kept}}
    return {**content, "format": FORMAT}


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Replace it as a whole."""
    text = json.dumps(asdict(manifest), indent=1, ensure_ascii=False, allow_nan=False)
    write_synced(path, text.encode())


def grow(old: Manifest, new: Manifest) -> Manifest:
    """The run after going on, or `ChangedMeaning` with every difference on its own line."""
    differences = []
    if old.study not in (new.study, UNKNOWN):
        differences.append(f"study: {old.study} → {new.study}")
    if old.fixed and new.fixed:  # a run that so far only holds recordings has fixed nothing
        differences += _changed("setting", old.fixed, new.fixed, also_missing=True)
    for what in ("sources", "pairs"):
        differences += _changed(what[:-1], getattr(old, what), getattr(new, what))
    # who an editor is, is its fingerprint: where its server stands and how hard it is driven may change
    same = {name for name in old.editors.keys() & new.editors.keys() if _meaning(old, name) == _meaning(new, name)}
    same |= {name for name, facts in old.editors.items() if facts.get("fingerprint") == UNKNOWN}
    editors = ({name: facts for name, facts in one.editors.items() if name not in same} for one in (old, new))
    differences += _changed("editor", *editors)
    differences += _changed("metric", old.metrics, new.metrics)
    differences += _changed("recording", old.recordings, new.recordings)
    if differences:
        raise ChangedMeaning(
            f"run '{old.name}' exists and this would change what its numbers mean; use another --run, "
            "or undo the change:\n  " + "\n  ".join(differences)
        )
    return Manifest(
        name=old.name,
        study=new.study if old.study == UNKNOWN else old.study,
        created=old.created,
        spec=asked_in_all(old.spec, new.spec),
        fixed=new.fixed or old.fixed,
        sources={**old.sources, **new.sources},
        pairs={**old.pairs, **new.pairs},
        editors={**old.editors, **new.editors},
        metrics={**old.metrics, **new.metrics},
        recordings={**old.recordings, **new.recordings},
        sessions=[*old.sessions, *new.sessions],
    )


def _meaning(manifest: Manifest, editor: str) -> list[Any]:
    facts = manifest.editors[editor]
    return [facts.get(part) for part in ("fingerprint", "simulated", "deterministic", "settings")]


def _changed(what: str, old: Mapping[str, Any], new: Mapping[str, Any], *, also_missing: bool = False) -> list[str]:
    lines = []
    for key in old.keys() | new.keys() if also_missing else old.keys() & new.keys():
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        if isinstance(before, dict) and isinstance(after, dict):
            parts = [part for part in sorted(before.keys() | after.keys()) if before.get(part) != after.get(part)]
            lines += [f"{what} {key}, {part}: {before.get(part)} → {after.get(part)}" for part in parts]
        else:
            lines.append(f"{what} {key}: {before} → {after}")
    return sorted(lines)


def session(command: str) -> dict[str, Any]:
    """Who ran this and on what: one entry per command that wrote to the run."""
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        "versions": {"python": platform.python_version(), **_versions()},
        "platform": f"{platform.system()} {platform.machine()}",
        "processors": os.cpu_count(),
        "git": _git(),
    }


def _versions() -> dict[str, str]:
    found = {}
    for package in RECORDED_PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _git() -> dict[str, Any] | None:
    """Commit of the checkout this package runs from, if it is one."""
    folder = Path(__file__).resolve().parent
    try:
        commit = _ask_git(folder, "rev-parse", "HEAD")
        return {"commit": commit, "dirty": bool(_ask_git(folder, "status", "--porcelain"))}
    except (OSError, subprocess.SubprocessError):
        return None


def _ask_git(folder: Path, *words: str) -> str:
    answer = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, timeout=10, check=True)
    return answer.stdout.strip()


def command_line() -> str:
    """The command as typed, without the path of the program and without anything that looks like a key."""
    words = [Path(sys.argv[0]).name, *sys.argv[1:]]
    told = redact(" ".join(_quoted(word) for word in words))
    # names of files need not be Unicode, and the manifest is
    return told.encode("utf-8", "backslashreplace").decode("utf-8")


def _quoted(word: str) -> str:
    name, equals, _ = word.partition("=")
    if equals and any(secret in name.lower() for secret in ("key", "token", "secret", "password")):
        return f"{name}=…"
    return f"'{word}'" if any(letter in word for letter in " '\"$&|<>*?") else word
