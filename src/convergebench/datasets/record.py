"""One record per picture of a chain, step 0 (the untouched source) included, with all that is known about it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convergebench.datasets.failing import failures_at
from convergebench.datasets.fields import STEP, Table, empty_record, steps_table
from convergebench.datasets.licences import Licence, covers, read_licence
from convergebench.datasets.measured import Names
from convergebench.datasets.secrets import told_as_json
from convergebench.datasets.source import ChainFacts, Label, Picture, RunSource, StepFacts, Value
from convergebench.store.manifest import Manifest

PHOTOGRAPHS = ("scikit-image:", "scikit-learn:")
"""How the source of a shipped photograph begins; drawings begin with `drawn:`."""


@dataclass(frozen=True, slots=True)
class Record:
    """The columns of one picture, and where its bytes are; without a picture the step was refused or ended."""

    values: Mapping[str, Any]
    picture: Picture | None


@dataclass(frozen=True)
class Rights:
    """What the records of each source image may be handed on under."""

    given: Licence | None
    """What the exporter says, if they say anything."""

    def of_step(self, source: Licence, *, untouched: bool) -> str:
        """The exporter's licence where the source's allows it, else the source's own; a source keeps its own."""
        unchanged = source.text or "not stated"
        if self.given is None or (untouched and not source.unstated):
            return unchanged
        return self.given.text if covers(self.given, source) else unchanged


class Records:
    """Makes the records of a run."""

    def __init__(self, source: RunSource, rights: Rights) -> None:
        self._source, self._rights = source, rights
        self._names = Names(source.measured(), source.manifest.metrics, source.align)
        self.table: Table = steps_table(self._names.keys)

    def of_chain(
        self, chain: ChainFacts, split: str, values: Sequence[Value], labels: Sequence[Label]
    ) -> Iterator[Record]:
        """The chain's records in order, the untouched source first."""
        steps = self._source.steps(chain)
        common = {**self._common(chain), "split": split}
        numbers = self._names.by_step(values)
        # an imported chain starts from a state of its own, which only its first step names
        starts = {chain.picture.id: 0, **{step.parent: 0 for step in steps[:1]}}
        indices = {**starts, **{step.key: step.position for step in steps}}
        sessions = self._source.manifest.sessions
        first = {**_untouched(chain), **_made(sessions, "")}
        for facts in (first, *({**_edited(step, indices), **_made(sessions, step.started or "")} for step in steps)):
            picture = facts.pop("picture")
            # edits that were imported under a licence of their own keep it
            rights = read_licence(facts.pop("own_licence", None) or common["source_licence"])
            index = facts["step_index"]
            record = {**empty_record(STEP), **common, **_of_picture(picture), **facts}
            record["id"] = f"{chain.id}/{index}"
            record["licence"] = self._rights.of_step(rights, untouched=index == 0)
            record["failures"] = failures_at(labels, index)
            if self._names.keys:
                record["measurements"], record["without_value"] = numbers(index)
            yield Record({name: record[name] for name in self.table.columns}, picture)

    def _common(self, chain: ChainFacts) -> dict[str, Any]:
        manifest = self._source.manifest
        source = manifest.sources.get(chain.source, {})
        editor = manifest.editors.get(chain.editor, {})
        return {
            "chain_id": chain.id,
            "image_name": chain.source,
            "variant": chain.variant,
            "family": chain.family,
            "run_index": chain.run,
            "editor": chain.editor,
            "independent": bool(manifest.pairs.get(chain.variant, {}).get("independent", False)),
            "chain_status": chain.status,
            "kind": chain.kind,
            "origin": origin_of(source),
            "source_sha256": chain.picture.sha256,
            "source_address": str(source.get("source") or "") or None,
            "source_licence": licence_of(manifest, chain.source),
            "simulated": bool(editor.get("simulated", False)),
            "editor_fingerprint": editor.get("fingerprint"),
            "run_name": manifest.name,
            "manifest_sha256": self._source.manifest_sha256,
        }


def licence_of(manifest: Manifest, source: str) -> str:
    """The licence of a source image, `not stated` where nobody said one."""
    return str(manifest.sources.get(source, {}).get("licence") or "not stated")


def origin_of(source: Mapping[str, Any]) -> str | None:
    """`photograph` or `drawn`, as far as its suite knows."""
    if source.get("origin") in ("photograph", "drawn"):
        return str(source["origin"])
    told = str(source.get("source", ""))
    return "drawn" if told.startswith("drawn:") else "photograph" if told.startswith(PHOTOGRAPHS) else None


def _untouched(chain: ChainFacts) -> dict[str, Any]:
    return {"step_index": 0, "round": 0, "status": "ok", "picture": chain.picture}


def _of_picture(picture: Picture | None) -> dict[str, Any]:
    if picture is None:
        return {}
    return {
        "width": picture.width,
        "height": picture.height,
        "file_bytes": picture.bytes,
        "mime": picture.mime,
        "sha256": picture.sha256,
    }


def _edited(step: StepFacts, indices: Mapping[str, int]) -> dict[str, Any]:
    settings = json.loads(step.settings)
    used = json.loads(step.used) if step.used else {}
    # what was recorded elsewhere says there how it was made: the replay's own clock and settings say nothing
    told = used if isinstance(used, dict) else {}
    return {
        "step_index": step.position,
        "parent_step": indices.get(step.parent),
        "round": step.round,
        "operation": step.operation,
        "prompt": step.instruction,
        "seed": told.get("seed") if step.seed is None else step.seed,
        "temperature": _first(settings.get("temperature"), told.get("temperature")),
        "resolution_requested": _first(settings.get("resolution"), told.get("resolution")),
        "session": _first(told.get("session"), settings.get("session")),
        "model_id": step.model,
        "started": _first(told.get("started"), step.started),
        "seconds": _first(told.get("seconds"), step.seconds),
        "cost": step.dollars,
        "attempts": step.attempts,
        "reasoning_summary": step.reasoning,
        "status": step.status,
        "detail": step.detail or None,
        "step_key": step.key,
        "settings": told_as_json(settings),
        "used": told_as_json(used) if step.used else None,
        "picture": step.picture,
        "own_licence": told.get("licence"),
    }


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _made(sessions: Sequence[Mapping[str, Any]], started: str) -> dict[str, Any]:
    """Which program made it: that of the last command begun before it, for a source that of the first."""
    before = [session for session in sessions if str(session.get("started", "")) <= started] or list(sessions[:1])
    if not before:
        return {}
    git = before[-1].get("git") or {}
    commit = git.get("commit")
    return {
        "git_commit": f"{commit}+" if commit and git.get("dirty") else commit,
        "convergebench": before[-1].get("versions", {}).get("convergebench"),
    }
