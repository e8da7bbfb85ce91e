"""Gathering chains from tables with one row per picture; shared by several layouts."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from convergebench.datasets.chains import (
    UNSTATED,
    FoundChains,
    Picture,
    RecordedChain,
    RecordedSource,
    RecordedStep,
    RoundTripWords,
    chain_id,
)
from convergebench.datasets.licences import read_licence
from convergebench.datasets.rows import Row, require_unicode
from convergebench.documents import LARGEST
from convergebench.errors import StudyError
from convergebench.types import KINDS, Operation

NAMES: Mapping[str, tuple[str, ...]] = {
    "chain": ("chain_id", "chain"),
    "image": ("image_name", "image", "source", "initial_image"),
    "variant": ("variant", "setting", "experiment"),
    "family": ("family",),
    "run": ("run_index", "run", "replicate", "trial"),
    "step": ("step_index", "step", "turn", "iteration"),
    "editor": ("editor", "model", "model_name"),
    "prompt": ("prompt", "instruction", "text"),
    "operation": ("operation",),
    "independent": ("independent",),
    "round": ("round",),
    "seed": ("seed",),
    "temperature": ("temperature",),
    "resolution": ("resolution_requested", "resolution"),
    "session": ("session", "session_mode", "chat"),
    "model": ("model_id", "model"),
    "started": ("started",),
    "seconds": ("seconds",),
    "cost": ("cost", "dollars"),
    "used": ("used",),
    "reasoning": ("reasoning_summary", "reasoning", "thoughts"),
    "simulated": ("simulated",),
    "kind": ("kind",),
    "licence": ("licence", "license"),
    "source_licence": ("source_licence",),
    "address": ("source_address",),
}
"""Names of each column, the preferred one first."""

_NOT_NEGATIVE = ("cost", "seconds", "run", "step", "round")
_EXACT = 2**53
"""From here on floats cannot represent every integer."""
_SESSIONS = {"same": "single", "same-chat": "single", "different": "fresh", "different-chat": "fresh"}


@dataclass(frozen=True, slots=True)
class SetRecord:
    """One row with its picture; None: the step gave none."""

    row: Row
    picture: Picture | None
    where: str
    """For messages: a file and a line."""
    fault: str = ""
    """Why the picture that should be there is not."""

    def get(self, name: str) -> Any:
        """The value under any of the column's names; None if empty."""
        for column in NAMES[name]:
            value = self.row.get(column)
            if value is not None and value != "" and not isinstance(value, Mapping | bytes):
                return value
        return None

    def text(self, name: str) -> str | None:
        """As text."""
        value = self.get(name)
        if value is None:
            return None
        require_unicode(str(value), what=f"{self.where}: {name}")
        return str(value)

    def number(self, name: str) -> float | None:
        """As a finite number; cost, time and counts may not be negative."""
        value = self.get(name)
        try:
            number = None if value is None else float(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise StudyError(f"{self.where}: {name} is not a number: {str(value)[:60]!r}") from error
        if number is not None and not math.isfinite(number):
            raise StudyError(f"{self.where}: {name} is not a finite number: {number}")
        if number is not None and number < 0 and name in _NOT_NEGATIVE:
            raise StudyError(f"{self.where}: {name} is below zero: {number}")
        return number

    def whole(self, name: str) -> int | None:
        """As a whole number."""
        value = self.number(name)
        if value is not None and value != int(value):
            raise StudyError(f"{self.where}: {name} is not a whole number: {value}")
        if value is not None and abs(value) >= _EXACT and not self._is_exact(name):
            raise StudyError(f"{self.where}: {name} is out of range: {str(self.get(name))[:60]}")
        return None if value is None else int(self.get(name) if isinstance(self.get(name), int) else value)

    def _is_exact(self, name: str) -> bool:
        """Whether it was given as an integer that the journal can store."""
        given = self.get(name)
        return isinstance(given, int) and abs(given) < LARGEST

    def flag(self, name: str) -> bool:
        """As a boolean; empty is False."""
        return str(self.get(name)).lower() in ("true", "1", "yes")


def gather(
    records: Iterable[SetRecord],
    *,
    origin: str,
    licence: str = UNSTATED,
    untouched: Mapping[str, Picture] | None = None,
) -> FoundChains:
    """Chains made from records; `untouched` has the source pictures of sets without a step 0, by image."""
    groups: dict[tuple[str, str], list[SetRecord]] = {}
    unplaced: dict[tuple[str, str], str] = {}
    for record in records:  # by unchecked values: an invalid one breaks its own chain, not the set
        groups.setdefault((str(record.get("editor")), _id(record)), []).append(record)
        try:
            _ = record.text("editor"), record.whole("run")
        except StudyError as error:
            unplaced.setdefault(_asked(record), str(error))
    chains: list[RecordedChain] = []
    faults: list[str] = []
    rounds: list[tuple[int | None, int | None]] = []
    for (_, identity), group in groups.items():
        try:
            require_unicode(identity, what=f"{group[0].where}: the chain's name")
            if _asked(group[0]) in unplaced:  # the unplaced row may be a step of this chain
                raise StudyError(f"chain '{identity}' may lack a step: {unplaced[_asked(group[0])]}")
            chain = _chain(identity, group, origin, licence, untouched or {})
            rounds += [(record.whole("step"), record.whole("round")) for record in group]
            chains.append(chain)
        except StudyError as error:
            faults.append(str(error))
    if _is_round_trip(rounds):
        chains = [_as_round_trip(chain) for chain in chains]
    return FoundChains(tuple(chains), tuple(faults))


def _id(record: SetRecord) -> str:
    """The chain's id without its editor, so that all editors' chains of one case share it."""
    stated = record.get("chain")
    if stated is not None:
        return str(stated).removeprefix(f"{record.get('editor')}/")
    image, variant = _asked(record)
    try:
        return chain_id(image, variant, record.whole("run") or 0)
    except StudyError:  # reported when the chain is read
        return f"{image}/{variant}/{record.get('run')}"


def _asked(record: SetRecord) -> tuple[str, str]:
    """Image and variant, unchecked."""
    return str(record.get("image") or "image"), str(record.get("variant") or "recorded")


def _image(record: SetRecord) -> str:
    return record.text("image") or "image"


def _chain(
    identity: str,
    group: Sequence[SetRecord],
    origin: str,
    licence: str,
    untouched: Mapping[str, Picture],
) -> RecordedChain:
    by_step: dict[int, SetRecord] = {}
    for record in group:
        if record.fault:
            raise StudyError(f"{record.where}: {record.fault}")
        number = record.whole("step")
        if number is None:
            raise StudyError(f"{record.where}: chain '{identity}' has no step numbers; a step column is needed")
        if number in by_step:
            raise StudyError(f"chain '{identity}' has step {number} twice ({by_step[number].where}, {record.where})")
        by_step[number] = record
    first = group[0]
    source = by_step.pop(0, None)
    picture = source.picture if source is not None else untouched.get(_image(first))
    if picture is None:
        raise StudyError(f"chain '{identity}' has no step 0, the untouched image; add it to the set")
    made = _in_order(identity, by_step)
    stated = source or first
    kind = stated.text("kind")
    if kind not in (None, *KINDS):
        raise StudyError(f"{stated.where}: kind '{kind}' is not one of {', '.join(KINDS)}")
    set_licence = made[-1].text("licence") or licence
    own = stated.text("source_licence") or (source.text("licence") if source is not None else None)
    return RecordedChain(
        id=identity,
        editor=first.text("editor"),
        variant=first.text("variant") or "recorded",
        run=first.whole("run") or 0,
        source=RecordedSource(
            _image(first),
            picture,
            kind=kind,
            origin=stated.text("address") or f"{origin}: {_image(first)}",
            licence=_source_licence(own, set_licence),
        ),
        steps=tuple(_step(record, own) for record in made if record.picture is not None),
        origin=origin,
        licence=set_licence,
        family=first.text("family"),
        independent=any(record.flag("independent") for record in group),
        simulated=any(record.flag("simulated") for record in group),
        unanswered=tuple(record.text("prompt") or "" for record in made if record.picture is None),
    )


def _in_order(identity: str, by_step: Mapping[int, SetRecord]) -> list[SetRecord]:
    """Steps 1, 2, 3 …, none missing; only the last may have given no picture."""
    numbers = sorted(by_step)
    if not numbers:
        raise StudyError(f"chain '{identity}' has no step besides the untouched image")
    if numbers != list(range(1, len(numbers) + 1)):
        gap = next(number for number in range(1, numbers[-1] + 1) if number not in by_step)
        raise StudyError(
            f"chain '{identity}' has step {numbers[-1]} but no step {gap}; add it or remove the later ones"
        )
    made = [by_step[number] for number in numbers]
    holes = [record for record in made[:-1] if record.picture is None]
    if holes:
        raise StudyError(f"{holes[0].where}: chain '{identity}' continues after a step without an image")
    if made[0].picture is None:
        raise StudyError(f"chain '{identity}' has no image besides the untouched image")
    return made


def _step(record: SetRecord, source_licence: str | None) -> RecordedStep:
    assert record.picture is not None
    operation = record.text("operation")
    session = record.text("session")
    licence = record.text("licence")
    known = {
        # kept if it differs from the source's licence
        "licence": licence if source_licence is not None and licence != source_licence else None,
        "seed": record.whole("seed"),
        "session": _SESSIONS.get((session or "").lower().replace("_", "-"), session),
        "started": record.text("started"),
        "seconds": record.number("seconds"),
    }
    return RecordedStep(
        picture=record.picture,
        instruction=record.text("prompt"),
        operation=next((known for known in get_args(Operation) if known == operation), None),
        model=record.text("model"),
        dollars=record.number("cost"),
        reasoning=record.text("reasoning"),
        temperature=record.number("temperature"),
        resolution=record.text("resolution"),
        used={**_table(record), **{name: value for name, value in known.items() if value is not None}},
    )


def _table(record: SetRecord) -> dict[str, Any]:
    """The JSON column of our own exports; empty if it is something else."""
    value = record.get("used")
    try:
        content = json.loads(value) if isinstance(value, str) else {}
    except (ValueError, RecursionError):
        return {}
    require_unicode(content, what=f"{record.where}: used")
    return content if isinstance(content, dict) else {}


def _source_licence(own: str | None, made: str) -> str | None:
    """The source picture's licence, or that of the edits if it is more restrictive."""
    if own is not None and read_licence(made).restricted and not read_licence(own).restricted:
        return made
    return own


def _is_round_trip(rounds: Iterable[tuple[int | None, int | None]]) -> bool:
    """Whether every chain is a round trip: two steps per round."""
    stated = [(step, number) for step, number in rounds if step is not None and number is not None]
    return (2, 1) in stated and all(number == (step + 1) // 2 for step, number in stated)


def _as_round_trip(chain: RecordedChain) -> RecordedChain:
    asked = [*(step.instruction for step in chain.steps), *chain.unanswered]
    words = RoundTripWords(asked[0], asked[1] if len(asked) > 1 else None)
    return replace(chain, round_trip=words)
