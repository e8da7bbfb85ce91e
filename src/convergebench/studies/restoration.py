"""Degraded images to restore: which method and which prompt come closest to the clean image, and how reliably?"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, ClassVar, Self

from convergebench.degradations.pictures import degraded
from convergebench.documents import LARGEST
from convergebench.edits.restoration_prompts import RestorationPrompt, load_prompts
from convergebench.studies.base import BaseStudy, Sources
from convergebench.studies.restoration_table import DEGRADATIONS, RestorationTable
from convergebench.studies.units import ROUND, Unit
from convergebench.types import Capabilities, Case, Compare, Edit, EditPair, Settings, SourceImage, State, Steps

RESTORED = "restored"
"""The role of all comparisons that are analysed: with the clean picture, or of the result alone if there is none.
Round 0 is the degraded picture itself."""


@dataclass(frozen=True)
class Restoration(BaseStudy):
    """Every prompt on every degraded picture, repeated; more rounds restore the result again."""

    Parameters: ClassVar[type[RestorationTable]] = RestorationTable
    unit: ClassVar[Unit] = ROUND
    changes_stay: ClassVar[bool] = True
    metrics: ClassVar[str] = "restoration"
    failures: ClassVar[tuple[str, ...]] = ("restorations",)
    examines: ClassVar[bool] = True
    analyses: ClassVar[tuple[str, ...]] = ("restoration", "ratings")
    sections: ClassVar[tuple[str, ...]] = (
        *("restoration-methods", "restoration-panels", "ratings", "restoration-tradeoff", "restoration-categories"),
        *("restoration-prompts", "restoration-factors", "restoration-stability", "restoration-refinement"),
        *("restoration-infidelity", "failure-gallery", "failures", "chains", "cost", "made", "terms"),
    )

    table: RestorationTable = field(default_factory=RestorationTable)
    settings: Settings = field(default_factory=Settings)
    name: str = "restoration"

    @classmethod
    def of(cls, parameters: RestorationTable, settings: Settings) -> Self:
        """The study of a study file."""
        return cls(parameters, settings)

    def pictures(self, images: Sequence[SourceImage]) -> list[SourceImage]:
        """The degraded pictures and the clean ones; a picture that came with its clean one is not degraded again."""
        found: dict[str, SourceImage] = {image.id: image for image in images}
        references = {image.clean for image in images}
        clean = [image for image in images if not image.clean and image.id not in references]
        table = self.table
        for image in clean:
            for name in table.scenes:
                one = degraded(image, name, kind=image.kind, severity=table.severity, seed=table.seed)
                found[one.id] = one
        for name in self._degradations():
            for image in _dealt(clean, name, table):
                one = degraded(image, name, kind=name, severity=table.severity, seed=table.seed)
                found[one.id] = one
        return list(found.values())

    def cases(self, sources: Sources, pairs: Sequence[EditPair]) -> list[Case]:
        """Every picture that is no clean one of another, with every prompt and repeat; edit pairs are not used."""
        states = {image.id: state for image, state in sources}
        references = {image.clean for image, _ in sources}
        asked = [(image, state) for image, state in sources if image.id not in references]
        if self.table.scenes or self._degradations():
            asked = [(image, state) for image, state in asked if image.clean]
        return [
            Case(
                f"{image.id}/{prompt.id}/{repeat}",
                *(state, image.id, image.kind),
                replicate=repeat,
                label=prompt.id,
                category=prompt.group,
                clean=states.get(image.clean) if self._has_reference(image) else None,
            )
            for image, state in asked
            for prompt in self.prompts
            for repeat in range(self.table.repeats)
        ]

    def steps(self, case: Case) -> Steps:
        """Compares the degraded picture and every round's result with the clean one, where there is one."""
        prompt, settings = self._prompt(case), self.settings_of(case)
        yield Compare(case.source, case.clean, RESTORED, 0, 0)
        state: State = case.source
        for number in range(1, self.table.rounds + 1):
            before = state
            words = prompt.words if number == 1 else self.table.follow_up or prompt.words
            state = yield Edit(before, words, settings)
            yield Compare(state, before, "step", number, number)
            yield Compare(state, case.clean, RESTORED, number, number)

    def calls(self, case: Case) -> int:
        """One per round."""
        return self.table.rounds

    def unneeded(self, case: Case, capabilities: Capabilities) -> str:
        """A method that reads no words gets one prompt; if chance plays no part in it either, it gets one repeat."""
        if capabilities.instructed:
            return ""
        if case.label != self.unified:
            return f"it ignores instructions, so it gets one prompt, {self.unified}"
        if case.replicate and capabilities.deterministic:
            return "it gives the same answer every time, so it is asked once"
        return ""

    def settings_of(self, case: Case) -> Settings:
        """A fixed seed differs from repeat to repeat."""
        if self.settings.seed_policy != "fixed":
            return self.settings
        return replace(self.settings, seed=((self.settings.seed or 0) + case.replicate) % LARGEST)

    def edits(self, cases: Sequence[Case]) -> dict[str, dict[str, Any]]:
        """The words of every prompt, and its place in the design."""
        used = {case.label for case in cases}
        return {
            one.id: {
                **one.model_dump(mode="json", exclude={"id", "words"}),
                "instructions": [one.words, *([self.table.follow_up] if self.table.follow_up else [])],
            }
            for one in self.prompts
            if one.id in used
        }

    def fixed(self) -> Mapping[str, Any]:
        """What a picture is degraded by, and what it is compared with."""
        table = self.table
        return {
            "restoration.severity": table.severity,
            "restoration.draws": table.seed,
            "restoration.reference": table.reference,
            "restoration.follow_up": table.follow_up,
        }

    @property
    def prompts(self) -> tuple[RestorationPrompt, ...]:
        """The prompts that are asked, in order."""
        return _loaded(self.table.prompts)

    @property
    def unified(self) -> str:
        """The prompt by which methods are compared."""
        known = [one.id for one in self.prompts]
        return self.table.unified if self.table.unified in known else known[0]

    def _degradations(self) -> tuple[str, ...]:
        every = (tuple(DEGRADATIONS) if name == "all" else (name,) for name in self.table.degradations)
        return tuple(dict.fromkeys(name for names in every for name in names))

    def _has_reference(self, image: SourceImage) -> bool:
        """Pictures of a degradation's own set are not compared with the clean one unless the study says so."""
        return bool(image.clean) and (self.table.reference == "all" or image.kind != image.degradation)

    def _prompt(self, case: Case) -> RestorationPrompt:
        return next(one for one in self.prompts if one.id == case.label)


@cache
def _loaded(names: tuple[str, ...]) -> tuple[RestorationPrompt, ...]:
    return load_prompts(names)


def _dealt(images: Sequence[SourceImage], name: str, table: RestorationTable) -> list[SourceImage]:
    """The pictures of a degradation's own set: a draw that does not depend on how many others there are."""
    order = sorted(images, key=lambda one: hashlib.sha256(f"{table.seed}/{name}/{one.id}".encode()).digest())
    return order[: table.per_degradation]
