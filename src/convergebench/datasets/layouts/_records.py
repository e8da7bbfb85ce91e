"""Rows that each describe one picture of a chain, gathered into chains. Shared by layouts that keep such a table."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from convergebench.datasets.chains import (
    UNSTATED,
    Found,
    Picture,
    RecordedChain,
    RecordedSource,
    RecordedStep,
    RoundTripWords,
    chain_id,
)
from convergebench.datasets.licences import read_licence
from convergebench.datasets.rows import Row, sound_text
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
"""What a column may be called, the best name first."""

_NOT_NEGATIVE = ("cost", "seconds", "run", "step", "round")
_EXACT = 2**53
"""From here on whole numbers cannot be told apart as floating-point ones."""
_SESSIONS = {"same": "single", "same-chat": "single", "different": "fresh", "different-chat": "fresh"}


@dataclass(frozen=True, slots=True)
class Record:
    """One row, with the picture it tells of; without one, the step gave none."""

    row: Row
    picture: Picture | None
    where: str
    """For messages: a file and a line."""
    fault: str = ""
    """Why the picture that should be there is not."""

    def get(self, name: str) -> Any:
        """What the row says under any of the names for it, None where it is empty."""
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
        sound_text(str(value), what=f"{self.where}: {name}")
        return str(value)

    def number(self, name: str) -> float | None:
        """As a number; not one without an end, and no cost or time below zero."""
        value = self.get(name)
        try:
            number = None if value is None else float(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise StudyError(f"{self.where}: {name} is no number: {str(value)[:60]!r}") from error
        if number is not None and not math.isfinite(number):
            raise StudyError(f"{self.where}: {name} is no finite number: {number}")
        if number is not None and number < 0 and name in _NOT_NEGATIVE:
            raise StudyError(f"{self.where}: {name} is below zero: {number}")
        return number

    def whole(self, name: str) -> int | None:
        """As a whole number."""
        value = self.number(name)
        if value is not None and value != int(value):
            raise StudyError(f"{self.where}: {name} is no whole number: {value}")
        if value is not None and abs(value) >= _EXACT and not self._is_exact(name):
            raise StudyError(f"{self.where}: {name} is out of range: {str(self.get(name))[:60]}")
        return None if value is None else int(self.get(name) if isinstance(self.get(name), int) else value)

    def _is_exact(self, name: str) -> bool:
        """Whether it came as a whole number that a journal can hold."""
        given = self.get(name)
        return isinstance(given, int) and abs(given) < LARGEST

    def flag(self, name: str) -> bool:
        """As yes or no; nothing is no."""
        return str(self.get(name)).lower() in ("true", "1", "yes")


def gather(
    records: Iterable[Record], *, origin: str, licence: str = UNSTATED, untouched: Mapping[str, Picture] | None = None
) -> Found:
    """Chains out of records; `untouched` gives the sources, by image, of sets that do not list them as step 0."""
    groups: dict[tuple[str, str], list[Record]] = {}
    unplaced: dict[tuple[str, str], str] = {}
    for record in records:  # by values as they stand: one that is wrong breaks its own chain, not the set
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
            sound_text(identity, what=f"{group[0].where}: the chain's name")
            if _asked(group[0]) in unplaced:  # it may be a step of this chain, which would just seem shorter
                raise StudyError(f"chain '{identity}' may lack a step: {unplaced[_asked(group[0])]}")
            chain = _chain(identity, group, origin, licence, untouched or {})
            rounds += [(record.whole("step"), record.whole("round")) for record in group]
            chains.append(chain)
        except StudyError as error:
            faults.append(str(error))
    if _to_and_fro(rounds):
        chains = [_as_round_trip(chain) for chain in chains]
    return Found(tuple(chains), tuple(faults))


def _id(record: Record) -> str:
    """The chain's id without its editor, so that all editors' chains of one case share it."""
    told = record.get("chain")
    if told is not None:
        return str(told).removeprefix(f"{record.get('editor')}/")
    image, variant = _asked(record)
    try:
        return chain_id(image, variant, record.whole("run") or 0)
    except StudyError:  # said when the chain is read
        return f"{image}/{variant}/{record.get('run')}"


def _asked(record: Record) -> tuple[str, str]:
    """Image and variant as they stand."""
    return str(record.get("image") or "image"), str(record.get("variant") or "recorded")


def _image(record: Record) -> str:
    return record.text("image") or "image"


def _chain(
    identity: str,
    group: Sequence[Record],
    origin: str,
    licence: str,
    untouched: Mapping[str, Picture],
) -> RecordedChain:
    by_step: dict[int, Record] = {}
    for record in group:
        if record.fault:
            raise StudyError(f"{record.where}: {record.fault}")
        number = record.whole("step")
        if number is None:
            raise StudyError(f"{record.where}: no step of chain '{identity}' is named; a step column is needed")
        if number in by_step:
            raise StudyError(f"chain '{identity}' has step {number} twice ({by_step[number].where}, {record.where})")
        by_step[number] = record
    first = group[0]
    source = by_step.pop(0, None)
    picture = source.picture if source is not None else untouched.get(_image(first))
    if picture is None:
        raise StudyError(f"chain '{identity}' has no step 0, the untouched image; add it to the set")
    made = _in_order(identity, by_step)
    told = source or first
    kind = told.text("kind")
    if kind not in (None, *KINDS):
        raise StudyError(f"{told.where}: kind '{kind}' is none of {', '.join(KINDS)}")
    set_licence = made[-1].text("licence") or licence
    own = told.text("source_licence") or (source.text("licence") if source is not None else None)
    return RecordedChain(
        id=identity,
        editor=first.text("editor"),
        variant=first.text("variant") or "recorded",
        run=first.whole("run") or 0,
        source=RecordedSource(
            _image(first),
            picture,
            kind=kind,
            origin=told.text("address") or f"{origin}: {_image(first)}",
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


def _in_order(identity: str, by_step: Mapping[int, Record]) -> list[Record]:
    """Steps 1, 2, 3 …, none missing; only the last may have given no picture."""
    numbers = sorted(by_step)
    if not numbers:
        raise StudyError(f"chain '{identity}' has no step beside the untouched image")
    if numbers != list(range(1, len(numbers) + 1)):
        gap = next(number for number in range(1, numbers[-1] + 1) if number not in by_step)
        raise StudyError(f"chain '{identity}' has step {numbers[-1]} but no step {gap}; add it or remove what follows")
    made = [by_step[number] for number in numbers]
    holes = [record for record in made[:-1] if record.picture is None]
    if holes:
        raise StudyError(f"{holes[0].where}: chain '{identity}' goes on after a step without a picture")
    if made[0].picture is None:
        raise StudyError(f"chain '{identity}' has no picture beside the untouched image")
    return made


def _step(record: Record, source_licence: str | None) -> RecordedStep:
    assert record.picture is not None
    operation = record.text("operation")
    session = record.text("session")
    licence = record.text("licence")
    known = {
        # under another licence than the untouched picture's: it must not get lost
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


def _table(record: Record) -> dict[str, Any]:
    """A column of JSON, as our own exports have it; nothing if it is something else."""
    value = record.get("used")
    try:
        content = json.loads(value) if isinstance(value, str) else {}
    except (ValueError, RecursionError):
        return {}
    sound_text(content, what=f"{record.where}: used")
    return content if isinstance(content, dict) else {}


def _source_licence(own: str | None, made: str) -> str | None:
    """The untouched picture's licence, unless what was made from it allows less: an export must not hand that on."""
    if own is not None and read_licence(made).restricted and not read_licence(own).restricted:
        return made
    return own


def _to_and_fro(rounds: Iterable[tuple[int | None, int | None]]) -> bool:
    """Whether the set is one of round trips: two steps a round, everywhere."""
    told = [(step, number) for step, number in rounds if step is not None and number is not None]
    return (2, 1) in told and all(number == (step + 1) // 2 for step, number in told)


def _as_round_trip(chain: RecordedChain) -> RecordedChain:
    asked = [*(step.instruction for step in chain.steps), *chain.unanswered]
    words = RoundTripWords(asked[0], asked[1] if len(asked) > 1 else None)
    return replace(chain, round_trip=words)
