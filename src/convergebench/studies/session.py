"""One instruction after another, none undone: how much does an ordinary editing session change an image?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from pydantic import Field

from convergebench.documents import Strict
from convergebench.edits.pairs import misfit
from convergebench.edits.sessions import EditSession, load_sessions
from convergebench.errors import StudyError
from convergebench.registry import suggest
from convergebench.studies.base import BaseStudy, Sources
from convergebench.studies.roundtrip import LAGS
from convergebench.studies.units import STEP, Unit
from convergebench.types import Case, Compare, Edit, EditPair, Settings, Steps


class SessionTable(Strict):
    """Which sessions are run."""

    sessions: tuple[str, ...] = ()
    """Ids of sessions; empty = all that fit an image's kind."""
    replicates: Annotated[int, Field(ge=1, le=1000)] = 1
    """Runs of each case; replicates never share a call."""


@dataclass(frozen=True)
class SessionStudy(BaseStudy):
    """Runs the steps of a session; every step is a round, compared with the source and the step before."""

    Parameters: ClassVar[type[SessionTable]] = SessionTable
    unit: ClassVar[Unit] = STEP._replace(way="session")
    changes_stay: ClassVar[bool] = True
    metrics: ClassVar[str] = "replicate"
    analyses: ClassVar[tuple[str, ...]] = ("comparison", "decay")

    sessions: tuple[EditSession, ...] = field(default_factory=load_sessions)
    settings: Settings = field(default_factory=Settings)
    replicates: int = field(default=1, repr=False)
    name: str = "session"

    @classmethod
    def of(cls, parameters: SessionTable, settings: Settings) -> SessionStudy:
        """The study of a study file."""
        known = {session.id: session for session in load_sessions()}
        for name in parameters.sessions:
            if name not in known:
                raise StudyError(f"unknown session '{name}'{suggest(name, known)} (known: {', '.join(known)})")
        chosen = tuple(known[name] for name in parameters.sessions or known)
        return cls(chosen, settings, parameters.replicates)

    def cases(self, sources: Sources, pairs: Sequence[EditPair]) -> list[Case]:
        """Every source with every session that suits its kind and what it holds; edit pairs are not used."""
        return [
            Case(
                f"{image.id}/{session.id}/{replicate}",
                *(state, image.id, image.kind),
                replicate=replicate,
                label=session.id,
                category="session",
            )
            for image, state in sources
            for session in self.sessions
            if image.kind in session.kinds and not misfit(image.holds, session)
            for replicate in range(self.replicates)
        ]

    def steps(self, case: Case) -> Steps:
        """Each instruction in turn."""
        yield Compare(case.source, None, "source", 0, 0)
        states = [case.source]
        for number, instruction in enumerate(self._session(case).steps, start=1):
            state = yield Edit(states[-1], instruction, self.settings)
            yield Compare(state, states[-1], "step", number, number, operation="change")
            yield Compare(state, case.source, "return", number, number)
            for lag in range(1, min(LAGS, number) + 1):
                yield Compare(state, states[-lag], "lag", number, number, lag=lag)
            states.append(state)

    def calls(self, case: Case) -> int:
        """One per instruction."""
        return len(self._session(case).steps)

    def edits(self, cases: Sequence[Case]) -> dict[str, dict[str, Any]]:
        """The instructions of each session."""
        return {case.label: {"steps": list(self._session(case).steps)} for case in cases}

    def _session(self, case: Case) -> EditSession:
        return next(session for session in self.sessions if session.id == case.label)
