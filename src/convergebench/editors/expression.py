"""`best-of(paste-back(sim-noise), 3, metric=ssim)`: parses the expression of a composite editor."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from convergebench.errors import StudyError

_CALL = re.compile(r"^\s*(?P<word>[a-z][a-z0-9-]*)\s*\((?P<inside>.*)\)\s*$", re.DOTALL)
_NAMED = re.compile(r"^(?P<name>[a-z][a-z0-9_]*)\s*=(?P<value>.*)$", re.DOTALL)
Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class EditorExpression:
    """A composite editor's name and its arguments; nested expressions stay unparsed text."""

    word: str
    arguments: tuple[Value, ...]
    named: dict[str, Value]

    def options(self, positional: tuple[str, ...]) -> dict[str, Value]:
        """Arguments as options; positional ones get these names."""
        if len(self.arguments) > len(positional):
            raise StudyError(f"{self.word} takes {len(positional)} arguments ({', '.join(positional)})")
        given = dict(zip(positional, self.arguments, strict=False))
        twice = sorted(given.keys() & self.named.keys())
        if twice:
            raise StudyError(f"{self.word} is given '{twice[0]}' twice")
        return given | self.named

    def written(self, name: Callable[[str], str]) -> str:
        """The expression in canonical spelling; `name` gives the canonical name of an argument."""
        plain = [_text(value, name) for value in self.arguments]
        return f"{self.word}({', '.join([*plain, *(f'{key}={_text(one, name)}' for key, one in self.named.items())])})"


def _text(value: Value, name: Callable[[str], str]) -> str:
    return str(value).lower() if isinstance(value, bool) else name(value) if isinstance(value, str) else f"{value}"


def parse(text: str) -> EditorExpression | None:
    """The expression, or None if this is a plain name."""
    found = _CALL.match(text)
    if found is None:
        if "(" in text or ")" in text:
            raise StudyError(f"cannot read the editor '{text}': write it as paste-back(sim-jpeg)")
        return None
    arguments: list[Value] = []
    named: dict[str, Value] = {}
    for piece in _pieces(found["inside"], text):
        part = _NAMED.match(piece)
        if part is not None:
            named[part["name"]] = _value(part["value"].strip())
        elif named:
            raise StudyError(f"cannot read the editor '{text}': '{piece}' comes after a named argument")
        else:
            arguments.append(_value(piece))
    return EditorExpression(found["word"], tuple(arguments), named)


def _pieces(inside: str, text: str) -> list[str]:
    """Split at the commas that are not inside brackets."""
    pieces, depth, begin = [], 0, 0
    for place, letter in enumerate(inside):
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            break
        if letter == "," and depth == 0:
            pieces.append(inside[begin:place].strip())
            begin = place + 1
    pieces.append(inside[begin:].strip())
    if depth != 0 or not all(pieces):
        raise StudyError(f"cannot read the editor '{text}': brackets or commas do not match")
    return pieces


def _value(word: str) -> Value:
    if word in ("true", "false"):
        return word == "true"
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word
