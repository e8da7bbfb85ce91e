"""Make editing data: write an instruction, edit, judge, retry; failures become preference pairs, successes continue.

The method of Pico-Banana-400K. A chain is one source with one edit type; where it is chosen for a session, more turns
follow on the accepted picture. Everything that is decided is a row (`Decision`), so nothing about a data set has to be
worked out from logs.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, pstdev
from types import MappingProxyType
from typing import Any, ClassVar

from convergebench.edits.taxonomy import EditType, select_types, taxonomy
from convergebench.errors import Refused
from convergebench.rubrics.rubric import load_rubric, question
from convergebench.studies.base import BaseStudy, Sources
from convergebench.studies.dealing import draw, shows
from convergebench.studies.factory_progress import SessionProgress
from convergebench.studies.factory_table import CRITERIA, FactoryTable
from convergebench.studies.units import Unit
from convergebench.texts import plain_line
from convergebench.types import Ask, Case, Compare, Decision, Edit, EditPair, Reply, Settings, State, Steps

NO_FACTS: Mapping[str, str] = MappingProxyType({})
LONGEST = 2000
"""Characters of an instruction; what a writer gives beyond them is no instruction."""


@dataclass(frozen=True)
class Factory(BaseStudy):
    """Instruction, edit, judgement, retry; then more turns."""

    Parameters: ClassVar[type[FactoryTable]] = FactoryTable
    unit: ClassVar[Unit] = Unit("turn", "turns", "turn", "turns")
    changes_stay: ClassVar[bool] = True
    roles: ClassVar[tuple[str, ...]] = ("detector", "writer", "rewriter", "judge", "inspector")
    rubrics: ClassVar[tuple[str, ...]] = (
        *("find-content", "write-instruction", "write-next-instruction", "rewrite-instruction"),
        *("judge-edit", "judge-two-edits", "inspect-quality"),
    )
    analyses: ClassVar[tuple[str, ...]] = ("factory",)
    sections: ClassVar[tuple[str, ...]] = (
        *("factory-funnel", "factory-examples", "factory-success", "factory-sessions", "factory-judge"),
        *("factory-calibration", "factory-composition", "chains", "cost", "made", "terms"),
    )
    exports: ClassVar[tuple[str, ...]] = ("measurements", "attempts", "products")

    table: FactoryTable = field(default_factory=FactoryTable)
    settings: Settings = field(default_factory=Settings)
    name: str = "factory"

    @classmethod
    def of(cls, parameters: FactoryTable, settings: Settings) -> Factory:
        """The study of a study file."""
        select_types(parameters.types)  # an unknown name is told before anything is done
        return cls(parameters, settings)

    # ---- what is laid out

    def cases(self, sources: Sources, pairs: Sequence[EditPair]) -> list[Case]:
        """Every source with its share of the edit types; edit pairs are not used.

        Types are dealt to one image after the other, so more images at the end change no case before them.
        """
        types = select_types(self.table.types)
        dealt: Counter[str] = Counter()
        cases = []
        for image, state in sources:
            fitting = [one for one in types if shows(image, one.needs) is not False]
            order = sorted(fitting, key=lambda one: (dealt[one.id], draw(self.table.seed, image.id, one.id)))
            for one in order[: self.table.per_image]:
                dealt[one.id] += 1
                known = "+".join(need for need in ("person", "text") if shows(image, need))
                case = f"{image.id}/{one.id}/0"
                cases.append(Case(case, state, image.id, image.kind, label=one.id, category=one.category, shows=known))
        return cases

    def calls(self, case: Case) -> int:
        """All attempts of all turns fail but the last of each."""
        return self.table.attempts * self.turns_of(case)

    def questions(self, case: Case) -> Mapping[str, int]:
        """Every reply is parsed at once, and every attempt is needed."""
        turns, table = self.turns_of(case), self.table
        judged = self.calls(case) * table.judged + turns * table.pairwise * 2 * (table.attempts - 1)
        asked = {"writer": turns, "rewriter": turns * table.short, "judge": judged}
        asked |= {"inspector": turns * (turns > 1 and table.least_quality > 0), "detector": int(self._must_look(case))}
        return asked

    def rounds_of(self, case: Case) -> int:
        """Turns."""
        return self.turns_of(case)

    def edits(self, cases: Sequence[Case]) -> dict[str, dict[str, Any]]:
        """The edit type behind each label; the words are the writer's."""
        return {case.label: {"edit_type": taxonomy()[case.label].name} for case in cases}

    def fixed(self) -> Mapping[str, Any]:
        """Nothing may change while a run grows: what was accepted before would have been decided otherwise."""
        # under names of its own: the settings of the calls have a seed too
        return {f"factory.{name}": value for name, value in self.table.model_dump(mode="json").items()}

    def turns_of(self, case: Case) -> int:
        """How many turns the case is planned to have: 1, or more if it was drawn for a session."""
        chance = random.Random(draw(self.table.seed, case.id, "session"))
        turns = chance.randint(*self.table.turns) if chance.random() < self.table.sessions else 1
        return min(turns, len(select_types(self.table.types)))  # each turn has a type of its own

    # ---- what is done

    def steps(self, case: Case) -> Steps:
        """One turn, or a session of several."""
        yield Compare(case.source, None, "source", 0, 0)
        edit_type, shown = yield from self._fitting_type(case)
        if edit_type is None:  # none of the study's types fits, and nobody asked for others
            none = {"turns_planned": 1, "turns_done": 0, "turns_fit": 0, "edit_type": case.label}
            yield Decision("end", {"outcome": "unfit", "ended": "unfit", **none})
            return
        chain = SessionProgress(case)
        types = [edit_type, *self._later_types(case, edit_type, shown, self.turns_of(case) - 1)]
        planned = len(types)  # fewer than drawn if no more types fit the picture
        for turn, one in enumerate(types, start=1):
            end = yield from self._turn(chain, turn, one)
            if end != "accepted":
                break
            if planned > 1:
                fit = yield from self._is_still_fit(chain, turn)
                if not fit:
                    end = "damaged"
                    break
        done = len(chain.instructions)
        outcome = "accepted" if done else end
        facts = {
            "outcome": outcome,
            "turns_planned": planned,
            "turns_done": done,
            "turns_fit": done - (end == "damaged"),
        }
        yield Decision("end", {**facts, "ended": end, "edit_type": edit_type.id})

    def _fitting_type(self, case: Case) -> Generator[Any, Any, tuple[EditType | None, frozenset[str]]]:
        """The case's type, or another of the study's if the picture does not show what it needs; and what it shows."""
        wanted = taxonomy()[case.label]
        shown = frozenset(case.shows.split("+")) - {""}
        if not self._must_look(case):
            return wanted, shown
        reply, asked = yield from self._ask("detector", (case.source,), "find-content", {})
        seen = reply.value or {}
        shown |= {need for need in ("person", "text") if seen.get(need, 0) >= 0.5}
        facts = {"person": seen.get("person"), "text": seen.get("text"), "seen": seen.get("seen", ""), "asked": asked}
        yield Decision("content", {**facts, "answer": reply.id})
        if wanted.needs in shown:
            return wanted, shown
        general = [one for one in select_types(self.table.types) if one.needs is None or one.needs in shown]
        other = min(general, key=lambda one: draw(self.table.seed, case.id, one.id), default=None)
        yield Decision("filtered", {"edit_type": wanted.id, "needs": wanted.needs, "instead": other and other.id})
        return other, shown

    def _later_types(self, case: Case, first: EditType, shown: frozenset[str], count: int) -> list[EditType]:
        """The types of the turns after the first, each once."""
        fitting = [one for one in select_types(self.table.types) if one.needs is None or one.needs in shown]
        others = [one for one in fitting if one.id != first.id]
        chance = random.Random(draw(self.table.seed, case.id, "turns"))
        return chance.sample(others, min(count, len(others)))

    def _turn(self, chain: SessionProgress, turn: int, edit_type: EditType) -> Generator[Any, Any, str]:
        """Write, edit and judge until an edit is accepted: `accepted`, `discarded` or `unwritten`."""
        written = yield from self._instruction(chain, turn, edit_type)
        if written is None:
            return "unwritten"
        rejected: list[State] = []
        for attempt in range(1, self.table.attempts + 1):
            chain.position += 1
            where = {"turn": turn, "attempt": attempt, "edit_type": edit_type.id, "position": chain.position}
            try:
                edited = yield Edit(chain.state, written, self.settings, draw=attempt - 1)
            except Refused as refusal:
                yield Decision("attempt", {**where, "accepted": False, "refused": plain_line(str(refusal))[:500]})
                continue
            for role in ("step", "forward", "attempt"):  # diagnostics, whether it was done, and all that compares
                yield Compare(edited, chain.state, role, turn, chain.position, operation=edit_type.operation)
            judgement = yield from self._judgement(chain.state, edited, written, edit_type)
            accepted = judgement["score"] is not None and self.table.accepts(judgement, judgement["score"])
            yield Decision("attempt", {**where, "state": edited.id, "accepted": accepted, **judgement})
            if accepted:
                if self.table.pairwise:
                    yield from self._pairs(chain.state, edited, rejected, written, edit_type, turn)
                chain.accept(edited, written)
                yield Compare(edited, chain.case.source, "return", turn, chain.position)
                return "accepted"
            rejected.append(edited)
        return "discarded"

    def _instruction(self, chain: SessionProgress, turn: int, edit_type: EditType) -> Generator[Any, Any, str | None]:
        rubric, words = "write-instruction", {"edit_type": edit_type.name}
        if chain.instructions:
            rubric, words = "write-next-instruction", words | {"history": chain.history}
        facts = {"edit_type": edit_type.id, "source": chain.case.source_id, "turn": str(turn)}
        reply, asked = yield from self._ask("writer", (chain.state,), rubric, words, facts, usable=_prompt)
        long = _prompt(reply.value or {})
        if not long:
            yield Decision("unwritten", {"turn": turn, "edit_type": edit_type.id, "answer": reply.id, "asked": asked})
            return None
        decided = {"turn": turn, "edit_type": edit_type.id, "long": long, "writer": reply.id, "asked": asked}
        if self.table.short:
            rewritten, again = yield from self._ask("rewriter", (), "rewrite-instruction", {"instruction": long})
            short = plain_line((rewritten.value or {}).get("short") or "")
            decided |= {"short": short[:LONGEST] or None, "rewriter": rewritten.id, "rewriter_asked": again}
        yield Decision("instruction", decided)
        return long

    def _judgement(
        self, before: State, edited: State, instruction: str, edit_type: EditType
    ) -> Generator[Any, Any, dict[str, Any]]:
        """Scores on the four criteria, their weighted mean, and how far the judge's replies differ."""
        facts = _facts(edit_type, instruction)
        replies, asked = [], 0
        for repeat in range(self.table.judged):
            words = {"instruction": instruction}
            reply, again = yield from self._ask("judge", (edited, before), "judge-edit", words, facts, repeat=repeat)
            replies.append(reply)
            asked += again
        values = [reply.value for reply in replies if reply.value is not None]
        found: dict[str, Any] = {"answers": [reply.id for reply in replies], "asked": asked, "parsed": len(values)}
        if not values:
            return {**found, "score": None, "spread": None, "reason": "the judge's reply could not be parsed"}
        scores = {name: fmean(value[name] for value in values) for name in CRITERIA}
        each = [self.table.weights.score(value) for value in values]
        return {
            **found,
            **scores,
            "score": self.table.weights.score(scores),
            "scores": each,
            "spread": pstdev(each) if len(each) > 1 else None,
            "reason": plain_line(values[0].get("reason", "")),
        }

    def _pairs(
        self, before: State, chosen: State, rejected: Sequence[State], instruction: str, edit_type: EditType, turn: int
    ) -> Generator[Any, Any, None]:
        """Each rejected edit against the accepted one, in both orders."""
        words, known = {"instruction": instruction}, _facts(edit_type, instruction)
        for other in rejected:
            sure: list[float | None] = []
            for pictures in ((chosen, other, before), (other, chosen, before)):
                reply, _ = yield from self._ask("judge", pictures, "judge-two-edits", words, known)
                sure.append(None if reply.value is None else float(reply.value["better"]))
            facts = {"turn": turn, "chosen": chosen.id, "rejected": other.id}
            # in the second order the chosen one was shown second, so its share is what is left
            second = None if sure[1] is None else 1.0 - sure[1]
            yield Decision("pair", {**facts, "chosen_first": sure[0], "chosen_second": second})

    def _is_still_fit(self, chain: SessionProgress, turn: int) -> Generator[Any, Any, bool]:
        if self.table.least_quality <= 0:
            return True
        pictures = (chain.state, chain.case.source)
        reply, asked = yield from self._ask("inspector", pictures, "inspect-quality", {"history": chain.history})
        quality = None if reply.value is None else float(reply.value["quality"])
        fit = quality is None or quality >= self.table.least_quality
        damage = [plain_line(one) for one in (reply.value or {}).get("damage") or []]
        yield Decision("inspection", {"turn": turn, "quality": quality, "fit": fit, "damage": damage, "asked": asked})
        return fit

    def _ask(
        self,
        role: str,
        states: tuple[State, ...],
        rubric: str,
        words: Mapping[str, str],
        facts: Mapping[str, str] = NO_FACTS,
        *,
        repeat: int = 0,
        usable: Callable[[Mapping[str, Any]], object] = bool,
    ) -> Generator[Any, Any, tuple[Reply, int]]:
        """The reply, asked again while it cannot be parsed or used; and how often it was asked."""
        payload = question(load_rubric(rubric), words, **facts)
        most = 1 + self.table.reasked
        reply = Reply("", None, "")
        for time in range(most):
            reply = yield Ask(role, states, payload, draw=repeat * most + time)
            if reply.value is not None and usable(reply.value):
                return reply, time + 1
        return reply, most

    def _must_look(self, case: Case) -> bool:
        """Whether nobody has said if the picture shows what the case's type needs."""
        needs = taxonomy()[case.label].needs
        return needs is not None and needs not in case.shows.split("+")


def _prompt(reply: Mapping[str, Any]) -> str:
    """The writer's first instruction; empty if there is none, or one too long to be one."""
    text = plain_line(next(iter(reply.get("prompts") or [""])))
    return text if len(text) <= LONGEST else ""


def _facts(edit_type: EditType, instruction: str) -> dict[str, str]:
    """For judges that measure; a model reads the question alone."""
    facts = {"edit_type": edit_type.id, "scope": edit_type.scope, "operation": edit_type.operation}
    return {**facts, "instruction": instruction}
