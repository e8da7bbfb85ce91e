"""The nouns. Small, frozen, free of I/O; every room speaks in these."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

Kind = Literal["face", "object", "scene"]
KINDS: tuple[Kind, ...] = ("face", "object", "scene")

Reversibility = Literal["preserving", "destroying", "hallucinating"]

CompareRole = Literal["source", "return", "lag", "replicate", "step", "forward", "backward"]
"""What a comparison is for.

`source`: the untouched image by itself, where a metric's curve begins if it needs no reference. `return`: image after a
whole round against the untouched source. `lag`: against the image `lag` rounds before
(displacement, cycles). `replicate`: against the same round of replicate 0 (how far chance alone moves). `step`: any
step's image against the one it started from (diagnostics). `forward`: did the edit happen (reference: the image it
started from). `backward`: was it undone (reference: the image before the forward edit, `via`: the image after it).
"""

Better = Literal["higher", "lower", "neither"]
"""Which way a metric's values get better."""

Operation = Literal[
    "flip-horizontal", "flip-vertical", "rotate-90", "rotate-270", "rotate-180", "add", "remove", "change", "replicate"
]
"""What an instruction should do, for checking that it was done. Editors never see it: they read the words."""


@dataclass(frozen=True, slots=True)
class SourceImage:
    """One untouched image of a suite. `read` gives the file's bytes as they are."""

    id: str
    kind: Kind
    sha256: str
    width: int
    height: int
    licence: str
    source: str
    read: Callable[[], bytes] = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class EditPair:
    """An edit and its undoing, in one wording. `id` names the pair, `wording` which of its phrasings."""

    id: str
    category: str
    reversibility: Reversibility
    kinds: tuple[Kind, ...]
    forward: str
    backward: str
    forward_operation: Operation
    backward_operation: Operation
    wording: int = 0
    before: str = ""
    """What the picture shows without the edit, and with it, for metrics that read. Editors never see it."""
    after: str = ""

    @property
    def label(self) -> str:
        """`glasses`, or `glasses@2` for its third wording."""
        return self.id if self.wording == 0 else f"{self.id}@{self.wording}"


@dataclass(frozen=True, slots=True)
class State:
    """An image and how it came to be. A source's `id` is its image's id."""

    id: str
    image: str


@dataclass(frozen=True, slots=True)
class Case:
    """The unit that is run, resumed and paired across editors: source × edit × replicate.

    `label` and `category` name the edit in tables; where a study works with pairs they follow from these.
    """

    id: str
    source: State
    source_id: str
    kind: Kind
    pairs: tuple[EditPair, ...] = ()
    replicate: int = 0
    label: str = ""
    category: str = ""

    def __post_init__(self) -> None:
        if self.pairs and not self.label:
            object.__setattr__(self, "label", "+".join(pair.label for pair in self.pairs))
            categories = dict.fromkeys(pair.category for pair in self.pairs)
            object.__setattr__(self, "category", "+".join(categories))

    @property
    def pair(self) -> EditPair:
        """The first (for most studies the only) pair."""
        return self.pairs[0]


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything beside the words that could change an editor's answer. None means: not sent."""

    seed: int | None = None
    seed_policy: Literal["per-step", "fixed"] = "per-step"
    temperature: float | None = None
    resolution: str | None = None
    session: Literal["fresh", "single"] = "fresh"

    def as_key(self) -> dict[str, object]:
        """What enters a step's key."""
        return {
            "seed": self.seed,
            "seed_policy": self.seed_policy,
            "temperature": self.temperature,
            "resolution": self.resolution,
            "session": self.session,
        }


# --- the three words a study yields -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Edit:
    """Carry out this instruction on this state. Answered with a new `State`."""

    state: State
    instruction: str
    settings: Settings = Settings()


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to a role (writer, judge, reader). Answered with a `Reply`."""

    role: str
    states: tuple[State, ...]
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Compare:
    """Only a row: what must be measured against what. Metrics fill it in, now or next month."""

    subject: State
    reference: State | None
    role: CompareRole
    round: int
    step: int
    lag: int = 0
    via: State | None = None
    operation: Operation | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A typed answer; `value` is None when the raw reply could not be parsed (never guessed)."""

    id: str
    value: Any
    raw: str


Word = Edit | Ask | Compare
Steps = Generator[Word, Any, None]


# --- the seam to the outside: editors ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Limits:
    """How hard an editor may be driven."""

    at_once: int = 4
    per_minute: float | None = None
    seconds: float = 600.0
    """A call without an answer for so long is given up and tried again, like any transient error."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an editor understands. Settings it does not honour are refused before the first call."""

    seed: bool = False
    temperature: bool = False
    resolutions: tuple[str, ...] = ()
    sessions: bool = False
    reasoning: bool = False
    dollars_per_call: float = 0.0
    seconds_per_call: float = 1.0
    simulated: bool = False
    deterministic: bool = False
    """The same answer whatever the seed and the repeat."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier step of the same chain, for editors that keep a session."""

    instruction: str
    image: bytes


@dataclass(frozen=True, slots=True)
class EditRequest:
    """One call: the image as bytes, the words, the settings, and where in which chain it stands."""

    image: bytes
    mime: str
    instruction: str
    settings: Settings = Settings()
    seed: int = 0
    case: str = ""
    index: int = 0
    attempt: int = 1
    history: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class Edited:
    """What came back: the bytes exactly as received, and the facts of the call."""

    image: bytes
    mime: str
    model: str
    dollars: float = 0.0
    reasoning: str | None = None
    raw: str | None = None


@runtime_checkable
class Editor(Protocol):
    """Anything that edits. `fingerprint` is its identity: change it whenever its answers would change."""

    name: str
    fingerprint: str
    capabilities: Capabilities
    limits: Limits

    def edit(self, request: EditRequest) -> Awaitable[Edited]:
        """Carry out one instruction, or raise Transient, BadReply, Refused or Exhausted."""
        ...


@runtime_checkable
class Study(Protocol):
    """A protocol as a generator. It does no I/O and knows no threads, retries, files or providers."""

    @property
    def name(self) -> str:
        """As in the study file."""
        ...

    def steps(self, case: Case) -> Steps:
        """Yield Edit, Ask and Compare; receive State and Reply."""
        ...

    def calls(self, case: Case) -> int:
        """How many edits a finished case takes, for forecasts."""
        ...
