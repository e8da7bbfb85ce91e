"""Importing recorded chains: a playback editor answers each step from the recording."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from convergebench.datasets.chains import RecordedChain, RecordedStep
from convergebench.datasets.check_pictures import CheckedChain, check_chains
from convergebench.datasets.instructions import operation_of
from convergebench.datasets.licences import read_licence
from convergebench.datasets.recorded_variants import variant_of
from convergebench.datasets.restored_chains import restoration_chain, same_prompt
from convergebench.editors.replay import PlaybackEditor, RecordedAnswer
from convergebench.edits.geometry import GEOMETRY
from convergebench.edits.variants import load_variants
from convergebench.engine.plan import Chain
from convergebench.engine.prepared import Prepared
from convergebench.errors import StudyError
from convergebench.ids import content_hash
from convergebench.progress import Progress
from convergebench.registry import suggest
from convergebench.store.manifest import Manifest
from convergebench.studies.base import study_of
from convergebench.studies.recorded import Recorded
from convergebench.studies.recorded_restoration import RecordedRestoration
from convergebench.studies.replicate import Replicate
from convergebench.studies.roundtrip import RoundTrip
from convergebench.types import KINDS, Case, EditPair, Kind, Operation, Settings, SourceImage, State

EDITOR = "recorded"
"""The editor of chains that name none."""

_FINGERPRINT = "replay@1"
"""The same for all: each chain has its own content hash, so that more chains can be added later."""


@dataclass(frozen=True)
class ImportChoices:
    """The user's options for what the set leaves open."""

    editor: str | None = None
    kind: Kind | None = None
    variant: str | None = None
    """The variant whose instructions were used at every step."""
    limit: int | None = None
    """Chains of each editor, the first ones of the set."""


def choose_chains(chains: Sequence[RecordedChain], choices: ImportChoices) -> tuple[RecordedChain, ...]:
    """The requested chains, each with an editor's name; `StudyError` if two have one name."""
    named = {chain.editor for chain in chains if chain.editor is not None}
    if named and choices.editor is not None and choices.editor not in named:
        raise StudyError(
            f"the set has no chain by '{choices.editor}'{suggest(choices.editor, named)} "
            f"(it has: {', '.join(sorted(named))})"
        )
    found: dict[tuple[str, str], RecordedChain] = {}
    count: dict[str, int] = {}
    for chain in chains:
        editor = chain.editor or choices.editor or EDITOR
        count[editor] = count.get(editor, 0) + 1
        if (named and choices.editor not in (None, editor)) or count[editor] > (choices.limit or len(chains)):
            continue
        if (editor, chain.id) in found:
            raise StudyError(f"two chains by {editor} are called '{chain.id}'; rename one")
        found[editor, chain.id] = replace(chain, editor=editor)
    return tuple(found.values())


def prepare_recordings(
    chains: Sequence[RecordedChain],
    choices: ImportChoices | None = None,
    *,
    there: Manifest | None = None,
    known: frozenset[str] = frozenset(),
    faults: Iterable[str] = (),
    progress: Progress | None = None,
) -> Prepared:
    """Prepare these chains for a run; `left_out` lists `faults` and then the broken chains.

    `there` is the manifest of the run they join, if it exists. `known` are ids of images that were decoded before.
    """
    choices = choices or ImportChoices()
    left_out = list(faults)
    good: list[CheckedChain] = []
    for result in check_chains(
        choose_chains(chains, choices), kind=choices.kind or "scene", known=known, progress=progress or Progress()
    ):
        if isinstance(result, CheckedChain):
            good.append(result)
        else:
            left_out.append(result)
    if not good:
        raise StudyError(
            f"nothing to import: {left_out[0]}" if left_out else "nothing to import: no chain was selected"
        )
    sources = _sources(good, there.sources if there else {})
    if any(one.chain.prompt is not None for one in good):
        found = [restoration_chain(one, sources[one.source.sha256], _content(one)) for one in good]
    elif any(one.chain.round_trip is not None for one in good):
        found = _round_trips(good, sources)
    else:
        found = _linear(good, sources, choices)
    editors = dict.fromkeys(chain.editor for chain in found)
    edits: dict[str, dict[str, Any]] = {}
    for one in found:
        for label, facts in one.study.edits([one.case]).items():  # type: ignore[attr-defined]
            if there is not None and isinstance(one.study, RecordedRestoration):
                facts = same_prompt(facts, there.pairs.get(label, {}))
            if edits.setdefault(label, facts) != facts:
                raise StudyError(
                    f"chains called '{label}' use different instructions, '{one.case.id}' among them; rename those, "
                    f"or import them into another --run"
                )
    name = found[0].study.name
    return Prepared(
        study=there.study if there and _compare_alike(there.study, name) else name,
        sources=tuple(_with_clean(good, sources)),
        edits=edits,
        editors={editor: _playback(editor, good) for editor in editors},
        chains=tuple(found),
        metrics=(),
        spec={},
        fixed={},
        options={editor: {"use": "replay", "options": {}} for editor in editors},
        # a result that is still missing may come later
        recordings={f"{one.editor}/{one.chain.id}": _content(one) for one in good if one.steps},
        left_out=tuple(left_out),
    )


def _compare_alike(one: str, other: str) -> bool:
    """Whether chains of one study can join a run of the other."""
    return all(issubclass(study_of(name), Replicate) for name in (one, other))


def _sources(good: Sequence[CheckedChain], there: Mapping[str, Mapping[str, Any]]) -> dict[str, SourceImage]:
    """sha256 → source; sources with equal bytes are one, and one id for two pictures is an error."""
    found: dict[str, SourceImage] = {}
    names: dict[str, tuple[str, str]] = {}
    for one in good:
        before = found.setdefault(one.source.sha256, _with_known_facts(one.source, there.get(one.source.id, {})))
        if read_licence(one.source.licence).restricted and not read_licence(before.licence).restricted:
            found[one.source.sha256] = replace(before, licence=one.source.licence)
        identity = found[one.source.sha256].id
        sha256, chain = names.setdefault(identity, (one.source.sha256, one.chain.id))
        if sha256 != one.source.sha256:
            raise StudyError(
                f"'{identity}' is two different images, in the chains '{chain}' and '{one.chain.id}'; rename one"
            )
    return found


def _with_clean(good: Sequence[CheckedChain], sources: Mapping[str, SourceImage]) -> list[SourceImage]:
    """With the pictures that restorations are compared with, each before what was made from it."""
    found: dict[str, SourceImage] = {}
    for one in good:
        for image in (one.clean, sources[one.source.sha256]):
            if image is not None and found.setdefault(image.id, image).sha256 != image.sha256:
                raise StudyError(f"'{image.id}' is two different images; rename one")
    return list(found.values())


def _with_known_facts(source: SourceImage, facts: Mapping[str, Any]) -> SourceImage:
    """With the facts that a run has for the same picture, unless they hide a more restrictive licence."""
    if facts.get("sha256") != source.sha256:
        return source
    hides = read_licence(source.licence).restricted and not read_licence(str(facts["licence"])).restricted
    licence = source.licence if hides else str(facts["licence"])
    return replace(source, kind=facts["kind"], source=str(facts["source"]), licence=licence)


def _round_trips(good: Sequence[CheckedChain], sources: dict[str, SourceImage]) -> list[Chain]:
    chains = []
    for one in good:
        source = sources[one.source.sha256]
        # a recording has no seed: chains of one source are distinguished by their content
        state = State(_content(one), f"i1:{source.sha256}")
        case = Case(one.chain.id, state, source.id, source.kind, (_pair(one.chain),), one.chain.run)
        rounds = (len(one.chain.steps) + 1) // 2
        chains.append(Chain(one.editor, case, RoundTrip(rounds=rounds), rounds))
    return chains


def _linear(good: Sequence[CheckedChain], sources: dict[str, SourceImage], choices: ImportChoices) -> list[Chain]:
    otherwise = load_variants([choices.variant])[0] if choices.variant else None
    chains = []
    for one in good:
        chain, source = one.chain, sources[one.source.sha256]
        variant = variant_of(chain, otherwise)
        settings = _settings(chain.steps)
        study = Recorded(
            settings=settings,
            variant=variant,
            length=len(chain.steps) + len(chain.unanswered),
            own_words=chain.own_words,
        )
        case = Case(
            chain.id,
            *(State(_content(one), f"i1:{source.sha256}"), source.id, source.kind),
            replicate=chain.run,
            label=variant.label,
            category=variant.family,
        )
        chains.append(Chain(one.editor, case, study, study.rounds_of(case), settings))
    return chains


def _content(one: CheckedChain) -> str:
    """The content hash of a chain; for linear chains, editor, id and instructions are part of it."""
    files = [one.source.sha256, *one.steps]
    if one.chain.round_trip is not None:
        return content_hash(files)
    words = [*(step.instruction for step in one.chain.steps), *one.chain.unanswered]
    return content_hash([one.editor, one.chain.id, files, words])


def _settings(steps: Sequence[RecordedStep]) -> Settings:
    """The settings that all steps have in common."""
    temperatures = {step.temperature for step in steps}
    resolutions = [step.resolution for step in steps]
    named = tuple(one for one in resolutions if one is not None)
    in_turns = named if len(named) == len(resolutions) and len(set(named)) > 1 else ()
    return Settings(
        temperature=temperatures.pop() if len(temperatures) == 1 else None,
        resolution=named[0] if named and not in_turns and len(set(resolutions)) == 1 else None,
        interleaved=in_turns,
    )


def _playback(editor: str, good: Sequence[CheckedChain]) -> PlaybackEditor:
    mine = [one.chain for one in good if one.editor == editor]
    answers = {chain.id: [_answer(step) for step in chain.steps] for chain in mine}
    simulated = all(chain.simulated for chain in mine)
    instructed = any(chain.instructed for chain in mine)
    return PlaybackEditor(editor, answers, fingerprint=_FINGERPRINT, simulated=simulated, instructed=instructed)


def _answer(step: RecordedStep) -> RecordedAnswer:
    known = {"temperature": step.temperature, "resolution": step.resolution}
    used = {**step.used, **{name: value for name, value in known.items() if value is not None}}
    return RecordedAnswer(step.picture.read, step.model, step.dollars or 0.0, step.reasoning, used)


def _pair(chain: RecordedChain) -> EditPair:
    assert chain.round_trip is not None
    forward, backward = chain.round_trip
    operations = [step.operation for step in chain.steps[:2]]
    return EditPair(
        id=chain.variant,
        category=chain.family or "recorded",
        reversibility="preserving",
        kinds=KINDS,
        forward=forward or f"{chain.variant}, forward (words not recorded)",
        backward=backward or f"{chain.variant}, backward (words not recorded)",
        forward_operation=operations[0] or _operation(forward or chain.variant, "add"),
        backward_operation=(operations[1] if len(operations) > 1 else None)
        or _operation(backward or chain.variant, "remove"),
    )


def _operation(words: str, otherwise: Operation) -> Operation:
    """The operation of an instruction if it is a flip or rotation, else `otherwise`."""
    operation = operation_of(words)
    return operation if operation in GEOMETRY else otherwise
