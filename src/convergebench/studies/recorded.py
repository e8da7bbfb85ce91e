"""Somebody else's chain, walked as it was recorded and compared as a chain of our own would be."""

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
    """One chain's wishes; every chain has a study of its own.

    Steps are compared as those of `replicate`: copies, mirrorings and turns with the source, rebuilt pictures at the
    end of each cycle, and where something was added or changed only what lies around it.
    """

    variant: Variant = field(default=NOTHING)
    length: int = 0
    """Steps that were asked for; a recording may end before."""
    own_words: bool = False
    """Whether other chains of the same label were asked for other things."""
    name: str = "recorded"

    def steps(self, case: Case) -> Steps:
        """As recorded; what lies around a change is not compared while the picture should lie turned or mirrored."""
        words = super().steps(case)
        lies, answer = UPRIGHT, None
        try:
            while True:
                word = words.send(answer)
                answer = None
                if isinstance(word, Compare) and word.role == "step":
                    lies = (UPRIGHT if self.variant.starts_anew(word.step) else lies).then(word.operation)
                if isinstance(word, Compare) and word.role == "around" and lies != UPRIGHT:
                    continue
                answer = yield word
        except StopIteration:
            return

    def settings_of(self, case: Case) -> Settings:
        """As they were."""
        return self.settings

    def calls(self, case: Case) -> int:
        """As many as were asked for."""
        return self.length

    def edits(self, cases: Sequence[Case]) -> dict[str, dict[str, Any]]:
        """As those of `replicate`; without the words where every chain has its own, which stand beside its steps."""
        told = super().edits(cases)
        own: dict[str, Any] = {"instructions": [], "operations": []} if self.own_words else {}
        return {label: {**facts, **own} for label, facts in told.items()}

    def _variant(self, case: Case) -> Variant:
        return self.variant
