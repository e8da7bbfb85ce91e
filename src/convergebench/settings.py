"""What every call carries besides the instruction, the limits of an editor, and what it supports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything besides the instruction that could change an editor's answer. None means: not sent."""

    seed: int | None = None
    """None: editors that take a seed get one derived from the step's key; the others get none."""
    seed_policy: Literal["per-step", "fixed"] = "per-step"
    temperature: float | None = None
    resolution: str | None = None
    """`1K`, `2K`, `4K`."""
    session: Literal["fresh", "single"] = "fresh"
    """`single`: every call includes all earlier turns of its chain."""
    aspect: str | None = None
    """Aspect ratio, such as `16:9`."""
    reasoning: bool = False
    """Ask for a summary of the model's reasoning."""
    interleaved: tuple[str, ...] = ()
    """Resolutions that alternate from step to step."""

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


DEFAULT_SETTINGS = Settings()
"""Nothing is sent beside the words."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many calls an editor may get at once and per minute."""

    at_once: int = 4
    per_minute: float | None = None
    seconds: float = 600.0
    """Seconds after which a call without an answer is abandoned and retried, like any transient error."""
    account: str = ""
    """The account (key) that the calls go to: editors of one account pause together when the provider asks for it."""
    together: int | None = None
    """Largest number of calls in flight over all editors of the account; None = only each editor's own limit."""


@dataclass(frozen=True, slots=True)
class Resources:
    """What one copy of an editor needs of a machine, where a backend spreads copies over machines."""

    cpus: float = 1.0
    gpus: float = 0.0
    """Fractions share a GPU: with 0.5, two copies use one."""
    memory_gb: float = 0.0
    """Gigabytes of main memory; 0 = not counted."""
    copies: int | None = None
    """Most copies; None = as many as there are chains for and room on the machines."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an editor supports. Settings it does not support are refused before the first call."""

    seed: bool = False
    temperature: bool = False
    resolutions: tuple[str, ...] = ()
    aspects: tuple[str, ...] = ()
    sessions: bool = False
    reasoning: bool = False
    sides: tuple[int, int] | None = None
    """The shortest and the longest side, in pixels, of images it takes; None = any."""
    dollars_per_call: float | None = 0.0
    """What a call costs at most; None = unknown."""
    dollars_by_resolution: Mapping[str, float] = field(default_factory=dict)
    """Where the price depends on the resolution."""
    dollars_per_turn: float = 0.0
    """What each earlier turn adds in a single session."""
    seconds_per_call: float = 1.0
    simulated: bool = False
    deterministic: bool = False
    """Whether the answer is the same for every seed and repeat."""
    instructed: bool = True
    """False: it ignores the instruction (an autoencoder, a restorer); a baseline, not ranked."""

    def dollars(self, settings: Settings, turns: int = 0) -> float | None:
        """What a call with these settings costs at most, after `turns` earlier turns of a single session."""
        once = self.dollars_by_resolution.get(settings.resolution or "", self.dollars_per_call)
        return None if once is None else once + turns * self.dollars_per_turn * (settings.session == "single")
