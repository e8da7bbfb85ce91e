"""Rows that each describe one picture of a chain, gathered into chains. Shared by layouts that keep such a table."""

from __future__ import annotations

import json
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
from convergebench.datasets.rows import Row
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
        return None if value is None else str(value)

    def number(self, name: str) -> float | None:
        """As a number."""
        value = self.get(name)
        try:
            return None if value is None else float(value)
        except (TypeError, ValueError) as error:
            raise StudyError(f"{self.where}: {name} is no number: {value!r}") from error

    def whole(self, name: str) -> int | None:
        """As a whole number."""
        value = self.number(name)
        if value is not None and value != int(value):
            raise StudyError(f"{self.where}: {name} is no whole number: {value}")
        return None if value is None else int(value)

    def flag(self, name: str) -> bool:
        """As yes or no; nothing is no."""
        return str(self.get(name)).lower() in ("true", "1", "yes")


def gather(
    records: Iterable[Record], *, origin: str, licence: str = UNSTATED, untouched: Mapping[str, Picture] | None = None
) -> Found:
    """Chains out of records; `untouched` gives the sources, by image, of sets that do not list them as step 0."""
    groups: dict[tuple[str | None, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record.text("editor"), _id(record)), []).append(record)
    chains: list[RecordedChain] = []
    faults: list[str] = []
    for (editor, identity), group in groups.items():
        try:
            chains.append(_chain(editor, identity, group, origin, licence, untouched or {}))
        except StudyError as error:
            faults.append(str(error))
    if _to_and_fro(groups.values()):
        chains = [_as_round_trip(chain) for chain in chains]
    return Found(tuple(chains), tuple(faults))


def _id(record: Record) -> str:
    """The chain's id without its editor, so that all editors' chains of one case share it."""
    told = record.text("chain")
    if told is not None:
        return told.removeprefix(f"{record.text('editor')}/")
    return chain_id(_image(record), record.text("variant") or "recorded", record.whole("run") or 0)


def _image(record: Record) -> str:
    return record.text("image") or "image"


def _chain(
    editor: str | None,
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
    last = made[-1] if made else first
    return RecordedChain(
        id=identity,
        editor=editor,
        variant=first.text("variant") or "recorded",
        run=first.whole("run") or 0,
        source=RecordedSource(
            _image(first), picture, kind=kind, origin=told.text("address") or f"{origin}: {_image(first)}"
        ),
        steps=tuple(_step(record) for record in made if record.picture is not None),
        origin=origin,
        licence=_licence(last, licence),
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


def _step(record: Record) -> RecordedStep:
    assert record.picture is not None
    operation = record.text("operation")
    session = record.text("session")
    known = {
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
        used={**_table(record.get("used")), **{name: value for name, value in known.items() if value is not None}},
    )


def _table(value: Any) -> dict[str, Any]:
    """A column of JSON, as our own exports have it; nothing if it is something else."""
    try:
        content = json.loads(value) if isinstance(value, str) else {}
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _licence(record: Record, otherwise: str) -> str:
    """The record's licence, unless that of the picture it was made from allows less."""
    own, source = record.text("licence"), record.text("source_licence")
    if source is not None and read_licence(source).restricted:
        return source
    return own or source or otherwise


def _to_and_fro(groups: Iterable[Sequence[Record]]) -> bool:
    """Whether the set is one of round trips: two steps a round, everywhere."""
    rounds = [(record.whole("step"), record.whole("round")) for group in groups for record in group]
    told = [(step, number) for step, number in rounds if step is not None and number is not None]
    return (2, 1) in told and all(number == (step + 1) // 2 for step, number in told)


def _as_round_trip(chain: RecordedChain) -> RecordedChain:
    asked = [*(step.instruction for step in chain.steps), *chain.unanswered]
    words = RoundTripWords(asked[0], asked[1] if len(asked) > 1 else None)
    return replace(chain, round_trip=words)
