"""Putting questions to a judge, a rater or a reader, and reading values out of the answers.

One question about a comparison serves every metric that reads its rubric. Answers are journalled before anything is
made of them, so what was asked once is never asked, or paid for, again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Any

from convergebench.engine.budget import Budget
from convergebench.engine.ledger import Ledger
from convergebench.engine.line import StepFailed, Stopped
from convergebench.engine.progress import Progress
from convergebench.engine.retry import RetryPolicy
from convergebench.engine.roles import Heard, Question, Questions
from convergebench.errors import BudgetSpent, ConvergeBenchError, Prerequisite, StudyError, Unmeasurable
from convergebench.ids import answer_id, fingerprint
from convergebench.metrics.base import Reading
from convergebench.metrics.judged._asked import AskedMetric, Reply
from convergebench.registry import suggest
from convergebench.roles.base import Role
from convergebench.rubrics.rubric import Rubric, load_rubric, question
from convergebench.store.journal import Journal

OPEN_AT_ONCE = 256
"""Comparisons that may be under way together."""


@dataclass(frozen=True)
class Matter:
    """What a question is about: the pictures by their ids, the words they were made with, the kind of comparison."""

    role: str
    pictures: Mapping[str, str]
    words: Mapping[str, str] = field(default_factory=dict)
    operation: str | None = None


def asked_fingerprint(metric: AskedMetric, roles: Mapping[str, Role]) -> str:
    """What an asked metric is, in one word: its rubrics, who answers, how often."""
    role = role_of(metric, roles)
    rubrics = {kind: rubric_of(metric, kind, role).fingerprint for kind in metric.rubrics}
    options = {"rubrics": rubrics, "role": role.fingerprint, "repeats": role.repeats}
    return fingerprint(metric.facts.name, metric.facts.version, options)


def role_of(metric: AskedMetric, roles: Mapping[str, Role]) -> Role:
    """Who answers for a metric, or what to write into the study file."""
    wanted = metric.facts.asks
    if wanted not in roles:
        raise StudyError(
            f"{metric.facts.name} asks a '{wanted}', and none is configured{suggest(wanted, roles)}; "
            f'add [roles.{wanted}] with kind = "served", base_url and model to the study file, or to a file for --roles'
        )
    return roles[wanted]


def rubric_of(metric: AskedMetric, kind: str, role: Role) -> Rubric:
    """The rubric a metric reads for a kind of comparison: the role's own in its place, if it has one."""
    name = metric.rubric_for(kind)
    if name is None:
        raise StudyError(f"{metric.facts.name} is not asked about a comparison of the kind '{kind}'")
    rubric = load_rubric(role.rubrics.get(name, name))
    role.require(rubric.name)
    numbers = {field.name for field in rubric.reply.fields if field.scale is not None}
    for wanted in metric.fields:
        if wanted not in numbers:
            raise StudyError(f"rubric '{rubric.name}' has no number '{wanted}', which {metric.facts.name} reads")
    return rubric


class Asker:
    """Puts questions about matters and reads the answers. One per session."""

    def __init__(
        self,
        journal: Journal,
        read: Callable[[str], Awaitable[bytes]],
        roles: Mapping[str, Role],
        *,
        max_cost: float | None = None,
        retry: RetryPolicy | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.journal, self.roles = journal, roles
        self.progress = progress or Progress()
        self._read = read
        self._ledger = Ledger(journal, Budget(max_cost, spent=journal.dollars()), self.progress)
        self._retry = retry or RetryPolicy()
        self._questions: dict[str, Questions] = {}
        self._rubrics: dict[tuple[str, str], Rubric] = {}
        self._halted: ConvergeBenchError | None = None

    def stop(self, reason: ConvergeBenchError) -> None:
        """Begin no further question; those in flight come home."""
        self._halted = self._halted or reason
        for questions in self._questions.values():
            questions.line.stop(reason)

    @property
    def stopped(self) -> str | None:
        """Why no further question is put, or None."""
        reasons = [self._halted, *(questions.line.stopping for questions in self._questions.values())]
        return next((str(reason) for reason in reasons if reason is not None), None)

    async def readings(self, matter: Matter, metrics: Sequence[AskedMetric]) -> dict[str, Reading]:
        """Each metric's value for one matter; metrics that read the same rubric share the question."""
        found: dict[str, Reading] = {}
        heard: dict[tuple[str, str], list[Heard] | Reading] = {}
        for metric in metrics:
            rubric = self._rubric(metric, matter.role)
            shared = (metric.facts.asks, rubric.fingerprint)
            if shared not in heard:
                heard[shared] = await self._heard(metric.facts.asks, rubric, matter)
            answers = heard[shared]
            found[metric.facts.name] = (
                answers if isinstance(answers, Reading) else read_answers(metric, rubric, answers)
            )
        return found

    def _rubric(self, metric: AskedMetric, kind: str) -> Rubric:
        """Read once: a file that is changed while questions are put must not change half of them."""
        key = (metric.facts.name, kind)
        if key not in self._rubrics:
            self._rubrics[key] = rubric_of(metric, kind, role_of(metric, self.roles))
        return self._rubrics[key]

    async def _heard(self, asks: str, rubric: Rubric, matter: Matter) -> list[Heard] | Reading:
        for name in rubric.pictures:
            if name not in matter.pictures:
                return Reading(None, "no-reference", f"there is no {name} picture to show")
        for word in rubric.needs:
            if not matter.words.get(word, "").strip():
                if word == "reasoning":
                    return Reading(None, "no-reasoning", "the editor gave no summary of what it thought")
                return Reading(None, "no-instruction", f"the question needs the {word}, and nobody wrote it down")
        line = self._line(asks)
        images = tuple(matter.pictures[name] for name in rubric.pictures)
        # what was asked for helps those who measure pictures; words alone are the same question after any operation
        payload = question(rubric, matter.words, operation=matter.operation if images else None)
        answers = await asyncio.gather(
            *(line.answer(self._question(asks, images, payload, repeat)) for repeat in range(line.role.repeats)),
            return_exceptions=True,  # the others are paid for: they come home before the first error is told
        )
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        return [answer for answer in answers if isinstance(answer, Heard)]

    def _question(self, asks: str, images: tuple[str, ...], payload: Mapping[str, Any], repeat: int) -> Question:
        role = self.roles[asks]
        # keyed by the pictures: an editor that has settled is not judged again and again; nor is a summary read twice
        key = answer_id(parents=images, role=asks, payload=payload, fingerprint=role.fingerprint, replicate=repeat)

        async def pictures() -> tuple[bytes, ...]:
            return tuple([await self._read(image) for image in images])

        return Question(key, payload, pictures, repeat)

    def _line(self, asks: str) -> Questions:
        if asks not in self._questions:
            self._questions[asks] = Questions(
                self.roles[asks],
                name=asks,
                journal=self.journal,
                ledger=self._ledger,
                retry=self._retry,
                progress=self.progress,
            )
            if self._halted is not None:
                self._questions[asks].line.stop(self._halted)
        return self._questions[asks]

    async def each(
        self,
        matters: Sequence[tuple[Matter, Sequence[AskedMetric]]],
        done: Callable[[int, dict[str, Reading]], Awaitable[None]],
    ) -> int:
        """Readings of many, as they come; returns how many had no answer after all attempts."""
        room, failed = asyncio.Semaphore(OPEN_AT_ONCE), 0
        fatal: ConvergeBenchError | None = None

        async def one(index: int, matter: Matter, metrics: Sequence[AskedMetric]) -> None:
            nonlocal failed, fatal
            try:
                await done(index, await self.readings(matter, metrics))
            except StepFailed as failure:
                failed += 1
                self.progress.failures += 1
                self.progress.note = str(failure)
            except Stopped:
                pass
            except BudgetSpent as limit:
                self.stop(limit)
            except (Prerequisite, StudyError) as reason:  # no question can be put; those in flight may still come home
                fatal = fatal or reason
                self.stop(Stopped(str(reason)))
            finally:
                room.release()

        try:
            async with asyncio.TaskGroup() as group:
                for index, (matter, metrics) in enumerate(matters):
                    await room.acquire()
                    group.create_task(one(index, matter, metrics))
        finally:
            for questions in self._questions.values():
                await questions.role.close()
        if fatal is not None:
            raise fatal
        return failed


def read_answers(metric: AskedMetric, rubric: Rubric, answers: Sequence[Heard]) -> Reading:
    """The mean of what can be read, with the spread in the detail; never a guess for what cannot."""
    scales = {field.name: field.scale for field in rubric.reply.fields if field.scale is not None}
    values: list[float] = []
    missing: dict[str, int] = {}
    why = ""
    for answer in answers:
        if answer.value is None:
            status = "refused" if answer.refused else "unparsable"
            missing[status] = missing.get(status, 0) + 1
            continue
        try:
            values.append(metric(Reply(answer.value, scales)))
        except Unmeasurable as reason:
            missing[reason.status] = missing.get(reason.status, 0) + 1
            why = str(reason)
    models = ", ".join(dict.fromkeys(answer.model for answer in answers))
    parts = [models]
    if len(answers) > 1:
        parts.append(f"{len(values)} of {len(answers)} replies")
    if len(values) > 1:
        parts.append(f"standard deviation {stdev(values):.3g}")
    parts += [f"{count} {status}" for status, count in missing.items()]
    detail = "; ".join([*parts, *([why] if why and not values else [])])
    if not values:
        return Reading(None, max(missing, key=lambda status: missing[status]), detail)
    return Reading(fmean(values), "ok", detail)
