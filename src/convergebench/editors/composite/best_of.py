"""Several tries, of which a metric that sees only images picks the best.

A no-reference metric picks the try with the best score. A metric with a reference picks the try closest to the input,
which rewards doing nothing: of three tries by an editor that ignores one instruction in three, the ignored one wins.
Use it against decay and check adherence separately; never use it to measure adherence.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite, isnan
from typing import Annotated, Any, Literal

from pydantic import Field

from convergebench import ids
from convergebench.documents import Strict, check_document
from convergebench.editors.composite.base import (
    CompositeEditor,
    CompositePart,
    adding_cost,
    check_name,
    part_of,
    request_for,
    valid_answer,
)
from convergebench.editors.composite.part_answers import RETRYABLE, PartAnswers
from convergebench.errors import Refused, StudyError, Unmeasurable
from convergebench.images.align import align
from convergebench.images.decode import decode
from convergebench.images.frame import Frame
from convergebench.metrics import load_metric
from convergebench.metrics.base import Item, Metric, MetricFacts, Reading
from convergebench.metrics.readiness import lacks as metric_lacks
from convergebench.types import Edited, Editor, EditRequest

VERSION = 1


class BestOfOptions(Strict):
    """Number of tries, and the metric that picks one."""

    of: Any = None
    n: Annotated[int, Field(ge=2, le=32)] = 3
    metric: str = "ssim"
    align: Literal["strict", "fit", "crop-aware"] = "fit"
    """How a try of another size is aligned with the input."""


class BestOfEditor(CompositeEditor):
    """Calls the same editor several times in sequence, and returns the best answer unchanged.

    The answer keeps its own raw reply, so a session continues from it as if it had been the only one.
    """

    def __init__(self, name: str, of: Editor, metric: Metric, options: BestOfOptions) -> None:
        identity = {
            **{"of": of.fingerprint, "n": options.n, "align": options.align},
            **{"metric": metric.facts.name, "metric_version": metric.facts.version},
        }
        fingerprint = ids.fingerprint("best-of", VERSION, identity)
        super().__init__(name, fingerprint, [CompositePart(of, options.n)], sessions=True)
        self.of, self.metric, self.options = of, metric, options
        self._answers = PartAnswers(self.limits.at_once)

    def lacks(self) -> list[str]:
        """What the editor lacks, and what the metric lacks."""
        facts = self.metric.facts
        return [*super().lacks(), *(f"{missing} (for {facts.name})" for missing in metric_lacks(facts))]

    def notices(self) -> list[str]:
        """A warning if the metric rewards doing nothing."""
        facts = self.metric.facts
        lazy = f"{self.name} keeps the try closest to its input ({facts.name}), so it favours tries that did nothing"
        return [*super().notices(), *([] if facts.kind == "no-reference" else [lazy])]

    async def edit(self, request: EditRequest) -> Edited:
        """The best of the tries that were not refused. A retry calls only for missing tries."""
        answers = self._answers.of(request)
        refusals: list[Refused] = []
        paid = 0.0
        seeds = different_seeds(request.seed, self.options.n)
        try:
            for number, seed in enumerate(seeds):
                if number in answers:
                    continue
                try:
                    with adding_cost(paid):
                        answers[number] = await valid_answer(self.of, request_for(self.of, replace(request, seed=seed)))
                    paid += answers[number].dollars
                except Refused as refusal:
                    paid = refusal.dollars
                    refusals.append(refusal)
            if not answers:
                first = refusals[0]
                message = f"all {self.options.n} tries were refused: {first}"
                raise Refused(message, reason=first.reason, dollars=paid, raw=first.raw)
            with adding_cost(paid):
                readings = await asyncio.to_thread(self._readings, request.image, list(answers.values()))
        except (*RETRYABLE, asyncio.CancelledError):  # a call that takes too long is cancelled, and tried again
            self._answers.store(request, answers)
            raise
        except Exception:
            self._answers.forget(request)
            raise
        self._answers.forget(request)
        return self._choose(dict(zip(answers, readings, strict=True)), answers, seeds=seeds, paid=paid)

    def _readings(self, image: bytes, answers: Sequence[Edited]) -> list[Reading]:
        facts = self.metric.facts
        before = decode(image, what="the image to edit", alpha="white")
        readings = []
        for answer in answers:
            after = decode(answer.image, what=f"the image from {self.of.name}", alpha="white")
            try:
                item = Item(after) if facts.kind == "no-reference" else self._pair(after, before)
            except Unmeasurable as reason:
                readings.append(Reading(None, reason.status, str(reason)))
                continue
            readings += self.metric.measure([item])
        return readings

    def _pair(self, after: Frame, before: Frame) -> Item:
        if not self.metric.facts.aligned:
            return Item(after, before)
        aligned = align(after, before, self.options.align)
        return Item(aligned.subject, aligned.reference)

    def _choose(
        self, readings: Mapping[int, Reading], answers: Mapping[int, Edited], *, seeds: Sequence[int], paid: float
    ) -> Edited:
        """The first answer with the best value; if none could be measured, the first answer, with a note."""
        sign = 1 if self.metric.facts.better == "higher" else -1
        values = {
            number: sign * reading.value
            for number, reading in readings.items()
            if reading.value is not None and not isnan(reading.value)
        }
        best = max(values, key=lambda number: values[number]) if values else min(answers)
        chosen = answers[best]
        used: dict[str, Any] = {
            "chosen": best + 1,
            "metric": self.metric.facts.name,
            "values": [_shown(readings.get(number)) for number in range(self.options.n)],
            "refused": self.options.n - len(answers),
            **({"seeds": list(seeds)} if self.of.capabilities.seed else {}),
            **({"of": dict(chosen.used)} if chosen.used else {}),
        }
        if not values:
            used["not_measured"] = "; ".join(
                sorted({reading.detail or reading.status for reading in readings.values()})
            )
        return replace(chosen, dollars=paid, used=used)


def _shown(reading: Reading | None) -> float | str | None:
    """The value for a JSON record, which cannot hold infinity."""
    value = None if reading is None else reading.value
    return value if value is None or isfinite(value) else str(value)


def different_seeds(seed: int, count: int) -> list[int]:
    """The call's own seed and others derived from it, all different."""
    seeds = [seed]
    number = 0
    while len(seeds) < count:
        number += 1
        other = ids.seed_from(f"best-of:{number}", seed)
        if other not in seeds:
            seeds.append(other)
    return seeds


def best_of(name: str, **options: Any) -> BestOfEditor:
    """`best-of`: several tries, of which a metric picks the best; `best-of(E, 3, ssim)`."""
    read = check_document(options, BestOfOptions, where=name)
    of = part_of(name, "of", read.of)
    check_name("best-of", name, [CompositePart(of)])
    if of.capabilities.deterministic:
        raise StudyError(f"{name}: '{of.name}' gives the same answer for every seed, so {read.n} tries are one try")
    metric = load_metric(read.metric)
    _require_images_only(name, metric.facts)
    return BestOfEditor(name, of, metric, read)


def _require_images_only(name: str, facts: MetricFacts) -> None:
    """`StudyError` unless the metric needs nothing but the input and the answer."""
    if facts.asks:
        raise StudyError(f"{name}: the metric '{facts.name}' asks a {facts.asks}; choose one that needs only images")
    if facts.kind in ("adherence", "diagnostic"):
        raise StudyError(
            f"{name}: the metric '{facts.name}' ({facts.kind}) needs more than two images, or has no better "
            f"direction; choose a full-reference, semantic or no-reference one (cbench list metrics)"
        )
    if facts.better == "neither":
        raise StudyError(f"{name}: the metric '{facts.name}' has no better direction; choose another")


best_of.positional = ("of", "n", "metric")  # type: ignore[attr-defined]  # read by the parser of expressions
