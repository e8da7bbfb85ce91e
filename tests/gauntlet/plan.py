"""What a seed stands for: a small study, and for each of its sessions the faults that meet it."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Literal, get_args

DiskFault = Literal["full", "error", "busy", "kill", "kill after", "torn", "cut"]
"""`kill after`: the process ends just after the write; `torn`: in the middle of it; `cut`: with the whole computer."""
NetworkFault = Literal[
    "refused connection", "connection times out", "read times out", "reset", "no reply", "cut off", "doubled reply",
    "429", "429 for hours", "503", "500 that repeats the key", "no JSON", "corrupt image", "no image", "no base64",
    "another model", "no usage", "clock jumps", "clock set back", "driver killed",
]  # fmt: skip
SENDS_NOTHING: tuple[NetworkFault, ...] = ("refused connection", "connection times out")
NOT_BILLED: tuple[NetworkFault, ...] = (*SENDS_NOTHING, "429", "429 for hours", "503", "500 that repeats the key")
SPOILED: tuple[NetworkFault, ...] = (
    "cut off", "doubled reply", "no JSON", "corrupt image", "no image", "no base64",
)  # fmt: skip
"""The reply is billed and holds no image that can be read."""
DISK_FAULTS: tuple[DiskFault, ...] = get_args(DiskFault)
NETWORK_FAULTS: tuple[NetworkFault, ...] = get_args(NetworkFault)


@dataclass(frozen=True)
class SessionPlan:
    """The faults of one session, and its limit on cost."""

    number: int
    disk: dict[int, DiskFault] = field(default_factory=dict)
    """Event number → fault."""
    network: dict[int, NetworkFault] = field(default_factory=dict)
    """Call number, counted from this session's first → fault."""
    max_cost: float | None = None


@dataclass(frozen=True)
class Plan:
    """A study of a few chains, and the sessions in which it is disturbed; the last ones are calm."""

    seed: int
    editors: tuple[str, ...]
    cases: int
    rounds: int
    judged: bool
    at_once: int
    refusals: float
    """Share of requests that the provider refuses, by their content: a refusal is an answer and never changes."""
    sessions: tuple[SessionPlan, ...]


def plan_of(seed: int) -> Plan:
    """The same for the same seed, for ever."""
    dice = random.Random(f"gauntlet {seed}")
    editors = dice.choice([("grok",), ("grok",), ("grok", "local"), ("grok", "two"), ("two",)])
    limit = dice.choice([None, None, None, 0.1, 0.2])
    sessions = []
    for number in range(1, dice.randint(2, 5)):
        disk = {dice.randint(1, 150): dice.choice(DISK_FAULTS) for _ in range(dice.choice([0, 0, 1, 1, 2]))}
        rate = dice.choice([0.0, 0.1, 0.3, 0.7])
        network = {call: dice.choice(NETWORK_FAULTS) for call in range(1, 80) if dice.random() < rate}
        sessions.append(SessionPlan(number, disk, network, limit))
    return Plan(
        seed=seed,
        editors=editors,
        cases=dice.randint(1, 3),
        rounds=dice.randint(1, 2),
        judged=dice.random() < 0.3,
        at_once=dice.choice([1, 2, 4]),
        refusals=dice.choice([0.0, 0.0, 0.1]),
        sessions=tuple(sessions),
    )
