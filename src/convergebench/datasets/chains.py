"""Recorded chains of published data sets, in one form for all layouts.

A layout reads a set's files into these; nothing is decoded here. What a set does not state is None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from convergebench.types import Kind, Operation, SourceImage

if TYPE_CHECKING:
    from convergebench.edits.restoration_prompts import RestorationPrompt

UNSTATED = "unstated"
"""The licence of sets and pictures without one."""

Compared = Literal["whole", "around", "cycle"]
"""What of a step can be compared with the source: all, what is around a change, or only the end of a cycle."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An image of a set: its place, for messages, and a function that reads it."""

    where: str
    read: Callable[[], bytes] = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class RecordedSource:
    """The untouched image that a chain starts from. Chains of one source share its id."""

    id: str
    picture: Picture
    kind: Kind | None = None
    origin: str = ""
    """Its provenance, for the manifest: a set, a row, an address."""
    licence: str | None = None
    """Its own licence; None: that of the set."""
    known: SourceImage | None = None
    """What a suite or a run says of it, its kind and licence included."""


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """One recorded edit: its instruction, its image, and what is known of the call."""

    picture: Picture
    instruction: str | None
    operation: Operation | None = None
    """What the instruction asks for, if the set says so."""
    model: str | None = None
    dollars: float | None = None
    reasoning: str | None = None
    temperature: float | None = None
    resolution: str | None = None
    used: Mapping[str, Any] = field(default_factory=dict)
    """Everything else that is known of the call: seed, session, when, how long."""


class RoundTripWords(NamedTuple):
    """The forward and backward instruction of a round trip."""

    forward: str | None
    backward: str | None


@dataclass(frozen=True, slots=True)
class RecordedChain:
    """One chain: a source and the images made from it, each from the one before."""

    id: str
    """The same for all editors of a case: `IMAGE/VARIANT/RUN` for most sets."""
    editor: str | None
    """None: the set does not name it."""
    variant: str
    run: int
    source: RecordedSource
    steps: tuple[RecordedStep, ...]
    origin: str
    """The name of the set."""
    licence: str = UNSTATED
    """Of the edited pictures; the source may have its own."""
    family: str | None = None
    """The group of the variant; None where the set has none."""
    compared: Compared | None = None
    """None: derived from the instructions."""
    independent: bool = False
    """Whether every step was made from the source."""
    own_words: bool = False
    """Whether each chain of this variant has its own instructions, as in sets written by people."""
    simulated: bool = False
    """Whether a simulated editor made it."""
    unanswered: tuple[str, ...] = ()
    """Instructions after the last image, which gave none."""
    round_trip: RoundTripWords | None = None
    """Set where the steps alternate between doing and undoing."""
    prompt: RestorationPrompt | None = None
    """Set where the source is a spoilt picture and the step its restoration."""
    clean: RecordedSource | None = None
    """The clean picture that a restoration is compared with."""
    instructed: bool = True
    """False: the editor was given no words."""


@dataclass(frozen=True, slots=True)
class FoundChains:
    """What a layout found in a folder or file."""

    chains: tuple[RecordedChain, ...]
    faults: tuple[str, ...] = ()
    """Broken chains, one line each."""
    notes: tuple[str, ...] = ()
    """Notes for the user, one line each."""


def session_chain(
    source: RecordedSource,
    steps: Iterable[RecordedStep],
    *,
    origin: str,
    editor: str | None,
    variant: str,
    licence: str = UNSTATED,
    unanswered: tuple[str, ...] = (),
) -> RecordedChain:
    """A chain of people's instructions, of which a set has one per image and variant."""
    return RecordedChain(
        *(chain_id(source.id, variant, 0), editor, variant, 0, source, tuple(steps), origin, licence, "session"),
        compared="around",
        own_words=True,
        unanswered=unanswered,
    )


def chain_id(image: str, variant: str, run: int) -> str:
    """The id of a chain in sets that have none of their own; the same as that of our own cases."""
    return f"{image}/{variant}/{run}"
