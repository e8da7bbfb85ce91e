"""Answering an `Ask`: a question to a language or vision model, journalled like a step."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from convergebench.engine.budget import Budget
from convergebench.errors import StudyError
from convergebench.ids import answer_id, canonical
from convergebench.registry import suggest
from convergebench.store.images import ImageStore
from convergebench.store.journal import Journal
from convergebench.types import Ask, Case, Reply


@dataclass(frozen=True, slots=True)
class Answered:
    """A reply as it came; `value` is None when it could not be parsed (counted, never guessed)."""

    value: Any
    raw: str
    model: str
    dollars: float = 0.0


class Role(Protocol):
    """A writer, judge or reader."""

    fingerprint: str

    async def ask(self, images: tuple[bytes, ...], payload: Mapping[str, Any]) -> Answered:
        """One question."""
        ...


async def answer_question(
    ask: Ask, case: Case, *, roles: Mapping[str, Role], journal: Journal, images: ImageStore, budget: Budget
) -> Reply:
    """From the journal if it is there, else by asking."""
    if ask.role not in roles:
        raise StudyError(f"the study asks a '{ask.role}', and none is configured{suggest(ask.role, roles)}")
    role = roles[ask.role]
    key = answer_id(
        parents=tuple(state.id for state in ask.states),
        role=ask.role,
        payload=ask.payload,
        fingerprint=role.fingerprint,
        replicate=case.replicate,
    )
    found = journal.answer(key)
    if found is not None:
        value, raw = found
        return Reply(key, None if value is None else json.loads(value), raw)
    files = [journal.image(state.image)[0] for state in ask.states]
    data = tuple([await images.in_thread(images.read, file) for file in files])
    begun = time.perf_counter()
    answered = await role.ask(data, ask.payload)
    budget.settle(0.0, answered.dollars)
    value = None if answered.value is None else canonical(answered.value)
    seconds = time.perf_counter() - begun
    payload = canonical(dict(ask.payload))
    row = (key, ask.role, payload, value, answered.raw, answered.model, seconds, answered.dollars)
    await journal.commit([("answers", row)])
    return Reply(key, answered.value, answered.raw)
