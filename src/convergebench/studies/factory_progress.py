"""How far a chain of the factory has come: accepted turns, and edits asked for."""

from __future__ import annotations

from dataclasses import dataclass, field

from convergebench.types import Case, State


@dataclass
class SessionProgress:
    """Where a chain is."""

    case: Case
    position: int = 0
    instructions: list[str] = field(default_factory=list)
    accepted: list[State] = field(default_factory=list)

    @property
    def state(self) -> State:
        """The picture that the next turn starts from."""
        return self.accepted[-1] if self.accepted else self.case.source

    @property
    def history(self) -> str:
        """The instructions so far, numbered, one a line."""
        return "\n".join(f"{number}. {text}" for number, text in enumerate(self.instructions, start=1))

    def accept(self, state: State, instruction: str) -> None:
        """One more turn is done."""
        self.accepted.append(state)
        self.instructions.append(instruction)
