"""Models as data.

A plug-in adds an entry point in the group `convergebench.models` that names a `Path` to such a file.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from convergebench.documents import Strict, read_document
from convergebench.errors import StudyError
from convergebench.types import Capabilities, Limits

DATA = Path(__file__).parent / "data"
READ = datetime.date(2026, 11, 15)
"""The day on which the shipped table was last gone through."""
SOON = datetime.timedelta(days=60)
"""A model that ends within this time is warned about."""

Date = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$")]
Dollars = Annotated[float, Field(ge=0)]


class Price(Strict):
    """What a provider charges, as it was read on a day; what a model thinks before it draws comes on top."""

    call: Dollars | None = None
    """One edit at the default resolution."""
    resolutions: dict[str, Dollars] = Field(default_factory=dict)
    sent: Dollars = 0.0
    """What sending one image and its words adds, where that is charged apart."""
    turn: Dollars = 0.0
    """Each earlier turn of a single session, sent again with its image."""
    tokens: dict[str, Dollars] = Field(default_factory=dict)
    """Per million tokens, by the provider's kinds (text_input, image_input, text_output, image_output), where a reply
    says how many it took."""
    megapixel: Dollars | None = None
    """Where the price grows with the images: each megapixel of input and output beyond the one of each in `call`."""
    read: Date
    """The day it was read."""
    source: str = ""


class Bounds(Strict):
    """What a provider takes."""

    at_once: Annotated[int, Field(ge=1)] = 4
    per_minute: Annotated[float, Field(gt=0)] | None = None
    seconds: Annotated[float, Field(gt=0)] = 600.0
    megabytes: Annotated[float, Field(gt=0)] | None = None
    """Of one image."""
    sides: tuple[int, int] | None = None
    """Shortest and longest side in pixels."""


class Model(Strict):
    """One model at one provider."""

    id: str
    provider: str
    called: str = ""
    """Its id on the wire, where that is another one."""
    aliases: tuple[str, ...] = ()
    about: str
    licence: str
    seed: Literal["none", "best effort", "exact"] = "none"
    temperature: bool = False
    resolutions: tuple[str, ...] = ()
    aspects: tuple[str, ...] = ()
    sessions: bool = False
    reasoning: bool = False
    price: Price | None = None
    """None: nobody knows."""
    seconds_per_call: Annotated[float, Field(gt=0)] = 15.0
    bounds: Bounds = Bounds()
    retires: Date | None = None
    successor: str = ""
    notes: str = ""
    """What a user should know: watermarks, sizes, drafts."""
    wire: dict[str, Any] = Field(default_factory=dict)
    """What is particular to this model on the wire (names of fields, fixed arguments, sizes it takes); the provider's
    editor says which keys there are."""

    @model_validator(mode="after")
    def _is_of_a_piece(self) -> Model:
        if self.retires and not self.successor:
            raise ValueError(f"{self.id} retires and names no successor")
        strange = set(self.price.resolutions) - set(self.resolutions) if self.price else set()
        if strange:
            raise ValueError(f"{self.id} has prices for resolutions it does not know: {', '.join(sorted(strange))}")
        return self

    @property
    def wire_id(self) -> str:
        """As it is sent."""
        return self.called or self.id

    def capabilities(self) -> Capabilities:
        """As the engine asks."""
        price = self.price
        return Capabilities(
            seed=self.seed != "none",
            temperature=self.temperature,
            resolutions=self.resolutions,
            aspects=self.aspects,
            sessions=self.sessions,
            reasoning=self.reasoning,
            sides=self.bounds.sides,
            dollars_per_call=None if price is None or price.call is None else price.call + price.sent,
            dollars_by_resolution={name: one + price.sent for name, one in price.resolutions.items()} if price else {},
            dollars_per_turn=price.turn if price else 0.0,
            seconds_per_call=self.seconds_per_call,
        )

    def limits(self, account: str) -> Limits:
        """How hard it may be driven."""
        return Limits(self.bounds.at_once, self.bounds.per_minute, self.bounds.seconds, account)

    def ended(self, today: datetime.date | None = None) -> bool:
        """Whether its provider no longer answers for it."""
        return self.retires is not None and datetime.date.fromisoformat(self.retires) <= (today or _today())

    def ends_soon(self, today: datetime.date | None = None) -> bool:
        """Whether it has little time left."""
        if self.retires is None or self.ended(today):
            return False
        return datetime.date.fromisoformat(self.retires) - (today or _today()) <= SOON


class ModelsFile(Strict):
    """A whole TOML file."""

    model: tuple[Model, ...] = ()


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()


def plain(name: str) -> str:
    """A name as people type it, in one form: `Nano Banana` is `nano-banana`."""
    return re.sub(r"[\s_]+", "-", name.strip().lower())


@cache
def models() -> Mapping[str, Model]:
    """Every model by id."""
    found: dict[str, Model] = {}
    claimed: dict[str, str] = {}
    for path in _documents():
        for model in read_document(path, ModelsFile).model:
            for name in (model.id, *model.aliases):
                if plain(name) in claimed:
                    raise StudyError(f"'{name}' names two models: {claimed[plain(name)]} and {model.id} (in {path})")
                claimed[plain(name)] = model.id
            found[model.id] = model
    return found


@cache
def _names() -> Mapping[str, str]:
    return {plain(name): model.id for model in models().values() for name in (model.id, *model.aliases)}


def find_model(name: str) -> Model | None:
    """The model of this id or nickname, if there is one."""
    identity = _names().get(plain(name))
    return None if identity is None else models()[identity]


def _documents() -> Iterator[Path]:
    yield from sorted(DATA.glob("*.toml"))
    for point in entry_points(group="convergebench.models"):
        yield Path(point.load())
