"""The beginning of a run on disk: its sources, its manifest and its cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from convergebench.engine.prepared import Prepared
from convergebench.errors import ChangedMeaning, StudyError
from convergebench.ids import comparison_id
from convergebench.images.decode import decode, probe
from convergebench.measuring.measure import fingerprints
from convergebench.roles.base import Role
from convergebench.store.manifest import Manifest, command_line, session
from convergebench.store.queries.measuring import replicate_rounds
from convergebench.store.run import Run
from convergebench.store.tables import CaseRow, ComparisonRow, ImageRow
from convergebench.types import Case, Editor, SourceImage


def begin(run: Run, prepared: Prepared) -> Manifest:
    """Store the sources, write the manifest (or grow it), then the cases; nothing is written if the meaning changed.

    The manifest comes after the sources: one that names an image which cannot be read would refuse its mended version.
    """
    _require_same_suite(run, prepared)
    manifest = run.grown(manifest_of(run.root.name, prepared))
    run.journal.commit_now(_source_rows(run, prepared.sources))
    run.write(manifest)
    cases = {chain.case.id: chain.case for chain in prepared.chains}
    run.journal.commit_now(_case_row(case) for case in cases.values())
    return manifest


def _require_same_suite(run: Run, prepared: Prepared) -> None:
    """A suite that was made anew has other pictures under the same name: one run should not mix the two."""
    now = {image.suite for image in prepared.sources if image.suite}
    if not now or not (run.root / "manifest.json").exists():
        return
    before = run.manifest
    name = str(prepared.spec["images"]["suite"])
    same_name = before.spec.get("images", {}).get("suite") == name
    if same_name and before.sources and not now & {facts.get("suite") for facts in before.sources.values()}:
        raise ChangedMeaning(
            f"run '{before.name}' was started with an earlier version of the suite '{name}', and version "
            f"{next(iter(now)).rpartition(' ')[2]} has other images: use another --run. This run keeps its own "
            f"images and can still be measured, reported and exported"
        )


def _source_facts(image: SourceImage) -> dict[str, Any]:
    """What the manifest says of a source; what its suite does not tell is left out."""
    told: dict[str, Any] = {
        "suite": image.suite,
        "package": image.package,
        "origin": "photograph" if image.package else "",
        "title": image.title,
        "credit": image.credit,
        "clean": image.clean,
        "degradation": image.degradation,
        "holds": list(image.holds or ()),
    }
    facts = {"sha256": image.sha256, "kind": image.kind, "licence": image.licence, "source": image.source}
    return {**facts, **{name: value for name, value in told.items() if value}}


def _case_row(case: Case) -> CaseRow:
    return CaseRow(
        *(case.id, case.source_id, case.source.image, case.kind, case.label, case.category, case.replicate),
        clean=case.clean.image if case.clean else None,
    )


def manifest_of(name: str, prepared: Prepared) -> Manifest:
    """Everything that could change a number."""
    return Manifest(
        name=name,
        study=prepared.study,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        spec=dict(prepared.spec),
        fixed=dict(prepared.fixed),
        sources={image.id: _source_facts(image) for image in prepared.sources},
        pairs={label: dict(words) for label, words in prepared.edits.items()},
        editors={name: _editor_facts(editor, prepared.options[name]) for name, editor in prepared.editors.items()},
        metrics=fingerprints(prepared.metrics, precision=prepared.precision, roles=prepared.roles),
        roles={name: _role_facts(prepared.roles[name]) for name in prepared.study_roles},
        recordings=dict(prepared.recordings),
        sessions=[session(command_line()) | ({"left_out": list(prepared.left_out)} if prepared.left_out else {})],
    )


def _role_facts(role: Role) -> dict[str, Any]:
    return {"fingerprint": role.fingerprint, "about": role.about}


def _editor_facts(editor: Editor, options: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "fingerprint": editor.fingerprint,
        "simulated": editor.capabilities.simulated,
        "deterministic": editor.capabilities.deterministic,
        **({} if editor.capabilities.instructed else {"instructed": False}),
        **options,
    }


def _source_rows(run: Run, sources: Sequence[SourceImage]) -> list[ImageRow]:
    """Store the untouched images; each must decode before anything is paid for."""
    known = run.journal.images()
    rows: list[ImageRow] = []
    for image in sources:
        stored = known.get(f"i1:{image.sha256}")
        if stored is not None and run.images.is_intact(stored.file):  # one that was damaged is stored again
            continue
        data = image.read()
        decode(data, what=f"source image '{image.id}'")
        mime, width, height = probe(data)
        identity = run.images.put(data, mime)
        if identity != f"i1:{image.sha256}":
            raise StudyError(
                f"source image '{image.id}' is not what its suite says (sha256 differs); rebuild the suite"
            )
        rows.append(ImageRow(identity, run.images.file_of(identity, mime), mime, width, height, len(data)))
    return rows


def compare_replicates(run: Run) -> None:
    """Add comparisons of every replicate's rounds with replicate 0's: how far chance alone moves an image."""
    rows = []
    for row in replicate_rounds(run.journal):
        identity = comparison_id(
            editor=row.editor, case=row.case, subject=f"{row.subject}:{row.round}", reference=row.reference,
            role="replicate", lag=0,
        )  # fmt: skip
        rows.append(
            ComparisonRow(
                *(identity, row.editor, row.case, "replicate", row.round, row.step),
                lag=0,
                subject=row.subject,
                reference=row.reference,
            )
        )
    run.journal.commit_now(rows)
