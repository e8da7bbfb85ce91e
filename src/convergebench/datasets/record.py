"""One record per picture of a chain, step 0 (the untouched source) included, with all that is known about it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convergebench.datasets.fields import STEP, Table, empty_record, steps_table
from convergebench.datasets.licences import Licence, covers, read_licence
from convergebench.datasets.measured import MeasurementNames
from convergebench.datasets.parts import ExportedChain
from convergebench.datasets.secrets import redacted_json
from convergebench.datasets.seen_failures import failures_at
from convergebench.datasets.source import RunSource
from convergebench.store.manifest import Manifest
from convergebench.store.queries.exporting import ChainFacts, StepFacts, measured_kinds
from convergebench.store.tables import ImageRow

PHOTOGRAPHS = ("scikit-image:", "scikit-learn:")
"""How the source of a photograph began in suites of version 1; those of drawings began with `drawn:`."""


@dataclass(frozen=True, slots=True)
class ExportRecord:
    """The columns of one picture, and where its bytes are; without a picture the step was refused or ended."""

    values: Mapping[str, Any]
    picture: ImageRow | None


@dataclass(frozen=True)
class Rights:
    """The licence of each record."""

    given: Licence | None
    """The licence that the exporter gives, if any."""

    def of_step(self, source: Licence, *, untouched: bool) -> str:
        """The exporter's licence where the source's allows it, else the source's own; a source keeps its own."""
        unchanged = source.text or "not stated"
        if self.given is None or (untouched and not source.unstated):
            return unchanged
        return self.given.text if covers(self.given, source) else unchanged


class RecordMaker:
    """Makes the records of a run."""

    def __init__(self, source: RunSource, rights: Rights) -> None:
        self._source, self._rights = source, rights
        self._names = MeasurementNames(
            measured_kinds(source.records, source.align), source.manifest.metrics, source.align
        )
        self.table: Table = steps_table(self._names.keys)

    def of_chain(self, exported: ExportedChain, split: str) -> Iterator[ExportRecord]:
        """The chain's records in order, the untouched source first."""
        chain, steps = exported.facts, exported.steps
        common = {**self._common(chain), "split": split}
        numbers = self._names.by_step(exported.values)
        # an imported chain starts from its own state, which only its first step names
        starts = {chain.picture.id: 0, **{step.parent: 0 for step in steps[:1]}}
        indices = {**starts, **{step.key: step.position for step in steps}}
        sessions = self._source.manifest.sessions
        first = {"step_index": 0, "round": 0, "status": "ok", "picture": chain.picture, **_made(sessions, "")}
        for facts in (first, *({**_edited(step, indices), **_made(sessions, step.started or "")} for step in steps)):
            picture = facts.pop("picture")
            # edits that were imported under a licence of their own keep it
            rights = read_licence(facts.pop("own_licence", None) or common["source_licence"])
            index = facts["step_index"]
            record = {**empty_record(STEP), **common, **_of_picture(picture), **facts}
            record["id"] = f"{chain.id}/{index}"
            record["licence"] = self._rights.of_step(rights, untouched=index == 0)
            record["failures"] = failures_at(exported.labels, index)
            if self._names.keys:
                record["measurements"], record["without_value"] = numbers(index)
            yield ExportRecord({name: record[name] for name in self.table.columns}, picture)

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
    """The licence of a source image, or `not stated`."""
    return str(manifest.sources.get(source, {}).get("licence") or "not stated")


def origin_of(source: Mapping[str, Any]) -> str | None:
    """`photograph` or `drawn`; None: its suite does not say."""
    if source.get("origin") in ("photograph", "drawn"):
        return str(source["origin"])
    stated = str(source.get("source", ""))
    return "drawn" if stated.startswith("drawn:") else "photograph" if stated.startswith(PHOTOGRAPHS) else None


def _of_picture(picture: ImageRow | None) -> dict[str, Any]:
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
    # imported steps state here how they were made; time and settings of the replay mean nothing
    stated = used if isinstance(used, dict) else {}
    return {
        "step_index": step.position,
        "parent_step": indices.get(step.parent),
        "round": step.round,
        "operation": step.operation,
        "prompt": step.instruction,
        "seed": stated.get("seed") if step.seed is None else step.seed,
        "temperature": _first(settings.get("temperature"), stated.get("temperature")),
        "resolution_requested": _first(settings.get("resolution"), stated.get("resolution")),
        "session": _first(stated.get("session"), settings.get("session")),
        "model_id": step.model,
        "started": _first(stated.get("started"), step.started),
        "seconds": _first(stated.get("seconds"), step.seconds),
        "cost": step.dollars,
        "attempts": step.attempts,
        "reasoning_summary": step.reasoning,
        "status": step.status,
        "detail": step.detail or None,
        "step_key": step.key,
        "settings": redacted_json(settings),
        "used": redacted_json(used) if step.used else None,
        "picture": step.picture,
        "own_licence": stated.get("licence"),
    }


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _made(sessions: Sequence[Mapping[str, Any]], started: str) -> dict[str, Any]:
    """The program versions of the last session begun before it; for a source, of the first."""
    before = [session for session in sessions if str(session.get("started", "")) <= started] or list(sessions[:1])
    if not before:
        return {}
    git = before[-1].get("git") or {}
    commit = git.get("commit")
    return {
        "git_commit": f"{commit}+" if commit and git.get("dirty") else commit,
        "convergebench": before[-1].get("versions", {}).get("convergebench"),
    }
