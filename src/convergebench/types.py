"""The nouns. Small, frozen, free of I/O; every room speaks in these."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from convergebench.errors import StudyError
from convergebench.kinds import COMPARE_ROLES, is_word
from convergebench.kinds import KINDS as KINDS
from convergebench.kinds import CompareRole as CompareRole
from convergebench.kinds import Kind as Kind
from convergebench.settings import DEFAULT_SETTINGS
from convergebench.settings import Capabilities as Capabilities
from convergebench.settings import Limits as Limits
from convergebench.settings import Resources as Resources
from convergebench.settings import Settings as Settings
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
    shows: str = ""
    """What the source is known to show, for studies that choose edits by it: `person`, `person+text`."""

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
class Edit:
    """Carry out this instruction on this state. Answered with a new `State`."""

    state: State
    instruction: str
    settings: Settings = DEFAULT_SETTINGS
    draw: int = 0
    """Which of several answers to the same words on the same state; 0 is the only one of most studies."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to a role (writer, judge, reader). Answered with a `Reply`."""

    role: str
    states: tuple[State, ...]
    payload: Mapping[str, Any]
    draw: int = 0
    """Which of several replies to the same question: 1 and more ask again, and every reply is kept."""


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
class Decision:
    """Only a row: what the study decided here (`accepted`, `discarded` …) and on what grounds, for its analysis.

    A chain that is replayed decides the same again, so `facts` hold nothing but what follows from answers.
    """

    kind: str
    facts: Mapping[str, Any]
    """Values that JSON can hold."""

    def __post_init__(self) -> None:
        if not is_word(self.kind):
            raise StudyError(
                f"a study decides '{str(self.kind)[:40]}'; a kind of decision is one short, lower-case word"
            )


@dataclass(frozen=True, slots=True)
class Reply:
    """A typed answer; `value` is None when the raw reply could not be parsed (never guessed)."""

    id: str
    value: Any
    raw: str


Word = Edit | Ask | Compare | Decision
Steps = Generator[Word, Any, None]


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
    """One call: the image as bytes, the instruction, the settings, and its position in the chain."""

    image: bytes
    mime: str
    instruction: str
    settings: Settings = DEFAULT_SETTINGS
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
    """Model name reported by the provider."""
    dollars: float = 0.0
    reasoning: str | None = None
    """The summary as it came; `convergebench.reasoning` splits it into its titled sections."""
    raw: str | None = None
    """The reply, without image bytes."""
    used: Mapping[str, Any] = field(default_factory=dict)
    """What was actually sent besides the instruction: seed, temperature, size, quality …"""


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
