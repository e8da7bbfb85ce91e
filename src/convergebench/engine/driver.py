"""Driving a study's generator. A study may be foreign code: an error in it is reported in one line and ends the run."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from typing import Any

from convergebench.engine.foreign import describe_error
from convergebench.engine.plan import Chain
from convergebench.errors import ConvergeBenchError, StudyError
from convergebench.types import Ask, Compare, Decision, Edit, Reply, Settings, State, Word

FIELDS: dict[type, dict[str, Any]] = {
    Edit: {"state": State, "instruction": str, "settings": Settings, "draw": int},
    Ask: {"role": str, "states": tuple, "payload": Mapping, "draw": int},
    Compare: {"subject": State, "reference": State | None, "via": State | None},
    Decision: {"kind": str, "facts": Mapping},
}
"""Fields that the engine itself uses; those that are only stored are checked by the journal."""
MOST_ROWS = 100_000
"""So many comparisons and decisions in a row, with no call between them, are a loop that has no end."""


class StudyDriver:
    """The generator of one chain, every request of which is checked."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._steps: Any = None
        self._edits_left = self._rows = 0

    def start(self) -> Word | None:
        """The first request, None if there is none."""
        return self._checked(self._begin)

    def send(self, answer: State | Reply | None) -> Word | None:
        """The request that follows an answer, None at the end."""
        return self._checked(lambda: self._steps.send(answer))

    def throw(self, error: ConvergeBenchError) -> Word | None:
        """The request that follows a refusal or a recording's end; most studies let these end the chain."""
        return self._checked(lambda: self._steps.throw(error))

    def close(self) -> None:
        """Close the generator; errors are ignored."""
        with suppress(Exception):
            self._steps.close()

    def _begin(self) -> object:
        self._edits_left = self._chain.study.calls(self._chain.case)
        self._steps = self._chain.study.steps(self._chain.case)
        if not isinstance(self._steps, Generator):
            raise TypeError(f"steps() returned a {type(self._steps).__name__} instead of a generator")
        return next(self._steps)

    def _checked(self, advance: Callable[[], object]) -> Word | None:
        try:
            word = _check_word(advance())
            self._require_end(word)
            return word
        except StopIteration:
            return None
        except ConvergeBenchError:
            raise
        except (Exception, SystemExit) as error:
            raise StudyError(
                f"the study '{self._chain.study.name}' failed at {self._chain.case.id}: {describe_error(error)}"
            ) from error

    def _require_end(self, word: Word) -> None:
        """A study that never ends would be paid for until the budget is spent, or hang."""
        self._edits_left -= isinstance(word, Edit)
        self._rows = self._rows + 1 if isinstance(word, Compare | Decision) else 0
        if self._edits_left < 0:
            raise ValueError(
                f"it makes more edits than its calls() declares ({self._chain.study.calls(self._chain.case)})"
            )
        if self._rows > MOST_ROWS:
            raise ValueError(f"it yielded {MOST_ROWS} comparisons or decisions in a row, with no call between them")


def _check_word(word: object) -> Word:
    if not isinstance(word, Edit | Ask | Compare | Decision):
        raise TypeError(f"it yielded a {type(word).__name__} instead of an Edit, Ask, Compare or Decision")
    fields = next(fields for kind, fields in FIELDS.items() if isinstance(word, kind))
    for name, kind in fields.items():
        if not isinstance(getattr(word, name), kind):
            raise TypeError(f"{name} of its {type(word).__name__} is a {type(getattr(word, name)).__name__}")
    return word
