"""The study of imported chains: replays recorded edits and compares them as `replicate` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from convergebench.edits.orientation import UPRIGHT
from convergebench.edits.variants import Variant, VariantStep
from convergebench.studies.replicate import Replicate
from convergebench.types import Case, Compare, Settings, Steps

NOTHING = Variant("recorded", "session", "", "", (VariantStep("", "change"),))


@dataclass(frozen=True)
class Recorded(Replicate):
    """The instructions of one chain; every chain has a study of its own.

    Copies, flips and rotations are compared with the source, rebuilt pictures at the end of each cycle, and pictures
    with an addition or change only around it.
    """

    variant: Variant = field(default=NOTHING)
    length: int = 0
    """Requested steps; a recording may end earlier."""
    own_words: bool = False
    """Whether chains of the same label have different instructions."""
    name: str = "recorded"

    def steps(self, case: Case) -> Steps:
        """As recorded; the surroundings of a change are not compared while the picture is rotated or flipped."""
        words = super().steps(case)
        current, answer = UPRIGHT, None
        try:
            while True:
                word = words.send(answer)
                answer = None
                if isinstance(word, Compare) and word.role == "step":
                    current = (UPRIGHT if self.variant.starts_from_source(word.step) else current).then(word.operation)
                if isinstance(word, Compare) and word.role == "around" and current != UPRIGHT:
                    continue
                answer = yield word
        except StopIteration:
            return

    def settings_of(self, case: Case) -> Settings:
        """As recorded."""
        return self.settings

    def calls(self, case: Case) -> int:
        """As many as were requested."""
        return self.length

    def edits(self, cases: Sequence[Case]) -> dict[str, dict[str, Any]]:
        """As those of `replicate`; without instructions if every chain has its own, which its steps hold."""
        labelled = super().edits(cases)
        own: dict[str, Any] = {"instructions": [], "operations": []} if self.own_words else {}
        return {label: {**facts, **own} for label, facts in labelled.items()}

    def _variant(self, case: Case) -> Variant:
        return self.variant
