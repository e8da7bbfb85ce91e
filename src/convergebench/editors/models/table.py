"""Models as data.

A plug-in adds an entry point in the group `convergebench.models` that names a `Path` to such a file.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from convergebench.documents import Strict, read_document
from convergebench.errors import ConvergeBenchError, StudyError
from convergebench.registry import error_text
from convergebench.types import Capabilities, Limits

DATA = Path(__file__).parent / "data"
LAST_CHECKED = datetime.date(2026, 11, 15)
"""Day on which the shipped table was last checked."""
WARN_BEFORE = datetime.timedelta(days=60)
"""Users are warned about a model that is retired within this time."""

Date = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$")]
Dollars = Annotated[float, Field(ge=0)]


class ModelPrice(Strict):
    """What a provider charges, as read on a given day; reasoning tokens are charged in addition."""

    call: Dollars | None = None
    """One edit at the default resolution."""
    resolutions: dict[str, Dollars] = Field(default_factory=dict)
    sent: Dollars = 0.0
    """Added for sending one image and its instruction, if charged separately."""
    turn: Dollars = 0.0
    """Added for each earlier turn of a session, which is sent again with its image."""
    tokens: dict[str, Dollars] = Field(default_factory=dict)
    """Per million tokens, by the provider's kinds (text_input, image_input, text_output, image_output), where
    replies report token counts."""
    megapixel: Dollars | None = None
    """Added per megapixel of input and output beyond the one of each that `call` includes."""
    read: Date
    """Day on which the price was read."""
    source: str = ""


class ModelLimits(Strict):
    """Limits on calls and images."""

    at_once: Annotated[int, Field(ge=1)] = 4
    per_minute: Annotated[float, Field(gt=0)] | None = None
    seconds: Annotated[float, Field(gt=0)] = 600.0
    megabytes: Annotated[float, Field(gt=0)] | None = None
    """Largest size of one image."""
    sides: tuple[int, int] | None = None
    """Shortest and longest side in pixels."""


class ModelEntry(Strict):
    """One model at one provider."""

    id: str
    provider: str
    called: str = ""
    """Its id in requests, if that differs."""
    aliases: tuple[str, ...] = ()
    about: str
    licence: str
    seed: Literal["none", "best effort", "exact"] = "none"
    temperature: bool = False
    resolutions: tuple[str, ...] = ()
    aspects: tuple[str, ...] = ()
    sessions: bool = False
    reasoning: bool = False
    price: ModelPrice | None = None
    """None: unknown."""
    seconds_per_call: Annotated[float, Field(gt=0)] = 15.0
    bounds: ModelLimits = ModelLimits()
    retires: Date | None = None
    successor: str = ""
    notes: str = ""
    """What a user should know: watermarks, sizes, drafts."""
    wire: dict[str, Any] = Field(default_factory=dict)
    """Details of this model's requests (names of fields, fixed arguments, accepted sizes); the provider's editor
    defines the keys."""

    @model_validator(mode="after")
    def _is_consistent(self) -> ModelEntry:
        if self.retires and not self.successor:
            raise ValueError(f"{self.id} retires but names no successor")
        unknown = set(self.price.resolutions) - set(self.resolutions) if self.price else set()
        if unknown:
            raise ValueError(f"{self.id} has prices for resolutions it does not support: {', '.join(sorted(unknown))}")
        return self

    @property
    def wire_id(self) -> str:
        """The id that is sent in requests."""
        return self.called or self.id

    def capabilities(self) -> Capabilities:
        """Its capabilities for the engine."""
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
        """Its rate limits."""
        return Limits(self.bounds.at_once, self.bounds.per_minute, self.bounds.seconds, account)

    def ended(self, today: datetime.date | None = None) -> bool:
        """Whether its provider has shut it down."""
        return self.retires is not None and datetime.date.fromisoformat(self.retires) <= (today or _today())

    def ends_soon(self, today: datetime.date | None = None) -> bool:
        """Whether it is retired soon."""
        if self.retires is None or self.ended(today):
            return False
        return datetime.date.fromisoformat(self.retires) - (today or _today()) <= WARN_BEFORE


class ModelsFile(Strict):
    """A TOML file of models."""

    model: tuple[ModelEntry, ...] = ()


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()


def slug(name: str) -> str:
    """The lookup form of a name: `Nano Banana` becomes `nano-banana`."""
    return re.sub(r"[\s_]+", "-", name.strip().lower())


@cache
def models() -> Mapping[str, ModelEntry]:
    """Every model by id."""
    found: dict[str, ModelEntry] = {}
    claimed: dict[str, str] = {}
    for path in sorted(DATA.glob("*.toml")):
        _add(path, found, claimed)
    _broken.clear()
    for point in entry_points(group="convergebench.models"):
        more, names = dict(found), dict(claimed)
        try:
            _add(Path(point.load()), more, names)
        except (Exception, SystemExit) as error:  # a plug-in may raise anything; the others are not its business
            reason = str(error) if isinstance(error, ConvergeBenchError) else error_text(error)
            _broken[point.name] = f"the models of the plug-in {point.value} are left out: {reason}"
            continue
        found, claimed = more, names
    return found


def broken_models() -> dict[str, str]:
    """Entry points of models that cannot be read, each with the reason."""
    models()
    return dict(_broken)


_broken: dict[str, str] = {}


def _add(path: Path, found: dict[str, ModelEntry], claimed: dict[str, str]) -> None:
    """The models of a file; no name may belong to two of them."""
    for model in read_document(path, ModelsFile).model:
        for name in (model.id, *model.aliases):
            if slug(name) in claimed:
                raise StudyError(f"'{name}' names two models: {claimed[slug(name)]} and {model.id} (in {path})")
            claimed[slug(name)] = model.id
        found[model.id] = model


@cache
def _names() -> Mapping[str, str]:
    return {slug(name): model.id for model in models().values() for name in (model.id, *model.aliases)}


def find_model(name: str) -> ModelEntry | None:
    """The model of this id or nickname, if there is one."""
    identity = _names().get(slug(name))
    return None if identity is None else models()[identity]
