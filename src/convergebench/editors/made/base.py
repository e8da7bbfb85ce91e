"""What editors made of editors have in common: finding their parts, and saying what the parts can and cost together."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import ceil
from typing import Any, NamedTuple

from convergebench.editors.base import PROCESSOR, BaseEditor, calls_parts, close, lacks, notices
from convergebench.errors import BadReply, EditorError, Prerequisite, StudyError, Unavailable
from convergebench.images.decode import decode
from convergebench.types import Capabilities, Edited, Editor, EditRequest, Limits, Settings


class Part(NamedTuple):
    """An editor, and how often one call of the whole calls it."""

    editor: Editor
    times: int = 1


class MadeEditor(BaseEditor):
    """An editor that hands its work to others, always through `answer_of`."""

    calls_parts = True

    def __init__(self, name: str, fingerprint: str, parts: Sequence[Part], *, sessions: bool = False) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.parts = tuple(parts)
        self.capabilities = together(self.parts, sessions=sessions)
        self.limits = strictest(self.parts)

    def lacks(self) -> list[str]:
        """What the parts lack, each thing once."""
        return list(dict.fromkeys(missing for part in self.parts for missing in lacks(part.editor)))

    def notices(self) -> list[str]:
        """What there is to know of the parts, each thing once."""
        return list(dict.fromkeys(notice for part in self.parts for notice in notices(part.editor)))

    async def close(self) -> None:
        """Let go of what the parts hold."""
        for part in self.parts:
            await close(part.editor)


def part_of(name: str, option: str, value: object) -> Editor:
    """The editor that an option names: as it would be typed, as a table with `use`, or an editor itself."""
    from convergebench.editors.find import make_editor

    if isinstance(value, str) and value:
        return make_editor(value)
    if isinstance(value, Mapping) and isinstance(value.get("use"), str):
        rest: dict[str, Any] = {str(key): each for key, each in value.items() if key != "use"}
        return make_editor(value["use"], **rest)
    if isinstance(value, Editor) and not isinstance(value, type):
        return value
    raise StudyError(
        f"{name} needs an editor as '{option}', such as {option} = 'sim-jpeg' or "
        f"{option} = {{use = 'sim-jpeg', quality = 60}}, not {value!r}"
    )


def check_name(kind: str, name: str, parts: Sequence[Part]) -> None:
    """A name of one's own shows that something simulated is inside; an expression shows it anyway."""
    expression = name.startswith(f"{kind}(") and name.endswith(")")
    simulated = [part.editor.name for part in parts if part.editor.capabilities.simulated]
    spelt_out = expression and all(inside in name for inside in simulated)
    if simulated and not spelt_out and not name.startswith("sim-"):
        raise StudyError(f"'{name}' has a simulated editor in it, so its name starts with 'sim-': call it 'sim-{name}'")


def together(parts: Sequence[Part], *, sessions: bool = False) -> Capabilities:
    """What the parts can do together, and what a call of all of them costs at most.

    A setting is honoured if every part that reads instructions honours it; parts that do the same whatever the words
    say (restorers, autoencoders) are never given one. A seed is honoured if it fixes every part that chance has a hand
    in. Sessions are up to the kind of editor; where there are none, earlier turns cost nothing.
    """
    each = [part.editor.capabilities for part in parts]
    asked = [one for one in each if one.instructed] or each
    sessions = sessions and all(one.sessions for one in each)
    named = dict.fromkeys(word for one in each for word in one.dollars_by_resolution)
    prices = {word: price for word in named if (price := _price(parts, Settings(resolution=word))) is not None}
    return Capabilities(
        seed=any(one.seed for one in each) and all(one.seed or one.deterministic for one in each),
        temperature=all(one.temperature for one in asked),
        resolutions=_common([one.resolutions for one in asked]),
        aspects=_common([one.aspects for one in asked]),
        sessions=sessions,
        reasoning=any(one.reasoning for one in each),
        sides=_sides([one.sides for one in each if one.sides is not None]),
        dollars_per_call=_price(parts, Settings()),
        dollars_by_resolution=prices,
        dollars_per_turn=sum(part.editor.capabilities.dollars_per_turn * part.times for part in parts) * sessions,
        seconds_per_call=sum(part.editor.capabilities.seconds_per_call * part.times for part in parts),
        simulated=any(one.simulated for one in each),
        deterministic=all(one.deterministic for one in each),
        instructed=any(one.instructed for one in each),
    )


def _price(parts: Sequence[Part], settings: Settings) -> float | None:
    """What one call of every part costs at most; None if nobody knows it of one of them."""
    total = 0.0
    for part in parts:
        once = part.editor.capabilities.dollars(settings)
        if once is None:
            return None
        total += part.times * once
    return total


def _common(words: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(word for word in words[0] if all(word in other for other in words[1:]))


def _sides(known: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """What all take. Where none would be left, sizes must change on the way: only the first one sees the input."""
    if not known:
        return None
    shortest, longest = max(low for low, _ in known), min(high for _, high in known)
    return (shortest, longest) if shortest <= longest else known[0]


def strictest(parts: Sequence[Part]) -> Limits:
    """No part is driven harder than it may be. Its calls follow each other, so their seconds add up.

    Of several accounts the first is named, since one editor can wait for one only; a provider's before this
    processor, which asks nobody to wait.
    """
    limits = [part.editor.limits for part in parts]
    calls: Counter[str] = Counter()
    for part in parts:
        calls[_whose(part.editor)] += part.times
    rates = [
        part.editor.limits.per_minute / calls[_whose(part.editor)]
        for part in parts
        if part.editor.limits.per_minute is not None
    ]
    named = min(
        (limit for limit in limits if limit.account), key=lambda limit: limit.account == PROCESSOR, default=None
    )
    return Limits(
        at_once=min(limit.at_once for limit in limits),
        per_minute=min(rates, default=None),
        seconds=float(ceil(sum(part.editor.limits.seconds * part.times for part in parts))),
        account=named.account if named else "",
        together=named.together if named else None,
    )


def _whose(editor: Editor) -> str:
    return editor.limits.account or editor.fingerprint


def request_for(editor: Editor, request: EditRequest) -> EditRequest:
    """The request as this part may get it: without settings it does not know, without turns it cannot follow."""
    can, settings = editor.capabilities, request.settings
    fitting = replace(
        settings,
        temperature=settings.temperature if can.temperature else None,
        resolution=settings.resolution if can.resolutions else None,
        aspect=settings.aspect if can.aspects else None,
        session=settings.session if can.sessions else "fresh",
        reasoning=settings.reasoning and can.reasoning,
    )
    return replace(request, settings=fitting, history=request.history if can.sessions else ())


async def answer_of(editor: Editor, request: EditRequest) -> Edited:
    """A part's answer, journalled by the engine if one is there; of a part made of parts, theirs are."""
    if request.call_part is None or calls_parts(editor):
        return await editor.edit(request)
    return await request.call_part(editor, request)


async def whole(editor: Editor, request: EditRequest) -> Edited:
    """The editor's answer, which is an image from end to end; bytes that are none are a bad reply."""
    edited = await answer_of(editor, request)
    if not editor.capabilities.simulated:  # our own encoders need no second look
        try:
            await asyncio.to_thread(decode, edited.image, what=f"the image from {editor.name}", alpha="white")
        except StudyError as error:
            raise BadReply(str(error), dollars=edited.dollars, raw=edited.raw) from error
    return edited


@contextmanager
def counting(paid: float) -> Iterator[None]:
    """Errors raised inside carry what was paid before them: money is counted whatever becomes of the call."""
    try:
        yield
    except EditorError as error:
        error.dollars += paid
        raise
    except Prerequisite as error:
        if paid:
            raise Unavailable(str(error), dollars=paid) from error
        raise
    except Exception as error:
        if paid:
            raise BadReply(f"{type(error).__name__}: {error}", dollars=paid) from error
        raise
