"""What stands on the shelf of studies: a protocol that knows its own parameters and lays out its own cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self

from pydantic import BaseModel

from convergebench.types import Case, EditPair, Settings, SourceImage, State, Steps

Sources = Sequence[tuple[SourceImage, State]]
"""The untouched images, each with the state a chain starts from."""


class StudyKind(Protocol):
    """A study as a plug-in writes it; `convergebench.studies.roundtrip` is the model to follow.

    It may also have `settings_of(case)`, where cases have settings of their own, and `leaves_out`, true if an editor
    that does not take them is spared such a case instead of ending the study.
    """

    Parameters: ClassVar[type[BaseModel]]
    """The study's own table in the study file, named after the study. Unknown keys should be forbidden."""

    @property
    def name(self) -> str:
        """As in the study file."""
        ...

    @classmethod
    def of(cls, parameters: Any, settings: Settings) -> Self:
        """The study with these parameters."""
        ...

    def cases(self, sources: Sources, pairs: Sequence[EditPair]) -> list[Case]:
        """Every case, replicates included."""
        ...

    def steps(self, case: Case) -> Steps:
        """Yield Edit, Ask and Compare; receive State and Reply."""
        ...

    def calls(self, case: Case) -> int:
        """How many edits a finished case takes."""
        ...

    def rounds_of(self, case: Case) -> int:
        """How many rounds a finished case has."""
        ...

    def edits(self, cases: Sequence[Case]) -> dict[str, dict[str, Any]]:
        """Label → the words behind it, for the manifest: other words under the same label are another study."""
        ...

    def fixed(self) -> Mapping[str, Any]:
        """Parameters that may not change while a run grows."""
        ...
