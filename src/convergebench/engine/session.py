"""From a study file to chains: names become objects, every mistake is found before the first call is paid for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from convergebench.editors.find import canonical, make_editor
from convergebench.edits.pairs import load_pairs
from convergebench.engine.detectors import find_detectors
from convergebench.engine.measure import fingerprints
from convergebench.engine.plan import Chain
from convergebench.errors import StudyError
from convergebench.failures import expand_detectors
from convergebench.ids import comparison_id
from convergebench.images.decode import decode, probe
from convergebench.images.suite import load_suite
from convergebench.metrics import expand
from convergebench.registry import load
from convergebench.roles import make_roles, roles_of
from convergebench.roles.base import Role
from convergebench.store.journal import Row
from convergebench.store.manifest import Manifest, command_line, session
from convergebench.store.run import Run
from convergebench.studies.base import StudyKind
from convergebench.studies.spec import EditorTable, StudySpec
from convergebench.types import KINDS, Case, Editor, Settings, SourceImage, State


@dataclass(frozen=True)
class Prepared:
    """Everything a run needs, nothing begun."""

    study: str
    sources: tuple[SourceImage, ...]
    edits: Mapping[str, Mapping[str, Any]]
    """Label → the words behind it."""
    editors: Mapping[str, Editor]
    chains: tuple[Chain, ...]
    metrics: tuple[str, ...]
    spec: Mapping[str, Any]
    fixed: Mapping[str, Any]
    options: Mapping[str, Mapping[str, Any]]
    """Per editor: what it is made of."""
    recordings: Mapping[str, str] = field(default_factory=dict)
    """Per imported chain: what is in it."""
    left_out: tuple[str, ...] = ()
    """Chains that an editor is spared because it does not take their settings, and why."""

    @property
    def roles(self) -> dict[str, Role]:
        """Who answers questions."""
        return roles_of(self.spec)

    @property
    def precision(self) -> str:
        """Of networks that measure."""
        return str(self.spec.get("measure", {}).get("precision", "float32"))


def prepare(spec: StudySpec) -> Prepared:
    """Load the suite, the pairs, the editors and the metrics of a study, and lay out its chains."""
    if not spec.editors:
        raise StudyError("the study names no editor; add --editor sim-jpeg (cbench list editors)")
    sources = choose(load_suite(spec.images.suite).images, spec.images.kinds, spec.images.limit)
    if not sources:
        raise StudyError(f"suite '{spec.images.suite}' has no image of the kinds {', '.join(spec.images.kinds)}")
    pairs = load_pairs(spec.edits.pairs, wordings=spec.edits.wordings)
    entries = by_their_own_names(spec.editors)
    editors = {entry.name: make_editor(entry.use, entry.name, **entry.options) for entry in entries}
    settings = {entry.name: spec.settings_of(entry).as_settings() for entry in entries}
    for name, editor in editors.items():
        require_understood(editor, name, settings[name])
    _require_different(editors, settings)
    kind: type[StudyKind] = load("studies", spec.study)
    study = kind.of(spec.parameters, spec.settings.as_settings())
    find_detectors(expand_detectors(spec.examine.detectors))  # a slip in a name is told before the first call
    make_roles(spec.roles)  # and so is a key that may not be sent
    walks = {name: kind.of(spec.parameters, settings[name]) for name in editors}
    stated = [(image, State(f"i1:{image.sha256}", f"i1:{image.sha256}")) for image in sources]
    cases = study.cases(stated, pairs)
    if not cases:
        raise StudyError("no edit suits the images' kinds; choose others under [edits] (cbench list pairs)")
    used = {case.source_id for case in cases}
    sources = [image for image in sources if image.id in used]
    for name, editor in editors.items():
        _require_fitting(editor, name, sources)
    left_out: dict[str, None] = {}
    chains = []
    for name, editor in editors.items():
        faults: dict[Settings, str] = {}
        for case in cases:
            own = settings_of(walks[name], case, settings[name])
            if own not in faults:
                faults[own] = misunderstood(editor, own)
            if not faults[own]:
                chains.append(Chain(name, case, walks[name], study.rounds_of(case), own))
                continue
            if not getattr(study, "leaves_out", False):
                raise StudyError(
                    f"'{case.label}' cannot be run: {name} {faults[own]}; choose other variants or another editor, or "
                    f'set unfit = "leave-out" under [{study.name}]'
                )
            left_out[f"{case.label} with {name}: it {faults[own]}"] = None
    if not chains:
        raise StudyError(f"nothing is left to run; left out: {next(iter(left_out))}")
    return Prepared(
        study=study.name,
        sources=tuple(sources),
        edits=study.edits([chain.case for chain in chains]),
        editors=editors,
        chains=tuple(chains),
        left_out=tuple(left_out),
        metrics=tuple(expand(spec.measure.metrics)),
        spec=spec.model_dump(mode="json", by_alias=True),
        fixed={**study.fixed(), **spec.settings.as_settings().as_key()},
        options={entry.name: _made_of(entry) for entry in entries},
    )


def choose(images: Sequence[SourceImage], kinds: Sequence[str], limit: int) -> list[SourceImage]:
    """Images of these kinds; under a limit, taken in turn from each kind so that the balance stays."""
    fitting = [image for image in images if image.kind in kinds]
    if not limit or len(fitting) <= limit:
        return fitting
    queues = [[image for image in fitting if image.kind == kind] for kind in KINDS]
    turns = [queue[index] for index in range(len(fitting)) for queue in queues if index < len(queue)]
    chosen = {image.id for image in turns[:limit]}
    return [image for image in fitting if image.id in chosen]


def by_their_own_names(given: Sequence[EditorTable]) -> list[EditorTable]:
    """A nickname that was not given as a name becomes the model's id, so that both lead to one editor."""
    entries: dict[str, EditorTable] = {}
    for entry in given:
        own = canonical(entry.use) if entry.name == entry.use else entry.name
        if own in entries:
            raise StudyError(f"'{entry.name}' is '{own}', which the study names twice; leave one out")
        entries[own] = entry if own == entry.name else entry.model_copy(update={"name": own, "use": own})
    return list(entries.values())


def _made_of(entry: EditorTable) -> dict[str, Any]:
    own = {"settings": entry.settings} if entry.settings else {}
    return {"use": entry.use, "options": entry.options, **own}


def _require_different(editors: Mapping[str, Editor], settings: Mapping[str, Settings]) -> None:
    """One fingerprint is one editor: under two names it would answer half of its own steps to the other."""
    names: dict[tuple[str, str], str] = {}
    for name, editor in editors.items():
        other = names.setdefault((editor.fingerprint, repr(settings[name].as_key())), name)
        if other != name:
            raise StudyError(
                f"'{other}' and '{name}' are the same editor ({editor.fingerprint}); leave one out, or give it other "
                "options or settings. To run an editor more often, raise replicates"
            )


def settings_of(study: StudyKind, case: Case, otherwise: Settings) -> Settings:
    """What the calls of a case carry beside the words; most studies have the same for all."""
    own: Settings = study.settings_of(case) if hasattr(study, "settings_of") else otherwise
    return own


def require_understood(editor: Editor, name: str, settings: Settings) -> None:
    """A setting that an editor would ignore must not stand in its study as if it counted."""
    fault = misunderstood(editor, settings)
    if fault:
        raise StudyError(
            f"{name} {fault}, leave this editor out, or give the setting only to those that take it: "
            "{ name = …, use = …, settings = { … } }"
        )


def misunderstood(editor: Editor, settings: Settings) -> str:
    """Which setting the editor would ignore and what to do about it, or nothing."""
    able = editor.capabilities
    fault = ""
    asked = settings.interleaved or ((settings.resolution,) if settings.resolution else ())
    strange = [one for one in asked if one not in able.resolutions]
    if (settings.seed is not None or settings.seed_policy == "fixed") and not able.seed:
        fault = "takes no seed; remove settings.seed and settings.seed_policy"
    elif settings.temperature is not None and not able.temperature:
        fault = "takes no temperature; remove settings.temperature"
    elif strange:
        fault = f"takes no resolution '{strange[0]}' (it knows: {', '.join(able.resolutions) or 'none'})"
    elif settings.aspect is not None and settings.aspect not in able.aspects:
        fault = f"takes no aspect '{settings.aspect}' (it knows: {', '.join(able.aspects) or 'none'})"
    elif settings.session == "single" and not able.sessions:
        fault = 'keeps no session; set settings.session = "fresh"'
    elif settings.reasoning and not able.reasoning:
        fault = "gives no summary of its reasoning; remove settings.reasoning"
    return fault


def _require_fitting(editor: Editor, name: str, sources: Sequence[SourceImage]) -> None:
    """An image that a provider would send back is found before anything is paid for."""
    if editor.capabilities.sides is None:
        return
    low, high = editor.capabilities.sides
    wrong = [image for image in sources if not all(low <= side <= high for side in (image.width, image.height))]
    if wrong:
        first = wrong[0]
        raise StudyError(
            f"{name} takes images with sides from {low} to {high} pixels; {len(wrong)} of {len(sources)} are not so "
            f"(first: {first.id}, {first.width} × {first.height}); choose another --suite or leave this editor out"
        )


def begin(run: Run, prepared: Prepared) -> Manifest:
    """Store the sources, write the manifest (or grow it), then the cases; nothing is written if the meaning changed.

    The manifest comes after the sources: one that names an image which cannot be read would refuse its mended version.
    """
    manifest = run.grown(manifest_of(run.root.name, prepared))
    run.journal.commit_now(_source_rows(run, prepared.sources))
    run.write(manifest)
    rows: dict[str, Row] = {}
    for chain in prepared.chains:
        case = chain.case
        values = (case.id, case.source_id, case.source.image, case.kind, case.label, case.category, case.replicate)
        rows[case.id] = ("cases", values)
    run.journal.commit_now(rows.values())
    return manifest


def manifest_of(name: str, prepared: Prepared) -> Manifest:
    """Everything that could change a number."""
    return Manifest(
        name=name,
        study=prepared.study,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        spec=dict(prepared.spec),
        fixed=dict(prepared.fixed),
        sources={
            image.id: {"sha256": image.sha256, "kind": image.kind, "licence": image.licence, "source": image.source}
            for image in prepared.sources
        },
        pairs={label: dict(words) for label, words in prepared.edits.items()},
        editors={name: _editor_facts(editor, prepared.options[name]) for name, editor in prepared.editors.items()},
        metrics=fingerprints(prepared.metrics, precision=prepared.precision, roles=prepared.roles),
        recordings=dict(prepared.recordings),
        sessions=[session(command_line()) | ({"left_out": list(prepared.left_out)} if prepared.left_out else {})],
    )


def _editor_facts(editor: Editor, options: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "fingerprint": editor.fingerprint,
        "simulated": editor.capabilities.simulated,
        "deterministic": editor.capabilities.deterministic,
        **({} if editor.capabilities.instructed else {"instructed": False}),
        **options,
    }


def _source_rows(run: Run, sources: Sequence[SourceImage]) -> list[Row]:
    """Store the untouched images; each must decode before anything is paid for."""
    known: dict[str, str] = dict(run.journal.rows("select id, file from images"))
    rows: list[Row] = []
    for image in sources:
        file = known.get(f"i1:{image.sha256}")
        if file is not None and run.images.is_sound(file):  # one that was damaged is stored again
            continue
        data = image.read()
        decode(data, what=f"source image '{image.id}'")
        mime, width, height = probe(data)
        identity = run.images.put(data, mime)
        if identity != f"i1:{image.sha256}":
            raise StudyError(
                f"source image '{image.id}' is not what its suite says (sha256 differs); rebuild the suite"
            )
        rows.append(("images", (identity, run.images.file_of(identity, mime), mime, width, height, len(data))))
    return rows


def compare_replicates(run: Run) -> None:
    """Add comparisons of every replicate's rounds with replicate 0's: how far chance alone moves an image."""
    query = """
      select k.editor, k."case", k.round, k.step, k.subject, z.subject
      from comparisons k join cases c on c.id = k."case"
      join cases b on b.source = c.source and b.pair = c.pair and b.replicate = 0
      join comparisons z on z.editor = k.editor and z."case" = b.id and z.role = 'return' and z.round = k.round
      where k.role = 'return' and c.replicate > 0"""
    rows: list[Row] = []
    for editor, case, number, step, subject, reference in run.journal.rows(query):
        identity = comparison_id(
            editor=editor, case=case, subject=f"{subject}:{number}", reference=reference, role="replicate", lag=0
        )
        values = (identity, editor, case, "replicate", number, step, 0, subject, reference, None, None)
        rows.append(("comparisons", values))
    run.journal.commit_now(rows)
