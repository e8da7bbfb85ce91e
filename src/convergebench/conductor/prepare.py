"""From a study file to chains: names become objects, every mistake is found before the first call is paid for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from convergebench.conductor.sources import study_sources, unfit_pictures
from convergebench.editors.find import canonical, make_editor
from convergebench.edits.pairs import load_pairs
from convergebench.engine.plan import Chain
from convergebench.engine.plan_questions import questions_of, require_declared
from convergebench.engine.prepared import Prepared
from convergebench.errors import StudyError
from convergebench.failures import expand_detectors
from convergebench.failures.find import find_detectors
from convergebench.metrics import expand, load_metric
from convergebench.registry import suggest
from convergebench.roles import ROLE_NAMES, make_roles, require_role
from convergebench.roles.base import Role
from convergebench.rubrics.rubric import load_rubric
from convergebench.studies.base import BaseStudy, Sources, load_study, study_code
from convergebench.studies.spec import EditorTable, ExamineTable, StudySpec
from convergebench.types import Case, Editor, EditPair, Settings, SourceImage, State


def prepare(
    spec: StudySpec,
    *,
    editors: Mapping[str, Editor] | None = None,
    sources: Sequence[SourceImage] | None = None,
    roles: Mapping[str, Role] | None = None,
) -> Prepared:
    """Load the suite, the pairs, the editors and the metrics of a study, and lay out its chains.

    `editors` and `roles` are objects that stand behind names of the study; `sources` are images in place of its suite.
    """
    if not spec.editors:
        raise StudyError("the study names no editor; add --editor sim-jpeg (cbench list editors)")
    given = editors or {}
    found = study_sources(spec, sources)
    pairs = load_pairs(spec.edits.pairs, wordings=spec.edits.wordings)
    entries = with_own_names(spec.editors)
    editors = {
        entry.name: given.get(entry.name) or make_editor(entry.use, entry.name, **entry.options) for entry in entries
    }
    settings = {entry.name: spec.settings_of(entry).as_settings() for entry in entries}
    for name, editor in editors.items():
        require_supported(editor, name, settings[name])
    _require_different(editors, settings)
    kind = load_study(spec.study)
    spec = _with_detectors(spec, kind)
    find_detectors(expand_detectors(spec.examine.detectors or ()))  # a wrong name is an error before the first call
    metrics = tuple(expand(spec.measure.metrics))
    players = _players(spec, kind, metrics) | dict(roles or {})
    for name in kind.roles:
        require_role(name, players, f"the study '{spec.study}'")
    with study_code(spec.study):
        study = kind.of(spec.parameters, spec.settings.as_settings())
        if study.name != spec.study:  # its parts are found by the name that is written into the run
            raise StudyError(f"the study '{spec.study}' calls itself '{study.name}'; its name should be '{spec.study}'")
        walks = {name: kind.of(spec.parameters, settings[name]) for name in editors}
        sources = list(study.pictures(found.images))
        stated = [(image, State(f"i1:{image.sha256}", f"i1:{image.sha256}")) for image in sources]
        cases, without = found.require_here(spec, _cases(study, stated, pairs), sources)
        without += unfit_pictures(sources, pairs, cases)
        used = {case.source_id for case in cases}
        references = {case.clean.image for case in cases if case.clean}
        sources = [image for image in sources if image.id in used or f"i1:{image.sha256}" in references]
        for name, editor in editors.items():
            _require_fitting(editor, name, sources)
        chains, left_out = _chains(study, walks, editors, cases)
        for chain in chains:
            _require_counts(chain)
        require_declared(chains[0])
        edits = study.edits([chain.case for chain in chains])
        fixed = study.fixed()
        _require_type("edits", edits, Mapping)
        _require_type("fixed", fixed, Mapping)
        own = {**spec.settings.as_settings().as_key(), **_rubrics(kind)}
        if taken := sorted(fixed.keys() & own.keys()):  # one of the two would change unnoticed
            raise StudyError(f"the study '{study.name}' fixes '{taken[0]}', which every run has; give it another name")
    return Prepared(
        study=study.name,
        sources=tuple(sources),
        edits=edits,
        editors=editors,
        chains=tuple(chains),
        left_out=(*without, *left_out),
        metrics=metrics,
        spec=spec.model_dump(mode="json", by_alias=True),
        fixed={**fixed, **own},
        roles=players,
        options={entry.name: _made_of(entry) for entry in entries},
        resources={entry.name: entry.resources.as_resources() for entry in entries if entry.resources is not None},
    )


def _with_detectors(spec: StudySpec, kind: type[BaseStudy]) -> StudySpec:
    """The study file with the detectors that its study is examined by, unless the file says which."""
    if spec.examine.detectors is not None:
        return spec
    return spec.model_copy(update={"examine": ExamineTable(detectors=kind.failures if kind.examines else ())})


def _cases(study: BaseStudy, sources: Sources, pairs: Sequence[EditPair]) -> list[Case]:
    """The cases of a study; each has an id of its own, under which it is kept."""
    cases = study.cases(sources, pairs)
    if not cases:
        raise StudyError("no edit fits the kinds of the images; choose others under [edits] (cbench list pairs)")
    seen: set[str] = set()
    for case in cases:
        _require_type("cases", case, Case)
        if case.id in seen:
            raise StudyError(f"the study '{study.name}' gives two cases the id '{case.id}'")
        seen.add(case.id)
    return cases


def _chains(
    study: BaseStudy, walks: Mapping[str, BaseStudy], editors: Mapping[str, Editor], cases: Sequence[Case]
) -> tuple[list[Chain], list[str]]:
    """Every editor with every case whose settings it takes; and what is left out, with the reason."""
    left_out: dict[str, None] = {}
    chains = []
    for name, editor in editors.items():
        faults: dict[Settings, str] = {}
        for case in cases:
            if reason := study.unneeded(case, editor.capabilities):
                left_out[f"{name}: {reason}"] = None
                continue
            own = walks[name].settings_of(case)
            if own not in faults:
                faults[own] = unsupported_setting(editor, own)
            if not faults[own]:
                chains.append(Chain(name, case, walks[name], study.rounds_of(case), own))
                continue
            if not study.leaves_out:
                raise StudyError(
                    f"'{case.label}' cannot be run: {name} {faults[own]}; choose other variants or another editor, or "
                    f'set unfit = "leave-out" under [{study.name}]'
                )
            left_out[f"{case.label} with {name}: it {faults[own]}"] = None
    if not chains:
        raise StudyError(f"nothing is left to run; left out: {next(iter(left_out))}")
    return chains, list(left_out)


def _require_counts(chain: Chain) -> None:
    """What forecasts and limits are made from."""
    _require_type("calls", chain.study.calls(chain.case), int)
    _require_type("questions", questions_of(chain), Mapping)


def _require_type(method: str, given: object, kind: type) -> None:
    if not isinstance(given, kind):
        raise TypeError(f"{method}() returned a {type(given).__name__} instead of a {kind.__name__}")


def _players(spec: StudySpec, kind: type[BaseStudy], metrics: Sequence[str]) -> dict[str, Role]:
    """The roles of the study file; a name that nobody asks is an error."""
    asked = {load_metric(name).facts.asks for name in metrics} - {""}
    known = sorted({*ROLE_NAMES, *kind.roles, *asked})
    for name in spec.roles:
        if name not in known:
            raise StudyError(
                f"[roles.{name}]: no study or metric asks a '{name}'{suggest(name, known)} (known: {', '.join(known)})"
            )
    return make_roles(spec.roles, {*kind.roles, *asked} - set(spec.roles))


def _rubrics(kind: type[BaseStudy]) -> dict[str, Any]:
    """Other words in a study's questions are another study."""
    loaded = [load_rubric(name) for name in kind.rubrics]
    return {"rubrics": {rubric.name: rubric.fingerprint for rubric in loaded}} if loaded else {}


def with_own_names(given: Sequence[EditorTable]) -> list[EditorTable]:
    """A nickname that was not given as a name becomes the model's id, so that both lead to one editor."""
    entries: dict[str, EditorTable] = {}
    for entry in given:
        own = canonical(entry.use) if entry.name == entry.use else entry.name
        if own in entries:
            raise StudyError(f"'{entry.name}' is '{own}', which the study lists twice; leave one out")
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


def require_supported(editor: Editor, name: str, settings: Settings) -> None:
    """A setting that an editor would ignore must not stand in its study as if it counted."""
    fault = unsupported_setting(editor, settings)
    if fault:
        raise StudyError(
            f"{name} {fault}, leave this editor out, or give the setting only to those that take it: "
            "{ name = …, use = …, settings = { … } }"
        )


def unsupported_setting(editor: Editor, settings: Settings) -> str:
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
        fault = f"takes no resolution '{strange[0]}' (it takes: {', '.join(able.resolutions) or 'none'})"
    elif settings.aspect is not None and settings.aspect not in able.aspects:
        fault = f"takes no aspect '{settings.aspect}' (it takes: {', '.join(able.aspects) or 'none'})"
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
            f"{name} takes images with sides from {low} to {high} pixels; {len(wrong)} of {len(sources)} are not "
            f"(first: {first.id}, {first.width} × {first.height}); choose another --suite or leave this editor out"
        )
