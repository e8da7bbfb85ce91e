"""Answers of a composite call's parts, kept so that a retry does not pay for them again."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from convergebench.errors import BadReply, Transient
from convergebench.ids import image_id
from convergebench.types import Edited, EditRequest

RETRYABLE = (Transient, BadReply)
"""Errors after which the engine retries the call."""
ROOM = 4
"""Calls that are kept per parallel call: a busy provider can fail all of them together."""


class PartAnswers:
    """The answers of each call's parts, by the part's number.

    They cost nothing in a retry, since the attempt that received them has been charged.
    """

    def __init__(self, at_once: int) -> None:
        self._room = ROOM * at_once
        self._calls: OrderedDict[tuple[Any, ...], dict[int, Edited]] = OrderedDict()

    def of(self, request: EditRequest) -> dict[int, Edited]:
        """Answers from earlier attempts at this call; empty for a first attempt."""
        key = _key(request)
        if request.attempt <= 1:
            self._calls.pop(key, None)
        return dict(self._calls.get(key, {}))

    def store(self, request: EditRequest, answers: dict[int, Edited]) -> None:
        """Keep these answers for the next attempt."""
        key = _key(request)
        self._calls[key] = dict(answers)
        self._calls.move_to_end(key)
        while len(self._calls) > self._room:  # the oldest go first
            self._calls.popitem(last=False)

    def forget(self, request: EditRequest) -> None:
        """Drop the answers of a finished call."""
        self._calls.pop(_key(request), None)


def _key(request: EditRequest) -> tuple[Any, ...]:
    return (
        image_id(request.image),
        request.instruction,
        request.settings,
        request.seed,
        request.case,
        request.index,
    )
