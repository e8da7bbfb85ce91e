"""What a study says, word by word. A study may be foreign code: its slip is one line, and ends the run."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from typing import Any

from convergebench.engine.foreign import said
from convergebench.engine.plan import Chain
from convergebench.errors import ConvergeBenchError, StudyError
from convergebench.types import Ask, Compare, Edit, Reply, Settings, State, Word

FIELDS: dict[type, dict[str, Any]] = {
    Edit: {"state": State, "instruction": str, "settings": Settings, "draw": int},
    Ask: {"role": str, "states": tuple, "payload": Mapping},
    Compare: {"subject": State, "reference": State | None, "via": State | None},
}
"""What the engine itself takes apart; what is only stored is looked at by the journal."""


class Words:
    """The words of one chain."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._steps: Any = None

    def first(self) -> Word | None:
        """The first word, None if there is none."""
        return self._said(self._begun)

    def after(self, answer: State | Reply | None) -> Word | None:
        """The word that follows an answer, None at the end."""
        return self._said(lambda: self._steps.send(answer))

    def after_error(self, error: ConvergeBenchError) -> Word | None:
        """The same after an outcome that a study may branch on; most let it end the chain."""
        return self._said(lambda: self._steps.throw(error))

    def close(self) -> None:
        """Nothing more is asked for; a slip at this point takes nothing away."""
        with suppress(Exception):
            self._steps.close()

    def _begun(self) -> object:
        self._steps = self._chain.study.steps(self._chain.case)
        if not isinstance(self._steps, Generator):
            raise TypeError(f"steps() gave a {type(self._steps).__name__}, which should be a generator")
        return next(self._steps)

    def _said(self, ask: Callable[[], object]) -> Word | None:
        try:
            return _checked(ask())
        except StopIteration:
            return None
        except ConvergeBenchError:
            raise
        except (Exception, SystemExit) as error:
            raise StudyError(
                f"the study '{self._chain.study.name}' failed at {self._chain.case.id}: {said(error)}"
            ) from error


def _checked(word: object) -> Word:
    if not isinstance(word, Edit | Ask | Compare):
        raise TypeError(f"it yielded a {type(word).__name__}, which should be an Edit, Ask or Compare")
    fields = next(fields for kind, fields in FIELDS.items() if isinstance(word, kind))
    for name, kind in fields.items():
        if not isinstance(getattr(word, name), kind):
            raise TypeError(f"{name} of its {type(word).__name__} is a {type(getattr(word, name)).__name__}")
    return word
