"""Answers that are paid for while others of the same call are still out: a retry goes on where the last one stopped."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from convergebench.errors import BadReply, Transient
from convergebench.ids import image_id
from convergebench.types import Edited, EditRequest

AGAIN = (Transient, BadReply)
"""Errors after which the same call comes again."""
ROOM = 4
"""Calls whose parts are kept, for each that may be in flight: a busy provider fails them all at once."""


class Kept:
    """Per call: its parts' answers, by the part's number.

    An answer is handed out without its price, since the attempt that got it has been charged for it.
    """

    def __init__(self, at_once: int) -> None:
        self._room = ROOM * at_once
        self._calls: OrderedDict[tuple[Any, ...], dict[int, Edited]] = OrderedDict()

    def of(self, request: EditRequest) -> dict[int, Edited]:
        """What earlier attempts at this call have got; a first attempt starts with nothing."""
        key = _key(request)
        if request.attempt <= 1:
            self._calls.pop(key, None)
        return dict(self._calls.get(key, {}))

    def keep(self, request: EditRequest, answers: dict[int, Edited]) -> None:
        """For the next attempt."""
        key = _key(request)
        self._calls[key] = dict(answers)
        self._calls.move_to_end(key)
        while len(self._calls) > self._room:  # the oldest go first
            self._calls.popitem(last=False)

    def forget(self, request: EditRequest) -> None:
        """The call is over."""
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
