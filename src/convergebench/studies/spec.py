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
from convergebench.registry import is_in_file
from convergebench.roles.tables import RoleTable
from convergebench.studies.analysis_settings import AnalysisSettings
from convergebench.studies.base import load_study
from convergebench.studies.until_table import UntilTable
from convergebench.studies.values import Line, Name, Seed, require_plain
from convergebench.types import Kind, Resources, Settings


class ImagesTable(Strict):
    """Which source images."""

    suite: str = "builtin"
    """A suite's name, a folder, or a manifest."""
    kinds: tuple[Kind, ...] = ()
    """Kinds of images to use; empty = all that the suite has."""
    limit: Annotated[int, Field(ge=0)] = 0
    """Use at most this many, balanced over kinds; 0 = all."""
    partial: bool = False
    """Whether images of the suite that were not fetched are left out and listed; otherwise the study refuses to
    start."""


class EditsTable(Strict):
    """Which edit pairs."""

    pairs: tuple[str, ...] = ("v1",)
    """Sets (`v1`, `all`, `later`), categories, ids, or a TOML file of pairs."""
    wordings: Annotated[int, Field(ge=1, le=8)] = 1
    """Number of phrasings of each pair."""


_TAKEN = {"all": "every editor together", "input": "the degraded picture", "clean": "the clean picture"}
"""Names that no editor can have → what they mean in tables."""


class ResourcesTable(Strict):
    """What a copy of an editor needs of a machine of a cluster (`--backend ray`); it changes no number."""

    cpus: Annotated[float, Field(ge=0, le=1024)] = 1.0
    gpus: Annotated[float, Field(ge=0, le=64)] = 0.0
    """Fractions share a GPU: with 0.5, two copies use one. Above 1, a whole number."""
    memory_gb: Annotated[float, Field(ge=0, le=100_000)] = 0.0
    """Gigabytes of main memory; 0 = not counted."""
    copies: Annotated[int, Field(ge=1, le=4096)] | None = None
    """Most copies; unset = as many as there are chains for and room on the machines."""

    @field_validator("gpus")
    @classmethod
    def _whole_above_one(cls, value: float) -> float:
        if value > 1 and not value.is_integer():
            raise ValueError("give a fraction up to 1, or a whole number")
        return value

    def as_resources(self) -> Resources:
        """The backends' own form."""
        return Resources(self.cpus, self.gpus, self.memory_gb, self.copies)


class EditorTable(BaseModel):
    """An editor with options under a name of its own: `{name = "sim-harsh-jpeg", use = "sim-jpeg", quality = 20}`."""

    model_config = ConfigDict(extra="allow", frozen=True)
    name: Name
    use: str
    settings: dict[str, Any] = Field(default_factory=dict)
    """Settings for this editor only; they override the study's."""
    resources: ResourcesTable | None = None
    """What a copy of it needs of a machine of a cluster: `resources = {gpus = 0.5}`."""

    @property
    def options(self) -> dict[str, Any]:
        """Everything beside name, use, settings and resources goes to the editor."""
        return dict(self.model_extra or {})

    @model_serializer(mode="wrap")
    def _without_unset_resources(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """An editor that says nothing of machines reads as it did before it could."""
        written: dict[str, Any] = write(self)
        if self.resources is None:
            written.pop("resources", None)
        return written

    @field_validator("name")
    @classmethod
    def _name_is_free(cls, value: str) -> str:
        if taken := _TAKEN.get(value):
            raise ValueError(f"stands for {taken} in tables; choose another name")
        return value


class SettingsTable(Strict):
    """What every call carries besides the instruction."""

    seed: Seed | None = None
    """Unset: editors that take a seed get one derived from each step's key. Set: editors that take none are refused."""
    seed_policy: Literal["per-step", "fixed"] = "per-step"
    """`per-step`: derived from `seed` for every step; `fixed`: the same for all."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    resolution: Name | Annotated[tuple[Name, ...], Field(min_length=1)] | None = None
    """`1K`, `2K`, `4K`; the values of a list alternate from step to step."""
    aspect: Annotated[str, StringConstraints(pattern=r"^\d+:\d+$")] | None = None
    """Aspect ratio, such as `16:9`; unset = that of the image."""
    session: Literal["fresh", "single"] = "fresh"
    """`single`: every call includes all earlier turns of its chain."""
    reasoning: bool = False
    """Ask for a summary of the model's reasoning."""

    def as_settings(self) -> Settings:
        """The engine's own form."""
        fields = self.model_dump()
        if isinstance(self.resolution, tuple):
            fields |= {"resolution": None, "interleaved": self.resolution}
        return Settings(**fields)


class MeasureTable(Strict):
    """What is measured, and how images of different sizes are aligned."""

    metrics: tuple[str, ...] = ("default",)
    """Metrics and metric sets (`cbench list metrics`); unset = the set of the study."""
    align: Literal["auto", "strict", "fit", "crop-aware"] = "auto"
    """`auto`: images of equal size are compared as they are, others are registered to the source. `strict`: only
    equal sizes. `fit`: scaled to the source's size. `crop-aware`: always registered. An existing run keeps its
    alignment unless this is set. Flag: `--align`."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Precision of neural networks. Their device is a flag: `--device`."""


class ExamineTable(Strict):
    """Which failures to look for when editing and measuring are done."""

    detectors: tuple[str, ...] | None = None
    """Detectors or sets of detectors, or `all`; empty = none; unset = those of the study (most have none). Later:
    `cbench examine`."""


class TrackTable(Strict):
    """Experiment tracker to log the run to; it changes no number."""

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
    """`[roles.NAME]`: the model or program that answers questions; NAME is writer, rewriter, judge, reader, rater or
    another role that the study asks."""
    analysis: AnalysisSettings = AnalysisSettings()
    track: TrackTable = TrackTable()
    until: UntilTable = UntilTable()

    @model_serializer(mode="wrap")
    def _without_later_tables(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A study that names no tracker and no question reads as it did before there were any."""
        written: dict[str, Any] = write(self)
        if not self.track.tracker:
            written.pop("track", None)
        if self.until == UntilTable():
            written.pop("until", None)
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
        raise StudyError(f"study '{study}' cannot be used: '{name}' is a key of every study file; choose another name")
    return create_model("StudyFile", __base__=StudySpec, **{name: table})


def read_spec(path: Path) -> StudySpec:
    """Read a study file, or one line that says what is wrong with it."""
    if not path.exists():
        raise StudyError(f"no study file at {path}; try: cbench run demo-light, or cbench init my-study")
    spec = parse_spec(read_toml(path), where=str(path))
    editors = tuple(one.model_copy(update={"use": found_beside(one.use, path)}) for one in spec.editors)
    metrics = tuple(found_beside(one, path) for one in spec.measure.metrics)
    if metrics != spec.measure.metrics:
        spec = spec.model_copy(update={"measure": spec.measure.model_copy(update={"metrics": metrics})})
    return spec.model_copy(update={"editors": editors}) if editors != spec.editors else spec


def found_beside(use: str, study: Path) -> str:
    """`file.py:name` with the path of the file: in the current folder, or else beside the study file."""
    file, _, attribute = use.rpartition(":")
    if not is_in_file(use) or Path(file).is_absolute() or Path(file).exists():
        return use
    beside = study.parent / file
    return f"{beside}:{attribute}" if beside.exists() else use


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
