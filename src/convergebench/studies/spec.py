"""A study file: TOML in, a checked `StudySpec` out. The file is the experiment; flags are circumstances."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    create_model,
    field_validator,
    model_serializer,
)  # fmt: skip

from convergebench.documents import Strict, check_document, read_toml
from convergebench.errors import StudyError
from convergebench.roles.tables import RoleTable
from convergebench.studies.analysis_settings import AnalysisSettings
from convergebench.studies.base import load_study
from convergebench.studies.values import Line, Name, Seed, require_plain
from convergebench.types import Kind, Settings


class ImagesTable(Strict):
    """Which source images."""

    suite: str = "builtin"
    """A suite's name, a folder, or a manifest."""
    kinds: tuple[Kind, ...] = ()
    """Kinds of images; empty = all that the suite has."""
    limit: Annotated[int, Field(ge=0)] = 0
    """At most this many, taken evenly from each kind; 0 = all."""
    partial: bool = False
    """Whether pictures of the suite that were not fetched are left out and named; else the study waits for them."""


class EditsTable(Strict):
    """Which edit pairs."""

    pairs: tuple[str, ...] = ("v1",)
    """Sets (`v1`, `all`, `later`), categories, ids, or a TOML file of pairs."""
    wordings: Annotated[int, Field(ge=1, le=8)] = 1
    """How many phrasings of each pair."""


_TAKEN = {"all": "every editor together", "input": "the degraded picture", "clean": "the clean picture"}
"""Names that no editor can have → what they mean in tables."""


class EditorTable(BaseModel):
    """An editor with options under a name of its own: `{name = "sim-harsh-jpeg", use = "sim-jpeg", quality = 20}`."""

    model_config = ConfigDict(extra="allow", frozen=True)
    name: Name
    use: str
    settings: dict[str, Any] = Field(default_factory=dict)
    """Settings for this editor alone, over those of the study."""

    @property
    def options(self) -> dict[str, Any]:
        """Everything beside name, use and settings goes to the editor."""
        return dict(self.model_extra or {})

    @field_validator("name")
    @classmethod
    def _name_is_free(cls, value: str) -> str:
        if taken := _TAKEN.get(value):
            raise ValueError(f"stands for {taken} in tables; choose another name")
        return value


class SettingsTable(Strict):
    """What every call carries beside the words."""

    seed: Seed | None = None
    """Unset: editors that take a seed get one drawn from each step's key. Set: an editor that takes none is refused."""
    seed_policy: Literal["per-step", "fixed"] = "per-step"
    """`per-step`: drawn anew for every step from `seed`; `fixed`: the same for all."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    resolution: Name | Annotated[tuple[Name, ...], Field(min_length=1)] | None = None
    """`1K`, `2K`, `4K`; a list takes turns, step by step."""
    aspect: Annotated[str, StringConstraints(pattern=r"^\d+:\d+$")] | None = None
    """Width to height, such as `16:9`; unset: as the image has it."""
    session: Literal["fresh", "single"] = "fresh"
    """`single`: every call carries all earlier turns of its chain."""
    reasoning: bool = False
    """Ask for a summary of what the model thought."""

    def as_settings(self) -> Settings:
        """The engine's own form."""
        fields = self.model_dump()
        if isinstance(self.resolution, tuple):
            fields |= {"resolution": None, "interleaved": self.resolution}
        return Settings(**fields)


class MeasureTable(Strict):
    """What is measured, and how sizes are made comparable."""

    metrics: tuple[str, ...] = ("default",)
    """Metrics and sets of them (`cbench list metrics`); unset = the set of the study."""
    align: Literal["auto", "strict", "fit", "crop-aware"] = "auto"
    """`auto`: equal sizes as they are, others laid over each other. `strict`: equal sizes only. `fit`: stretched to the
    source's size. `crop-aware`: always laid over each other. A run that is there keeps its own unless this is said.
    Flag: `--align`."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Of networks. Where they run is a flag: `--device`."""


class ExamineTable(Strict):
    """Which failures are looked for when editing and measuring are done."""

    detectors: tuple[str, ...] | None = None
    """Names of detectors or of sets of them, or `all`; empty = none; unset = those of the study (most have none).
    Later: `cbench examine`."""


class TrackTable(Strict):
    """Which experiment tracker is told about the run; it changes no number."""

    tracker: str = Field(default="", alias="with")
    """`tensorboard`, `mlflow` or `wandb`; empty = none. Flag: `--track`."""


class StudySpec(Strict):
    """A whole study file. The study's own table, named after it, is added by `file_model`."""

    study: str = "roundtrip"
    title: Line = ""
    images: ImagesTable = ImagesTable()
    edits: EditsTable = EditsTable()
    editors: tuple[EditorTable, ...] = ()
    settings: SettingsTable = SettingsTable()
    measure: MeasureTable = MeasureTable()
    examine: ExamineTable = ExamineTable()
    roles: dict[str, RoleTable] = Field(default_factory=dict)
    """`[roles.NAME]`: who answers questions; NAME is writer, rewriter, judge, reader, rater or a role that it asks."""
    analysis: AnalysisSettings = AnalysisSettings()
    track: TrackTable = TrackTable()

    @model_serializer(mode="wrap")
    def _without_empty_tracker(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A study that names no tracker reads as it did before there were any."""
        written: dict[str, Any] = write(self)
        if not self.track.tracker:
            written.pop("track", None)
        return written

    @property
    def parameters(self) -> BaseModel:
        """The study's own table."""
        table: BaseModel = getattr(self, self.study.replace("-", "_"))
        return table

    def settings_of(self, editor: EditorTable) -> SettingsTable:
        """The study's settings, under those that this editor has of its own."""
        merged = {**self.settings.model_dump(mode="json"), **editor.settings}
        return check_document(merged, SettingsTable, where=f"editor '{editor.name}': settings")

    @field_validator("editors", mode="before")
    @classmethod
    def _names_are_short_for_tables(cls, value: Any) -> Any:
        if not isinstance(value, list | tuple):
            return value
        return [{"name": entry, "use": entry} if isinstance(entry, str) else entry for entry in value]

    @field_validator("editors")
    @classmethod
    def _names_are_unique(cls, value: tuple[EditorTable, ...]) -> tuple[EditorTable, ...]:
        seen: set[str] = set()
        for editor in value:
            if editor.name in seen:
                raise ValueError(f"two editors are called '{editor.name}'; give one another name")
            seen.add(editor.name)
        return value


@cache
def file_model(study: str) -> type[StudySpec]:
    """The model of a study file: what all have, and the table of this study."""
    parameters: type[BaseModel] = load_study(study).Parameters
    table: Any = (parameters, Field(default_factory=parameters, alias=study))
    name = study.replace("-", "_")
    if name in StudySpec.model_fields or hasattr(StudySpec, name):
        raise StudyError(f"study '{study}' cannot be used: every study file has '{name}' already; give it another name")
    return create_model("StudyFile", __base__=StudySpec, **{name: table})


def read_spec(path: Path) -> StudySpec:
    """Read a study file, or one line that says what is wrong with it."""
    if not path.exists():
        raise StudyError(f"no study file at {path}; try: cbench run studies/roundtrip.toml")
    return parse_spec(read_toml(path), where=str(path))


def parse_spec(content: Mapping[str, Any], *, where: str = "study") -> StudySpec:
    """Check a study that has already been read."""
    require_plain(content, where=where)
    study = content.get("study", "roundtrip")
    if not isinstance(study, str):
        raise StudyError(f"{where}: study: should be a name (cbench list studies)")
    try:
        model = file_model(study)
    except StudyError as error:
        raise StudyError(f"{where}: {error}") from error
    return check_document(_with_metrics(content, load_study(study).metrics), model, where=where)


def _with_metrics(content: Mapping[str, Any], own: str) -> Mapping[str, Any]:
    """The study file with the study's own set of metrics, where it says nothing about them."""
    measure = content.get("measure", {})
    if not isinstance(measure, Mapping) or "metrics" in measure or own == MeasureTable().metrics[0]:
        return content
    return {**content, "measure": {**measure, "metrics": [own]}}
