"""Base of composite editors: finds their parts, and combines the parts' capabilities, limits and prices."""

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
from convergebench.types import Capabilities, Edited, Editor, EditRequest, Limits, Resources, Settings


class CompositePart(NamedTuple):
    """A part, and how often one call of the composite calls it."""

    editor: Editor
    times: int = 1


class CompositeEditor(BaseEditor):
    """An editor that calls other editors, always through `answer_of`."""

    calls_parts = True

    def __init__(self, name: str, fingerprint: str, parts: Sequence[CompositePart], *, sessions: bool = False) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.parts = tuple(parts)
        self.weights = [one for part in self.parts for one in getattr(part.editor, "weights", ())]
        self.capabilities = combined_capabilities(self.parts, sessions=sessions)
        self.limits = combined_limits(self.parts)
        self.resources = combined_resources(self.parts)

    def lacks(self) -> list[str]:
        """What the parts lack, without duplicates."""
        return list(dict.fromkeys(missing for part in self.parts for missing in lacks(part.editor)))

    def notices(self) -> list[str]:
        """Warnings of the parts, without duplicates."""
        return list(dict.fromkeys(notice for part in self.parts for notice in notices(part.editor)))

    async def close(self) -> None:
        """Close the parts."""
        for part in self.parts:
            await close(part.editor)


def part_of(name: str, option: str, value: object) -> Editor:
    """The editor that an option gives: a name or expression, a table with `use`, or an editor object."""
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


def check_name(kind: str, name: str, parts: Sequence[CompositePart]) -> None:
    """`StudyError` if the name hides a simulated part: it must start with `sim-` or be an expression that shows it."""
    expression = name.startswith(f"{kind}(") and name.endswith(")")
    simulated = [part.editor.name for part in parts if part.editor.capabilities.simulated]
    visible = expression and all(inside in name for inside in simulated)
    if simulated and not visible and not name.startswith("sim-"):
        raise StudyError(f"'{name}' has a simulated editor in it, so its name starts with 'sim-': call it 'sim-{name}'")


def combined_capabilities(parts: Sequence[CompositePart], *, sessions: bool = False) -> Capabilities:
    """The capabilities of the composite, with the highest price of one call.

    A setting is supported if every part that reads instructions supports it; other parts (restorers, autoencoders)
    never get one. A seed is supported if it fixes every part that is random. The kind of composite decides about
    `sessions`; without them, earlier turns cost nothing.
    """
    each = [part.editor.capabilities for part in parts]
    instructed = [one for one in each if one.instructed] or each
    sessions = sessions and all(one.sessions for one in each)
    named = dict.fromkeys(word for one in each for word in one.dollars_by_resolution)
    prices = {word: price for word in named if (price := _price(parts, Settings(resolution=word))) is not None}
    return Capabilities(
        seed=any(one.seed for one in each) and all(one.seed or one.deterministic for one in each),
        temperature=all(one.temperature for one in instructed),
        resolutions=_common([one.resolutions for one in instructed]),
        aspects=_common([one.aspects for one in instructed]),
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


def _price(parts: Sequence[CompositePart], settings: Settings) -> float | None:
    """The highest price of one call of every part; None if one of them is unknown."""
    total = 0.0
    for part in parts:
        price = part.editor.capabilities.dollars(settings)
        if price is None:
            return None
        total += part.times * price
    return total


def _common(words: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(word for word in words[0] if all(word in other for other in words[1:]))


def _sides(known: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The range that all parts accept; if there is none, that of the first part, which gets the input."""
    if not known:
        return None
    shortest, longest = max(low for low, _ in known), min(high for _, high in known)
    return (shortest, longest) if shortest <= longest else known[0]


def combined_limits(parts: Sequence[CompositePart]) -> Limits:
    """Limits that respect those of every part. Parts are called one after the other, so their seconds add up.

    An editor can wait for only one account: the first provider's, or else the CPU's.
    """
    limits = [part.editor.limits for part in parts]
    calls: Counter[str] = Counter()
    for part in parts:
        calls[_account_of(part.editor)] += part.times
    rates = [
        part.editor.limits.per_minute / calls[_account_of(part.editor)]
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


def combined_resources(parts: Sequence[CompositePart]) -> Resources | None:
    """What a machine must have for all parts at once; None if one of them works in the command's process."""
    each = [getattr(part.editor, "resources", None) for part in parts]
    each = [
        Resources() if one is None and part.editor.limits.account == PROCESSOR else one
        for one, part in zip(each, parts, strict=True)
    ]
    needed = [one for one in each if isinstance(one, Resources)]
    if len(needed) < len(each):
        return None
    gpus = sum(one.gpus for one in needed)
    return Resources(
        cpus=max(one.cpus for one in needed),
        gpus=float(ceil(gpus)) if gpus > 1 else gpus,
        memory_gb=sum(one.memory_gb for one in needed),
    )


def _account_of(editor: Editor) -> str:
    return editor.limits.account or editor.fingerprint


def request_for(editor: Editor, request: EditRequest) -> EditRequest:
    """The request for this part, without settings and earlier turns that it does not support."""
    can, settings = editor.capabilities, request.settings
    supported = replace(
        settings,
        temperature=settings.temperature if can.temperature else None,
        resolution=settings.resolution if can.resolutions else None,
        aspect=settings.aspect if can.aspects else None,
        session=settings.session if can.sessions else "fresh",
        reasoning=settings.reasoning and can.reasoning,
    )
    return replace(request, settings=supported, history=request.history if can.sessions else ())


async def answer_of(editor: Editor, request: EditRequest) -> Edited:
    """A part's answer, journalled by the engine if there is one; a composite part journals its own parts."""
    if request.call_part is None or calls_parts(editor):
        return await editor.edit(request)
    return await request.call_part(editor, request)


async def valid_answer(editor: Editor, request: EditRequest) -> Edited:
    """The editor's answer, decoded to check that it is a complete image; `BadReply` if not."""
    edited = await answer_of(editor, request)
    if not editor.capabilities.simulated:  # our own encoders need no check
        try:
            await asyncio.to_thread(decode, edited.image, what=f"the image from {editor.name}", alpha="white")
        except StudyError as error:
            raise BadReply(str(error), dollars=edited.dollars, raw=edited.raw) from error
    return edited


@contextmanager
def adding_cost(paid: float) -> Iterator[None]:
    """Add `paid` to the cost of errors raised inside, so that earlier calls are counted."""
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
