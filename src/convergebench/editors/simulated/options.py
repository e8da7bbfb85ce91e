"""Options of simulated editors: what each may be, checked in one place."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from convergebench.errors import StudyError
from convergebench.registry import suggest


@dataclass(frozen=True, slots=True)
class NumberOption:
    """A number in a range."""

    default: float
    low: float
    high: float
    whole: bool = False

    def read(self, where: str, value: object) -> float | int:
        """The value, or a StudyError that says the range."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise StudyError(f"{where} must be a number from {self.low:g} to {self.high:g}, not {value!r}")
        if not self.low <= value <= self.high or (self.whole and value != int(value)):
            kind = "a whole number" if self.whole else "a number"
            raise StudyError(f"{where} must be {kind} from {self.low:g} to {self.high:g}, not {value!r}")
        return int(value) if self.whole else float(value)


@dataclass(frozen=True, slots=True)
class ChoiceOption:
    """One of a few words."""

    default: str
    words: tuple[str, ...]

    def read(self, where: str, value: object) -> str:
        """The word, or a StudyError that lists them."""
        if value not in self.words:
            raise StudyError(f"{where} must be {' or '.join(repr(word) for word in self.words)}, not {value!r}")
        return str(value)


@dataclass(frozen=True, slots=True)
class ColourOption:
    """A colour such as `#808080`."""

    default: str

    def read(self, where: str, value: object) -> str:
        """The colour, or a StudyError that shows the form."""
        if not isinstance(value, str) or not re.fullmatch(r"#[0-9a-fA-F]{6}", value):
            raise StudyError(f"{where} must be a colour such as '#808080', not {value!r}")
        return value.lower()


Option = NumberOption | ChoiceOption | ColourOption
Value = float | int | str


def read_options(where: str, known: Mapping[str, Option], given: Mapping[str, object]) -> dict[str, Value]:
    """Every known option with its given value or its default; an unknown one is an error with a suggestion."""
    for name in given:
        if name not in known:
            listed = ", ".join(sorted(known)) or "none"
            raise StudyError(f"{where} has no option '{name}'{suggest(name, known)} (its options: {listed})")
    return {
        name: option.read(f"option '{name}' of {where}", given[name]) if name in given else option.default
        for name, option in known.items()
    }


def colour_of(value: str) -> tuple[int, int, int]:
    """`#ff6600` as red, green, blue."""
    return int(value[1:3], 16), int(value[3:5], 16), int(value[5:7], 16)
