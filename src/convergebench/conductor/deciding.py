"""`--until decided`: run images in random order, look, and stop what the question no longer needs.

Every look is made at a number of images that was fixed before, and is recorded before its calls are made: after Ctrl-C
or a kill the same look is completed first, so the decision is the same as without the interruption. What is decided is
computed from the stored values, so a decided run costs nothing when it is run again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

from convergebench.analysis.sequential.decide import UntilDecision, could_decide, decide
from convergebench.analysis.sequential.question import UntilQuestion
from convergebench.analysis.sequential.scores import Scores
from convergebench.analysis.sequential.wording import signed, stopped_sentence
from convergebench.analysis.wording import counted
from convergebench.conductor.editing import EditingOutcome
from convergebench.conductor.growing import keep_own
from convergebench.conductor.measuring import fill, place_for
from convergebench.conductor.observer import Observer
from convergebench.conductor.stages.base import StageContext
from convergebench.conductor.until_question import needs_score
from convergebench.engine.plan import Chain, forecast
from convergebench.engine.prepared import Prepared
from convergebench.store.frames import RunFrames
from convergebench.store.until import read_until, write_until

FEWEST_ROUNDS = 4
"""Rounds below which chains are not looked at half-way."""

EditChains = Callable[[Prepared], EditingOutcome]
"""Walks the chains of a prepared study."""
MeasureChains = Callable[[], str | None]
"""Measures what the question needs; why it stopped, or None."""


@dataclass(frozen=True)
class Decided:
    """How a run until decided ended."""

    edits: EditingOutcome
    decision: UntilDecision


def decide_run(context: StageContext, question: UntilQuestion, edit: EditChains) -> EditingOutcome:
    """Run a study until its question is decided; say how that ended and what it saved."""
    prepared, options, observer = context.prepared, context.options, context.observer
    metrics = needs_score(prepared, question.number)

    def measure() -> str | None:
        return fill(
            context.run,
            metrics,
            prepared.spec["measure"]["align"],
            place_for(prepared.metrics, options.device, prepared.precision),
            prepared.roles,
            workers=options.workers,
            max_cost=options.max_cost,
            observer=observer,
        )[1]

    keep_own(context.root, prepared.metrics)
    done = run_until_decided(context.root, prepared, question, edit=edit, measure=measure, observer=observer)
    if not done.edits.interrupted:
        for line in ending_lines(done.decision, prepared, steps_done(context.root)):
            observer.say(line)
    return done.edits


def steps_done(root: Path) -> Mapping[tuple[str, str], int]:
    """(editor, case) → steps that a run holds."""
    frames = RunFrames(root)
    try:
        return frames.steps_done()
    finally:
        frames.close()


def run_until_decided(
    root: Path,
    prepared: Prepared,
    question: UntilQuestion,
    *,
    edit: EditChains,
    measure: MeasureChains,
    observer: Observer,
) -> Decided:
    """Edit and measure image by image until the question is decided, the most images are reached, or it is stopped."""
    kept = read_until(root)
    look = int(kept["look"]) if kept else 0
    write_until(root, question.to_json(), look)
    edits = EditingOutcome(stopped=measure())
    found = look_at(root, question)
    while edits.stopped is None and not found.finished:
        before = found
        if _looked(found, look):
            look = question.next_look(_reached(found))
            write_until(root, question.to_json(), look)
        for rounds in stages(prepared, question, found, look):
            chains = wave(prepared, question, found.running, images=look, rounds=rounds)
            edits = edit(replace(prepared, chains=chains))
            if edits.interrupted:
                return Decided(edits, found)
            lacking = measure()  # also after a spent budget: what was paid for is looked at
            edits = replace(edits, stopped=edits.stopped or lacking)
            found = look_at(root, question)
            if edits.stopped is not None or found.finished:
                break
        observer.say(look_line(found))
        if found == before:  # nothing came in: another look would see the same
            break
    return Decided(edits, found)


def stages(prepared: Prepared, question: UntilQuestion, found: UntilDecision, look: int) -> list[int]:
    """Rounds after which chains are looked at: half-way and at three quarters too, where that could decide already."""
    rounds = question.rounds
    if rounds < FEWEST_ROUNDS or question.method == "symmetric" or not all(map(_can_be_shorter, prepared.chains)):
        return [rounds]
    earlier = [ceil(rounds / 2), ceil(3 * rounds / 4)]
    return [*(one for one in earlier if could_decide(found, look, one / rounds)), rounds]


def wave(
    prepared: Prepared, question: UntilQuestion, editors: tuple[str, ...], *, images: int, rounds: int
) -> tuple[Chain, ...]:
    """The chains of these editors on the first images, up to this round."""
    chosen = set(question.order[:images])
    found = (chain for chain in prepared.chains if chain.editor in editors and chain.case.source_id in chosen)
    return tuple(shortened(chain, rounds) if rounds < chain.rounds else chain for chain in found)


def shortened(chain: Chain, rounds: int) -> Chain:
    """The same chain up to an earlier round; the journal answers its steps when it is continued."""
    study: Any = chain.study
    return replace(chain, study=replace(study, rounds=rounds), rounds=rounds)


def _can_be_shorter(chain: Chain) -> bool:
    study: Any = chain.study
    return is_dataclass(study) and any(one.name == "rounds" for one in fields(study))


def look_at(root: Path, question: UntilQuestion) -> UntilDecision:
    """What the values that are stored decide."""
    from convergebench.conductor.analyse import read_context

    _, context = read_context(root)
    return decide(question, Scores(context, question).differences)


def look_line(found: UntilDecision) -> str:
    """One line after a look."""
    question = found.question
    parts = [f"{one.one} minus {one.other} {signed(one.low)} to {signed(one.high)}" for one in found.findings]
    shown = "; ".join(parts[:3]) + (f"; {len(parts) - 3} more" if len(parts) > 3 else "")
    return f"after {found.images} of {counted(len(question.order), 'image')}: {shown}"


def ending_lines(found: UntilDecision, prepared: Prepared, done: Mapping[tuple[str, str], int]) -> list[str]:
    """Whether it was decided, and which calls and dollars were not needed."""
    left = forecast(prepared.chains, prepared.editors, done)
    whole = forecast(prepared.chains, prepared.editors, {})
    calls, every = sum(row.calls for row in left), sum(row.calls for row in whole)
    known = [row.dollars for row in left if row.dollars is not None]
    price = f", ${sum(known):,.2f}" if sum(known) else ""
    saved = f"{calls:,} of {every:,} calls were not needed{price}" if found.settled else ""
    return [stopped_sentence(found), *([saved] if saved and calls else [])]


def _reached(found: UntilDecision) -> int:
    """The images of the comparison that has fewest, of those that still need some."""
    running = [one for one in found.findings if {one.one, one.other} <= set(found.running)]
    return min((one.images for one in running if not one.decided), default=found.images)


def _looked(found: UntilDecision, look: int) -> bool:
    """Whether everything that belongs to this look is there."""
    return _reached(found) >= look and not any(one.partial for one in found.findings if not one.decided)
