"""The study of imported restorations: the result of one prompt, replayed and compared as `restoration` does."""

from __future__ import annotations

from dataclasses import dataclass

from convergebench.edits.restoration_prompts import RestorationPrompt
from convergebench.studies.restoration import Restoration


@dataclass(frozen=True)
class RecordedRestoration(Restoration):
    """One prompt; every chain has a study of its own, so that more prompts can be imported later."""

    asked: tuple[RestorationPrompt, ...] = ()

    @property
    def prompts(self) -> tuple[RestorationPrompt, ...]:
        """As recorded."""
        return self.asked
