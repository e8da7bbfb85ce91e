"""Other people's chains as a prepared run: an editor plays each recording back as if it were live."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from convergebench.datasets.chains import RecordedChain, RecordedStep
from convergebench.datasets.licences import read_licence
from convergebench.editors.replay import Answer, PlaybackEditor
from convergebench.editors.simulated.instruction import GEOMETRY
from convergebench.edits.variants import load_variants
from convergebench.engine.plan import Chain
from convergebench.engine.progress import Progress
from convergebench.engine.recorded_variants import variant_of
from convergebench.engine.session import Prepared
from convergebench.engine.sound import Sound, sound
from convergebench.engine.wishes import operation_of
from convergebench.errors import StudyError
from convergebench.ids import content_hash
from convergebench.registry import suggest
from convergebench.store.manifest import Manifest
from convergebench.studies.recorded import Recorded
from convergebench.studies.roundtrip import RoundTrip
from convergebench.types import KINDS, Case, EditPair, Kind, Operation, Settings, SourceImage, State

EDITOR = "recorded"
"""Who made a chain when neither the set nor a person says."""
JOINED = frozenset({"recorded", "replicate", "audit"})
"""Studies whose runs recorded chains may join: all compare the same things."""

_FINGERPRINT = "replay@1"
"""The chains carry their contents themselves, so that more can be added later."""


@dataclass(frozen=True)
class Told:
    """What a person says beside a set, for what the set leaves open."""

    editor: str | None = None
    kind: Kind | None = None
    variant: str | None = None
    """The variant whose words were asked at every step."""
    limit: int | None = None
    """Chains of each editor, the first ones of the set."""


def chosen(chains: Sequence[RecordedChain], told: Told) -> tuple[RecordedChain, ...]:
    """The chains that are wanted, each with an editor's name; two of one name are an error."""
    named = {chain.editor for chain in chains if chain.editor is not None}
    if named and told.editor is not None and told.editor not in named:
        raise StudyError(
            f"the set has no chain by '{told.editor}'{suggest(told.editor, named)} (it has: {', '.join(sorted(named))})"
        )
    found: dict[tuple[str, str], RecordedChain] = {}
    count: dict[str, int] = {}
    for chain in chains:
        editor = chain.editor or told.editor or EDITOR
        count[editor] = count.get(editor, 0) + 1
        if (named and told.editor not in (None, editor)) or count[editor] > (told.limit or len(chains)):
            continue
        if (editor, chain.id) in found:
            raise StudyError(f"two chains by {editor} are called '{chain.id}'; rename one")
        found[editor, chain.id] = replace(chain, editor=editor)
    return tuple(found.values())


def prepare_recordings(
    chains: Sequence[RecordedChain],
    told: Told | None = None,
    *,
    there: Manifest | None = None,
    known: frozenset[str] = frozenset(),
    faults: Iterable[str] = (),
    progress: Progress | None = None,
) -> Prepared:
    """Lay out these chains; those that are broken stand in `left_out`, after the faults that are known already.

    `there` is the run they shall join, if it is there. `known` are ids of images that need no second look.
    """
    told = told or Told()
    left_out = list(faults)
    good: list[Sound] = []
    for result in sound(chosen(chains, told), kind=told.kind or "scene", known=known, progress=progress or Progress()):
        if isinstance(result, Sound):
            good.append(result)
        else:
            left_out.append(result)
    if not good:
        raise StudyError(f"nothing to import: {left_out[0]}" if left_out else "nothing to import: no chain was chosen")
    sources = _sources(good, there.sources if there else {})
    to_and_fro = [one for one in good if one.chain.round_trip is not None]
    walks = _round_trips(good, sources) if to_and_fro else _linear(good, sources, told)
    editors = dict.fromkeys(walk.editor for walk in walks)
    edits: dict[str, dict[str, Any]] = {}
    for walk in walks:
        for label, facts in walk.study.edits([walk.case]).items():  # type: ignore[attr-defined]
            if edits.setdefault(label, facts) != facts:
                raise StudyError(
                    f"chains called '{label}' ask for it in different words, '{walk.case.id}' among them; give those "
                    "another name, or import them into another --run"
                )
    name = walks[0].study.name
    return Prepared(
        study=there.study if there and {there.study, name} <= JOINED else name,
        sources=tuple(sources.values()),
        edits=edits,
        editors={editor: _playback(editor, good) for editor in editors},
        chains=tuple(walks),
        metrics=(),
        spec={},
        fixed={},
        options={editor: {"use": "replay", "options": {}} for editor in editors},
        recordings={f"{one.editor}/{one.chain.id}": _content(one) for one in good},
        left_out=tuple(left_out),
    )


def _sources(good: Sequence[Sound], there: Mapping[str, Mapping[str, Any]]) -> dict[str, SourceImage]:
    """Sources with equal bytes are one source, by sha256; one id for two pictures would mix them up."""
    found: dict[str, SourceImage] = {}
    names: dict[str, tuple[str, str]] = {}
    for one in good:
        before = found.setdefault(one.source.sha256, _as_told(one.source, there.get(one.source.id, {})))
        if read_licence(one.source.licence).restricted and not read_licence(before.licence).restricted:
            found[one.source.sha256] = replace(before, licence=one.source.licence)
        identity = found[one.source.sha256].id
        sha256, chain = names.setdefault(identity, (one.source.sha256, one.chain.id))
        if sha256 != one.source.sha256:
            raise StudyError(
                f"'{identity}' is two different pictures, in the chains '{chain}' and '{one.chain.id}'; rename one"
            )
    return found


def _as_told(source: SourceImage, facts: Mapping[str, Any]) -> SourceImage:
    """With the words that a run has for the same picture, unless they would hide that less is allowed with it."""
    if facts.get("sha256") != source.sha256:
        return source
    hides = read_licence(source.licence).restricted and not read_licence(str(facts["licence"])).restricted
    licence = source.licence if hides else str(facts["licence"])
    return replace(source, kind=facts["kind"], source=str(facts["source"]), licence=licence)


def _round_trips(good: Sequence[Sound], sources: dict[str, SourceImage]) -> list[Chain]:
    chains = []
    for one in good:
        source = sources[one.source.sha256]
        # a recording has no seed: what tells two chains of one source apart is what is in them
        state = State(_content(one), f"i1:{source.sha256}")
        case = Case(one.chain.id, state, source.id, source.kind, (_pair(one.chain),), one.chain.run)
        rounds = (len(one.chain.steps) + 1) // 2
        chains.append(Chain(one.editor, case, RoundTrip(rounds=rounds), rounds))
    return chains


def _linear(good: Sequence[Sound], sources: dict[str, SourceImage], told: Told) -> list[Chain]:
    otherwise = load_variants([told.variant])[0] if told.variant else None
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


def _content(one: Sound) -> str:
    """What is in a chain; of linear ones also who made it and for which words, since nothing else tells them apart."""
    files = [one.source.sha256, *one.steps]
    if one.chain.round_trip is not None:
        return content_hash(files)
    words = [*(step.instruction for step in one.chain.steps), *one.chain.unanswered]
    return content_hash([one.editor, one.chain.id, files, words])


def _settings(steps: Sequence[RecordedStep]) -> Settings:
    """What was asked for beside the words, as far as all steps have it."""
    temperatures = {step.temperature for step in steps}
    resolutions = [step.resolution for step in steps]
    named = tuple(one for one in resolutions if one is not None)
    in_turns = named if len(named) == len(resolutions) and len(set(named)) > 1 else ()
    return Settings(
        temperature=temperatures.pop() if len(temperatures) == 1 else None,
        resolution=named[0] if named and not in_turns and len(set(resolutions)) == 1 else None,
        interleaved=in_turns,
    )


def _playback(editor: str, good: Sequence[Sound]) -> PlaybackEditor:
    mine = [one.chain for one in good if one.editor == editor]
    answers = {chain.id: [_answer(step) for step in chain.steps] for chain in mine}
    simulated = all(chain.simulated for chain in mine)
    return PlaybackEditor(editor, answers, fingerprint=_FINGERPRINT, simulated=simulated)


def _answer(step: RecordedStep) -> Answer:
    known = {"temperature": step.temperature, "resolution": step.resolution}
    used = {**step.used, **{name: value for name, value in known.items() if value is not None}}
    return Answer(step.picture.read, step.model, step.dollars or 0.0, step.reasoning, used)


def _pair(chain: RecordedChain) -> EditPair:
    assert chain.round_trip is not None
    forward, backward = chain.round_trip
    told = [step.operation for step in chain.steps[:2]]
    return EditPair(
        id=chain.variant,
        category=chain.family or "recorded",
        reversibility="preserving",
        kinds=KINDS,
        forward=forward or f"{chain.variant}, forward (words not recorded)",
        backward=backward or f"{chain.variant}, backward (words not recorded)",
        forward_operation=told[0] or _operation(forward or chain.variant, "add"),
        backward_operation=(told[1] if len(told) > 1 else None) or _operation(backward or chain.variant, "remove"),
    )


def _operation(words: str, otherwise: Operation) -> Operation:
    """What the words ask for, as far as it can be checked: exact geometry, or a thing put in or taken out."""
    operation = operation_of(words)
    return operation if operation in GEOMETRY else otherwise
