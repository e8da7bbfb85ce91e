"""What a study declares: how its cases are edited and compared, and what happens to the results afterwards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Self

from pydantic import BaseModel

from convergebench.documents import Strict
from convergebench.errors import ConvergeBenchError, Prerequisite
from convergebench.registry import load, third_party
from convergebench.studies._table import TABLE
from convergebench.studies.units import ROUND, Unit
from convergebench.types import Capabilities, Case, EditPair, Settings, SourceImage, State, Steps

Sources = Sequence[tuple[SourceImage, State]]
"""The untouched images, each with the state a chain starts from."""


class BaseStudy(ABC):
    """The base class of every study; `convergebench.studies.roundtrip` is the model to follow.

    A subclass is a frozen dataclass with `name` and `settings` among its fields. The class attributes say what follows
    from the study; every part is the name of a built-in or plug-in, or `module:name`.
    """

    Parameters: ClassVar[type[BaseModel]] = Strict
    """The study's own table in the study file, named after the study; without parameters unless it says otherwise."""

    unit: ClassVar[Unit] = ROUND
    """The noun for n in the terminal, tables and pages."""
    changes_stay: ClassVar[bool] = False
    """Whether edits are meant to stay, so that later images need not show the source again."""
    roles: ClassVar[tuple[str, ...]] = ()
    """The roles that its `Ask`s go to: writer, rewriter, judge, reader, rater, or others."""
    rubrics: ClassVar[tuple[str, ...]] = ()
    """Rubrics (names or paths) that its `Ask`s are made from: a run whose rubrics have changed does not continue."""
    metrics: ClassVar[str] = "default"
    """Its default set of metrics."""
    stages: ClassVar[tuple[str, ...]] = ("measure", "examine")
    """What is done after editing, in this order (`convergebench.stages`)."""
    failures: ClassVar[tuple[str, ...]] = ("edits",)
    """Detectors of failures that suit its runs, or sets of them (`edits`, `restorations`): what `all` stands for."""
    examines: ClassVar[bool] = False
    """Whether these look at every run of it unless the study file says which do (`[examine]`)."""
    analyses: ClassVar[tuple[str, ...]] = ("comparison",)
    """What is computed from the measurements, in this order (`convergebench.analyses`)."""
    sections: ClassVar[tuple[str, ...]] = (
        *("decay-wall", "score-traces", "failure-gallery"),
        *("ranking", "sensitivity", "curves", "survival", "failures", "onset", "variants", "trace", "settling"),
        *("breakdown", "adherence", "diagnostics", "worst", "worn", "chains", "cost", "made", "terms"),
    )
    """Sections of the report in order (`convergebench.sections`); one that has nothing to show is left out."""
    exports: ClassVar[tuple[str, ...]] = ("measurements", "labels")
    """Tables that `cbench export` writes next to the images (`convergebench.exports`)."""

    name: str
    """As in the study file."""
    settings: Settings
    """The settings of every call."""

    @classmethod
    def of(cls, parameters: Any, settings: Settings) -> Self:
        """The study with these parameters; by default its fields have their names."""
        fields: dict[str, Any] = {**dict(parameters), "settings": settings}
        return cls(**fields)

    def pictures(self, images: Sequence[SourceImage]) -> Sequence[SourceImage]:
        """What chains start from and are compared with, made from the suite's images; by default the images."""
        return images

    @abstractmethod
    def cases(self, sources: Sources, pairs: Sequence[EditPair]) -> list[Case]:
        """Every case, replicates included."""

    @abstractmethod
    def steps(self, case: Case) -> Steps:
        """Yield Edit, Ask and Compare; receive State and Reply."""

    @abstractmethod
    def calls(self, case: Case) -> int:
        """How many edits a case takes at most; a chain that asks for more is stopped."""

    def questions(self, case: Case) -> Mapping[str, int]:
        """Role → how many questions a finished case asks it at most, for forecasts."""
        return {}

    def rounds_of(self, case: Case) -> int:
        """How many rounds a finished case has; one per edit unless the study says otherwise."""
        return self.calls(case)

    def edits(self, cases: Sequence[Case]) -> dict[str, dict[str, Any]]:
        """Label → instructions, for the manifest: other instructions under the same label are another study."""
        return {}

    def fixed(self) -> Mapping[str, Any]:
        """Parameters that may not change while a run grows."""
        return {}

    def settings_of(self, case: Case) -> Settings:
        """The settings of one case's calls, if cases differ."""
        return self.settings

    def unneeded(self, case: Case, capabilities: Capabilities) -> str:
        """Why an editor of these capabilities would learn nothing from a case, which it then skips; empty if not so."""
        return ""

    @property
    def leaves_out(self) -> bool:
        """Whether an editor that does not support a case's settings skips the case; else the study is refused."""
        return False


def load_study(name: str) -> type[BaseStudy]:
    """The class of a study by its name."""
    found = load("studies", name)
    if not (isinstance(found, type) and issubclass(found, BaseStudy)):
        raise Prerequisite(f"study '{name}' cannot be used: it should inherit convergebench.studies.base.BaseStudy")
    fault = _fault_of(found)
    if fault:
        raise Prerequisite(f"study '{name}' cannot be used: {fault}")
    return found


def _fault_of(study: type[BaseStudy]) -> str:
    """What is wrong with a study's declarations, as far as they can be read without it; empty if nothing."""
    if study.__abstractmethods__:
        return f"it does not define {', '.join(sorted(study.__abstractmethods__))}"
    for attribute in ("roles", "rubrics", "stages", "failures", "analyses", "sections", "exports"):
        declared = getattr(study, attribute)
        if not (isinstance(declared, tuple | list) and all(isinstance(name, str) for name in declared)):
            return f'{attribute} should be a tuple of names; a single one is written ("name",)'
    if not isinstance(study.unit, Unit):
        return "unit should be a convergebench.studies.units.Unit"
    if not (isinstance(study.Parameters, type) and issubclass(study.Parameters, BaseModel)):
        return "Parameters should be a class that inherits convergebench.documents.Strict"
    return ""


def study_code(name: str) -> AbstractContextManager[None]:
    """Around calls of a study's methods: what a third party's raise becomes an error of one line."""
    return third_party(f"the study '{name}'", built_in=name in TABLE)


def study_of(name: str) -> type[BaseStudy]:
    """The class of the study that a run was made with; `BaseStudy` if it is not installed here (see `missing_study`).

    Its declarations are needed to analyse, show and export the run.
    """
    try:
        return _study_of_run(name)
    except ConvergeBenchError:
        return BaseStudy


def missing_study(name: str) -> str:
    """Why a run's own analyses, sections and exports cannot be shown here; empty if they can."""
    try:
        _study_of_run(name)
    except ConvergeBenchError as error:
        return f"{error}; the run is shown with the general sections only"
    return ""


def _study_of_run(name: str) -> type[BaseStudy]:
    if name == "recorded":  # for imports only: not registered, since a study file cannot ask for it
        from convergebench.studies.recorded import Recorded

        return Recorded
    return load_study(name)
