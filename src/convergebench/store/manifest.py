"""`manifest.json`: everything that could change a number, and the rule for continuing a run.

A run may grow (more rounds, replicates, images, pairs, editors, metrics). Asking for less removes nothing: the spec is
the most that was ever requested. The same name with other content (an image's hash, a pair's words, an editor's, role's
or metric's fingerprint, the seed) would mix numbers that mean different things: that is refused, with the difference.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from convergebench.errors import ChangedMeaning, StudyError
from convergebench.redaction import redact
from convergebench.store.images import write_synced
from convergebench.store.rubrics import is_function
from convergebench.store.spec_merge import merge_specs
from convergebench.store.step_keys import UNKNOWN

FORMAT = 2
"""2: the old default of format 1, percentile intervals, is too narrow; such runs take today's default instead."""
RECORDED_PACKAGES = (
    "convergebench", "numpy", "opencv-python-headless", "pillow", "scipy", "polars", "scikit-image", "torch",
)  # fmt: skip


@dataclass(frozen=True)
class Manifest:
    """What a run is. The tables map a name to its content."""

    name: str
    study: str
    created: str
    spec: dict[str, Any]
    """The parsed study file with its defaults; of several, the most that was requested."""
    fixed: dict[str, Any]
    """Settings that may not change: seed, order, temperature …"""
    sources: dict[str, dict[str, Any]] = field(default_factory=dict)
    pairs: dict[str, dict[str, Any]] = field(default_factory=dict)
    editors: dict[str, dict[str, Any]] = field(default_factory=dict)
    metrics: dict[str, str] = field(default_factory=dict)
    roles: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Those that the study itself asks; roles that only metrics ask are part of the metrics' fingerprints."""
    recordings: dict[str, str] = field(default_factory=dict)
    """Imported chains: editor/chain → hash of its files."""
    sessions: list[dict[str, Any]] = field(default_factory=list)
    format: int = FORMAT

    @property
    def align(self) -> str:
        """How images of different size are aligned, as last requested."""
        return str(self.spec.get("measure", {}).get("align", "auto"))


def read_manifest(path: Path) -> Manifest:
    """Read and check it; `StudyError` says what is wrong."""
    from convergebench.store.manifest_model import damaged, load_document, require_valid  # pydantic loads slowly

    try:
        content = load_document(path)
    except ValueError as error:
        raise StudyError(damaged(path, str(error))) from error
    number = content.get("format") if isinstance(content, dict) else None
    if isinstance(number, int) and number > FORMAT:
        raise StudyError(f"{path} was written by a newer convergebench; upgrade with: pip install -U convergebench")
    require_valid(content, path)
    return Manifest(**_upgraded(content))


def _upgraded(content: dict[str, Any]) -> dict[str, Any]:
    analysis = content["spec"].get("analysis", {})
    if content["format"] == 1 and analysis.get("interval") == "percentile":
        kept = {key: value for key, value in analysis.items() if key != "interval"}
        content = {**content, "spec": {**content["spec"], "analysis": kept}}
    return {**content, "format": FORMAT}


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Replace the file atomically."""
    text = json.dumps(asdict(manifest), indent=1, ensure_ascii=False, allow_nan=False)
    write_synced(path, text.encode())


def grow(old: Manifest, new: Manifest) -> Manifest:
    """The manifest of the continued run; `ChangedMeaning` lists every difference on its own line."""
    differences = []
    if old.study not in (new.study, UNKNOWN):
        differences.append(f"study: {old.study} → {new.study}")
    if old.fixed and new.fixed:  # a run of recordings alone has no fixed settings
        differences += _changed("setting", old.fixed, new.fixed, also_missing=True)
    differences += _changed("source", _identities(old.sources), _identities(new.sources))
    differences += _changed("pair", old.pairs, new.pairs)
    # an editor is identified by its fingerprint: its server address and its limits may change
    same = {name for name in old.editors.keys() & new.editors.keys() if _meaning(old, name) == _meaning(new, name)}
    same |= {name for name, facts in old.editors.items() if facts.get("fingerprint") == UNKNOWN}
    editors = ({name: facts for name, facts in one.editors.items() if name not in same} for one in (old, new))
    differences += _changed("editor", *editors)
    differences += _changed(
        "role", *({n: facts.get("fingerprint") for n, facts in m.roles.items()} for m in (old, new))
    )
    # a function of the user's own that changed is measured again
    differences += _changed(
        "metric", *({n: one for n, one in m.metrics.items() if not is_function(n)} for m in (old, new))
    )
    differences += _changed("recording", old.recordings, new.recordings)
    functions = [name for name in old.editors.keys() & new.editors.keys() if _is_changed_function(old, new, name)]
    if differences and len(differences) == len(functions):
        raise ChangedMeaning(
            f"the function behind editor '{min(functions)}' has changed since the run '{old.name}' was begun; use "
            "another --run, or undo the change (version = … in the study file says when a function counts as another)"
        )
    if differences:
        raise ChangedMeaning(
            f"run '{old.name}' exists and this would change what its numbers mean; use another --run, "
            "or undo the change:\n  " + "\n  ".join(differences)
        )
    tables = ("sources", "pairs", "editors", "metrics", "roles", "recordings")
    merged: dict[str, Any] = {name: {**getattr(old, name), **getattr(new, name)} for name in tables}
    return replace(
        old,
        study=new.study if old.study == UNKNOWN else old.study,
        spec=merge_specs(old.spec, new.spec),
        fixed=new.fixed or old.fixed,
        sessions=[*old.sessions, *new.sessions],
        **merged,
    )


def _identities(sources: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """What a source is; its title, its credit and what it holds may be put in better words."""
    told = ("title", "holds", "credit", "package")
    return {id: {name: value for name, value in facts.items() if name not in told} for id, facts in sources.items()}


def _meaning(manifest: Manifest, editor: str) -> list[Any]:
    facts = manifest.editors[editor]
    return [facts.get(part) for part in ("fingerprint", "simulated", "deterministic", "settings")]


def _is_changed_function(old: Manifest, new: Manifest, editor: str) -> bool:
    """Whether the editor is a function, and nothing about it changed but its code."""
    before, after = _meaning(old, editor), _meaning(new, editor)
    functions = all(str(one[0]).startswith("function:") for one in (before, after))
    return functions and before[0] != after[0] and before[1:] == after[1:]


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
    """Command, versions and machine: one entry per command that wrote to the run."""
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


PYTHON_CALL: ContextVar[str] = ContextVar("python_call", default="")
"""The Python API call in progress; empty in a command."""


def command_line() -> str:
    """The command as typed, without the path of the program and without anything that looks like a key."""
    words = [Path(sys.argv[0]).name, *sys.argv[1:]]
    command = redact(PYTHON_CALL.get() or " ".join(_quoted(word) for word in words))
    # file names need not be valid Unicode, the manifest must be
    return command.encode("utf-8", "backslashreplace").decode("utf-8")


def _quoted(word: str) -> str:
    name, equals, _ = word.partition("=")
    if equals and any(secret in name.lower() for secret in ("key", "token", "secret", "password")):
        return f"{name}=…"
    return f"'{word}'" if any(letter in word for letter in " '\"$&|<>*?") else word
