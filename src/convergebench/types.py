"""The nouns. Small, frozen, free of I/O; every room speaks in these."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, runtime_checkable

from convergebench.errors import StudyError
from convergebench.kinds import COMPARE_ROLES, is_word
from convergebench.kinds import KINDS as KINDS
from convergebench.kinds import CompareRole as CompareRole
from convergebench.kinds import Kind as Kind
from convergebench.source_image import SourceImage as SourceImage

Reversibility = Literal["preserving", "destroying", "hallucinating"]

Better = Literal["higher", "lower", "neither"]
"""Which way a metric's values get better."""

Operation = Literal[
    "flip-horizontal", "flip-vertical", "rotate-90", "rotate-270", "rotate-180", "add", "remove", "change", "replicate",
    "denoise", "monochrome", "colourise", "patches", "edges", "rebuild",
]  # fmt: skip
"""What an instruction should do, for checking that it was done. Editors never see it: they read the words."""


@dataclass(frozen=True, slots=True)
class EditPair:
    """An edit and its undoing, in one wording. `id` names the pair, `wording` which of its phrasings.

    An edit that nobody undoes has no `backward` (None); round trips refuse it.
    """

    id: str
    category: str
    reversibility: Reversibility
    kinds: tuple[Kind, ...]
    forward: str
    backward: str | None
    forward_operation: Operation
    backward_operation: Operation | None
    wording: int = 0
    before: str = ""
    """What the picture shows without the edit, and with it, for metrics that read. Editors never see it."""
    after: str = ""
    adds: tuple[str, ...] = ()
    """What the edit adds, by all its names: a picture that is said to hold one of them is no picture for it."""
    needs: tuple[str, ...] = ()
    """What the edit acts on, by all its names: a picture must not be said to hold none of them."""

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
    """What is run, resumed and paired across editors: source × edit (`label`, of a `category`) × replicate."""

    id: str
    source: State
    source_id: str
    kind: Kind
    pairs: tuple[EditPair, ...] = ()
    replicate: int = 0
    label: str = ""
    category: str = ""
    clean: State | None = None
    """The clean reference, where `source` is a degraded copy of it."""

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
    """None: editors that take a seed get one anyway, drawn from the step's key; the others get none."""
    seed_policy: Literal["per-step", "fixed"] = "per-step"
    temperature: float | None = None
    resolution: str | None = None
    """`1K`, `2K`, `4K`."""
    session: Literal["fresh", "single"] = "fresh"
    """`single`: every call carries all earlier turns of its chain."""
    aspect: str | None = None
    """Width to height, such as `16:9`."""
    reasoning: bool = False
    """Ask for a summary of what the model thought."""
    interleaved: tuple[str, ...] = ()
    """Resolutions that take turns, step by step."""

    def at(self, step: int) -> Settings:
        """As they are for the step of this number, counted from 1."""
        if not self.interleaved:
            return self
        return replace(self, resolution=self.interleaved[(step - 1) % len(self.interleaved)], interleaved=())

    def as_key(self) -> dict[str, object]:
        """What enters a step's key."""
        later = {
            "aspect": self.aspect,
            "reasoning": self.reasoning or None,
            "interleaved": list(self.interleaved) or None,
        }
        return {
            "seed": self.seed or 0,
            "seed_policy": self.seed_policy,
            "temperature": self.temperature,
            "resolution": self.resolution,
            "session": self.session,
            # came later: left out where unset, so that keys of older runs stay what they are
            **{name: value for name, value in later.items() if value is not None},
        }


@dataclass(frozen=True, slots=True)
class Edit:
    """Carry out this instruction on this state. Answered with a new `State`."""

    state: State
    instruction: str
    settings: Settings = Settings()
    draw: int = 0
    """Which of several answers to the same words on the same state; 0 is the only one of most studies."""


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

    def __post_init__(self) -> None:
        if self.role not in COMPARE_ROLES and not is_word(self.role):
            raise StudyError(f"a study compares as '{self.role[:40]}'; a role is one short, lower-case word")


@dataclass(frozen=True, slots=True)
class Reply:
    """A typed answer; `value` is None when the raw reply could not be parsed (never guessed)."""

    id: str
    value: Any
    raw: str


Word = Edit | Ask | Compare
Steps = Generator[Word, Any, None]


@dataclass(frozen=True, slots=True)
class Limits:
    """How hard an editor may be driven."""

    at_once: int = 4
    per_minute: float | None = None
    seconds: float = 600.0
    """A call without an answer for so long is given up and tried again, like any transient error."""
    account: str = ""
    """Whose patience is tried: editors of one account (one key) pause together when its provider says so."""
    together: int | None = None
    """Most calls in flight over all editors of the account; None = each editor's own number is enough."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an editor understands. Settings it does not honour are refused before the first call."""

    seed: bool = False
    temperature: bool = False
    resolutions: tuple[str, ...] = ()
    aspects: tuple[str, ...] = ()
    sessions: bool = False
    reasoning: bool = False
    sides: tuple[int, int] | None = None
    """The shortest and the longest side, in pixels, of images it takes; None = any."""
    dollars_per_call: float | None = 0.0
    """What a call costs at most; None = nobody knows."""
    dollars_by_resolution: Mapping[str, float] = field(default_factory=dict)
    """Where the price depends on the resolution."""
    dollars_per_turn: float = 0.0
    """What each earlier turn adds in a single session."""
    seconds_per_call: float = 1.0
    simulated: bool = False
    deterministic: bool = False
    """The same answer whatever the seed and the repeat."""
    instructed: bool = True
    """False: it does the same whatever the words say (an autoencoder, a restorer); a floor, not a rival."""

    def dollars(self, settings: Settings, turns: int = 0) -> float | None:
        """What a call with these settings costs at most, after so many earlier turns of a single session."""
        once = self.dollars_by_resolution.get(settings.resolution or "", self.dollars_per_call)
        return None if once is None else once + turns * self.dollars_per_turn * (settings.session == "single")


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier step of the same chain, for editors that keep a session: what was sent, what came back."""

    instruction: str
    image: bytes
    mime: str
    answer: bytes
    answer_mime: str
    raw: str | None = None
    """The reply without its images, as the editor gave it: ids and signatures that the next turn has to repeat."""


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
    call_part: Callable[[Editor, EditRequest], Awaitable[Edited]] | None = field(default=None, repr=False)
    """How an editor made of others calls them, so that each answer is kept."""


@dataclass(frozen=True, slots=True)
class Edited:
    """What came back: the bytes exactly as received, and the facts of the call."""

    image: bytes
    mime: str
    model: str
    """Who says to have answered: the resolved id."""
    dollars: float = 0.0
    reasoning: str | None = None
    """The summary as it came; `convergebench.reasoning` splits it into its titled sections."""
    raw: str | None = None
    """The reply, without image bytes."""
    used: Mapping[str, Any] = field(default_factory=dict)
    """What was really sent beside the words: seed, temperature, size, quality …"""


@runtime_checkable
class Editor(Protocol):
    """Anything that edits. `fingerprint` is its identity: change it whenever its answers would change.

    It may also have `lacks()`, `notices()` and `close()`; `convergebench.editors.base.BaseEditor` has them all.
    """

    name: str
    fingerprint: str
    capabilities: Capabilities
    limits: Limits

    def edit(self, request: EditRequest) -> Awaitable[Edited]:
        """Carry out one instruction, or raise Transient, BadReply, Refused, Exhausted or Unavailable."""


@runtime_checkable
class Study(Protocol):
    """A protocol as a generator. It does no I/O and knows no threads, retries, files or providers."""

    @property
    def name(self) -> str:
        """As in the study file."""

    def steps(self, case: Case) -> Steps:
        """Yield Edit, Ask and Compare; receive State and Reply."""

    def calls(self, case: Case) -> int:
        """How many edits a finished case takes, for forecasts."""
