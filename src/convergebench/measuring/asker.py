"""Asking a judge, a rater or a reader on behalf of metrics, and reading values out of the answers.

One question about a comparison serves every metric that reads its rubric. Answers are journalled before anything is
made of them, so what was asked once is never asked, or paid for, again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import NamedTuple

from convergebench.engine.call_group import CallGroup
from convergebench.engine.caller import Caller
from convergebench.engine.channel import StepFailed, Stopped
from convergebench.engine.edit_calls import ChainPosition
from convergebench.engine.retry import RetryPolicy
from convergebench.engine.role_calls import Answer, Question, RoleEndpoint
from convergebench.errors import BudgetSpent, ConvergeBenchError, Prerequisite, StudyError, Unavailable, Unmeasurable
from convergebench.ids import fingerprint
from convergebench.metrics.base import Reading
from convergebench.metrics.judged._asked import AskedMetric, ParsedReply
from convergebench.progress import Progress
from convergebench.roles import require_role
from convergebench.roles.base import Answered, Role
from convergebench.rubrics.rubric import Rubric, load_rubric, question
from convergebench.store.journal import Journal

OPEN_AT_ONCE = 256
"""Comparisons that may be under way together."""


@dataclass(frozen=True)
class AskedComparison:
    """A comparison that questions are asked about."""

    role: str
    """The kind of comparison."""
    pictures: Mapping[str, str]
    """`subject`, `reference` and `via` → image id, as far as there are any."""
    words: Mapping[str, str] = field(default_factory=dict)
    """Values of a rubric's placeholders: instruction, forward, reasoning."""
    operation: str | None = None
    position: ChainPosition | None = None
    """Its chain and position; None for files outside a run."""


def asked_fingerprint(metric: AskedMetric, roles: Mapping[str, Role]) -> str:
    """A hash of all that an asked metric's values depend on: its rubrics, who answers, how often."""
    role = role_of(metric, roles)
    rubrics = {kind: rubric_of(metric, kind, role).fingerprint for kind in metric.rubrics}
    options = {"rubrics": rubrics, "role": role.fingerprint, "repeats": role.repeats}
    return fingerprint(metric.facts.name, metric.facts.version, options)


def role_of(metric: AskedMetric, roles: Mapping[str, Role]) -> Role:
    """The role that answers for a metric; the error says what to write into the study file."""
    return roles[require_role(metric.facts.asks, roles, metric.facts.name)]


def rubric_of(metric: AskedMetric, kind: str, role: Role) -> Rubric:
    """The rubric that a metric uses for a kind of comparison, or the role's replacement of it."""
    shipped = metric.rubric_for(kind)
    if shipped is None:
        raise StudyError(f"{metric.facts.name} is not asked about a comparison of the kind '{kind}'")
    rubric = load_rubric(role.rubrics.get(shipped, shipped))
    role.require(rubric.name)
    numbers = {field.name for field in rubric.reply.fields if field.scale is not None}
    for name in metric.fields:
        if name not in numbers:
            raise StudyError(f"rubric '{rubric.name}' has no number '{name}', which {metric.facts.name} reads")
    return rubric


class _RoleCalls(NamedTuple):
    endpoint: RoleEndpoint
    caller: Caller[Question, Answered, Answer]


class Asker:
    """Asks about comparisons and reads the answers. One per session."""

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
        self.roles = roles
        self._read = read
        self._calls = CallGroup(journal, max_cost=max_cost, retry=retry, progress=progress)
        self.progress = self._calls.progress
        self._role_calls: dict[str, _RoleCalls] = {}
        self._rubrics: dict[tuple[str, str], Rubric] = {}

    def stop(self, reason: ConvergeBenchError) -> None:
        """Ask no further question; the answers to those in flight are waited for."""
        self._calls.stop(reason)

    @property
    def stopped(self) -> str | None:
        """Why no further question is asked, or None."""
        return next(iter(self._calls.stopped), None)

    async def readings(self, about: AskedComparison, metrics: Sequence[AskedMetric]) -> dict[str, Reading]:
        """Each metric's value for one comparison; metrics that read the same rubric share the question."""
        found: dict[str, Reading] = {}
        asked: dict[tuple[str, str], list[Answer] | Reading] = {}
        for metric in metrics:
            rubric = self._rubric(metric, about.role)
            shared = (metric.facts.asks, rubric.fingerprint)
            if shared not in asked:
                asked[shared] = await self._ask(metric.facts.asks, rubric, about)
            answers = asked[shared]
            found[metric.facts.name] = (
                answers if isinstance(answers, Reading) else read_answers(metric, rubric, answers)
            )
        return found

    def _rubric(self, metric: AskedMetric, kind: str) -> Rubric:
        """Read once: a file that changes meanwhile must not change half of the questions."""
        key = (metric.facts.name, kind)
        if key not in self._rubrics:
            self._rubrics[key] = rubric_of(metric, kind, role_of(metric, self.roles))
        return self._rubrics[key]

    async def _ask(self, asks: str, rubric: Rubric, about: AskedComparison) -> list[Answer] | Reading:
        """One answer per repeat, or why the question cannot be asked."""
        for name in rubric.pictures:
            if name not in about.pictures:
                return Reading(None, "no-reference", f"there is no {name} image to show")
        for word in rubric.needs:
            if not about.words.get(word, "").strip():
                if word == "reasoning":
                    return Reading(None, "no-reasoning", "the editor gave no summary of its reasoning")
                return Reading(None, "no-instruction", f"the question needs the {word}, which was not recorded")
        endpoint, caller = self._calls_of(asks)
        images = tuple(about.pictures[name] for name in rubric.pictures)
        # a judge that measures pictures needs the operation; questions about text alone do not depend on it
        payload = question(rubric, about.words, operation=about.operation if images else None)

        async def pictures() -> tuple[bytes, ...]:
            return tuple([await self._read(image) for image in images])

        # keyed by the pictures: equal pictures of a settled editor, or equal summaries, are asked about once
        repeats = [
            endpoint.question(payload, images, pictures, repeat, position=about.position)
            for repeat in range(endpoint.role.repeats)
        ]
        # all answers are paid for: wait for them before raising the first error
        answers = await asyncio.gather(*map(caller.answer, repeats), return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        return [answer for answer in answers if isinstance(answer, Answer)]

    def _calls_of(self, asks: str) -> _RoleCalls:
        """Made for the first question: a limit on cost needs the prices of only those roles that are asked."""
        if asks not in self._role_calls:
            endpoint = RoleEndpoint(self.roles[asks], asks, journal=self._calls.journal)
            self._role_calls[asks] = _RoleCalls(endpoint, self._calls.caller(endpoint))
        return self._role_calls[asks]

    async def each(
        self,
        comparisons: Sequence[tuple[AskedComparison, Sequence[AskedMetric]]],
        done: Callable[[int, dict[str, Reading]], Awaitable[None]],
    ) -> int:
        """Call `done` with the readings of each comparison; returns how many failed after all attempts."""
        room, failed = asyncio.Semaphore(OPEN_AT_ONCE), 0
        fatal: ConvergeBenchError | None = None

        async def one(index: int, about: AskedComparison, metrics: Sequence[AskedMetric]) -> None:
            nonlocal failed, fatal
            try:
                await done(index, await self.readings(about, metrics))
            except StepFailed as failure:
                failed += 1
                self.progress.failures += 1
                self.progress.note = str(failure)
            except (Stopped, Unavailable):
                pass
            except BudgetSpent as limit:
                self.stop(limit)
            except (Prerequisite, StudyError) as reason:  # no question can be asked; answers in flight may still come
                fatal = fatal or reason
                self.stop(Stopped(str(reason)))
            finally:
                room.release()

        try:
            async with asyncio.TaskGroup() as group:
                for index, (about, metrics) in enumerate(comparisons):
                    await room.acquire()
                    group.create_task(one(index, about, metrics))
        finally:
            await self._calls.close()
        if fatal is not None:
            raise fatal
        return failed


def read_answers(metric: AskedMetric, rubric: Rubric, answers: Sequence[Answer]) -> Reading:
    """The mean of the valid answers, with their spread in the detail; no value if none is valid."""
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
            values.append(metric(ParsedReply(answer.value, scales)))
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
