"""Chains made elsewhere, in one form whatever set they come from.

A layout reads a set's files into these; nothing is decoded or judged here. What a set does not say stays None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from convergebench.types import Kind, Operation

UNSTATED = "unstated"
"""The licence of what nobody gave one."""

Compared = Literal["whole", "around", "cycle"]
"""What of a step may be held against the source: all, what lies around a change, or only the end of a cycle."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An image of a set: where it is, for messages, and how its bytes are had."""

    where: str
    read: Callable[[], bytes] = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class RecordedSource:
    """The untouched image that a chain starts from. Chains of one source share its id."""

    id: str
    picture: Picture
    kind: Kind | None = None
    origin: str = ""
    """Where it is from, for the manifest: a set, a row, an address."""
    licence: str | None = None
    """Its own licence, where the set has one for it; None: that of the set."""


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """One edit that was made: its words, its image, and what is known of the call."""

    picture: Picture
    instruction: str | None
    operation: Operation | None = None
    """What the words ask for, where the set says so."""
    model: str | None = None
    dollars: float | None = None
    reasoning: str | None = None
    temperature: float | None = None
    resolution: str | None = None
    used: Mapping[str, Any] = field(default_factory=dict)
    """Everything else that is known of the call: seed, session, when, how long."""


class RoundTripWords(NamedTuple):
    """What was asked for and how it was undone, in a chain that goes to and fro."""

    forward: str | None
    backward: str | None


@dataclass(frozen=True, slots=True)
class RecordedChain:
    """One chain: a source and the images made from it, each from the one before."""

    id: str
    """The same for all editors that walked it: `IMAGE/VARIANT/RUN` for most sets."""
    editor: str | None
    """Who made it; None where the set does not say."""
    variant: str
    run: int
    source: RecordedSource
    steps: tuple[RecordedStep, ...]
    origin: str
    """The set, as a reader knows it."""
    licence: str = UNSTATED
    """That of the pictures that were made; the untouched one may have its own."""
    family: str | None = None
    """The group of the variant; None where the set has none."""
    compared: Compared | None = None
    """None: told from the words."""
    independent: bool = False
    """Whether every step was made from the source."""
    own_words: bool = False
    """Whether chains of this variant each have words of their own, as in sets of people's wishes."""
    simulated: bool = False
    """Whether no model made it, but arithmetic."""
    unanswered: tuple[str, ...] = ()
    """What was asked after the last image and gave none."""
    round_trip: RoundTripWords | None = None
    """Set where the steps alternate between doing and undoing."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a layout found in a place."""

    chains: tuple[RecordedChain, ...]
    faults: tuple[str, ...] = ()
    """Chains that are there but broken, one line each."""
    notes: tuple[str, ...] = ()
    """What a person should know about how the place was read, one line each."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What a person says beside the place."""

    images: Path | None = None
    """Folder with images that the set only names."""


def chain_id(image: str, variant: str, run: int) -> str:
    """The id of a chain in sets that have none of their own; the same as that of our own cases."""
    return f"{image}/{variant}/{run}"
