"""A study file: TOML in, a checked `StudySpec` out. The file is the experiment; flags are circumstances."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, create_model, field_validator, model_validator

from convergebench.documents import Strict, check_document, read_toml
from convergebench.errors import StudyError
from convergebench.registry import load
from convergebench.roles.tables import RoleTable
from convergebench.studies.values import Line, Name, Position, Seed, require_plain
from convergebench.types import Kind, Settings


class ImagesTable(Strict):
    """Which source images."""

    suite: str = "builtin"
    """A suite's name, a folder, or a manifest."""
    kinds: tuple[Kind, ...] = ("face", "object", "scene")
    limit: Annotated[int, Field(ge=0)] = 0
    """At most this many, taken evenly from each kind; 0 = all."""


class EditsTable(Strict):
    """Which edit pairs."""

    pairs: tuple[str, ...] = ("v1",)
    """Sets (`v1`, `all`, `later`), categories, ids, or a TOML file of pairs."""
    wordings: Annotated[int, Field(ge=1, le=8)] = 1
    """How many phrasings of each pair."""


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
        if value == "all":
            raise ValueError("stands for every editor together in tables; choose another name")
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
    align: Literal["auto", "strict", "fit", "crop-aware"] = "auto"
    """`auto`: equal sizes as they are, others laid over each other. `strict`: equal sizes only. `fit`: stretched to the
    source's size. `crop-aware`: always laid over each other. A run that is there keeps its own unless this is said.
    Flag: `--align`."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Of networks. Where they run is a flag: `--device`."""


class ExamineTable(Strict):
    """Which failures are looked for when editing and measuring are done."""

    detectors: tuple[str, ...] = ()
    """Names of detectors, or `all`; empty = none. Later: `cbench examine`."""


class AuditTable(Strict):
    """How scores become verdicts in `cbench audit`; each key has a flag there or is printed with the result."""

    gaps: tuple[Position, ...] = ()
    """The steps (or rounds) whose score is held against the baseline's; empty = those of 5, 10 and 20 that chains
    reach, else two that they do reach."""
    baseline: Annotated[int, Field(ge=0, le=1_000_000)] = 1
    """The step that all others are held against: 1, because the first step may crop."""
    by: Literal["round", "step"] = "round"
    """What is counted: whole rounds (the picture shows the source again), or every single edit."""
    ranges: dict[str, tuple[float, float]] = Field(default_factory=dict)
    """Range of a metric in place of its typical one: `pi = [0, 55]`."""
    percentiles: Annotated[tuple[Annotated[float, Field(gt=0, lt=100)], ...], Field(min_length=1)] = (5.0, 25.0, 50.0)
    """A filter keeps what scores at least as well as this percentile of untouched images."""
    damage: str = ""
    """Full-reference metric that says how damaged a picture is; empty: LPIPS or SSIM against the baseline's picture."""
    enough: Annotated[int, Field(ge=1, le=1_000_000)] = 12
    """Images without a failure that it takes to call a metric sound."""
    draws: Annotated[int, Field(ge=100, le=100_000)] = 2000
    seed: Seed = 0
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95

    @model_validator(mode="after")
    def _makes_sense(self) -> AuditTable:
        early = [gap for gap in self.gaps if gap <= self.baseline]
        if early:
            raise ValueError(
                f"gap {early[0]} does not lie after the baseline ({self.baseline}); give later ones, e.g. 5, 10, 20"
            )
        if len(set(self.gaps)) < len(self.gaps):
            raise ValueError("a gap is named twice")
        for name, (low, high) in self.ranges.items():
            if not (isfinite(low) and isfinite(high) and low < high):
                raise ValueError(f"the range of {name} goes from {low:g} to {high:g}; give a lower and an upper end")
        return self


class AnalysisTable(Strict):
    """The constants of the analysis; see `convergebench.analysis.AnalysisSettings`."""

    quality: tuple[str, ...] = ("ssim", "lpips")
    semantic: str | None = "gist"
    adherence: tuple[str, str] = ("happened", "undone")
    """Metrics that say whether an edit was done and whether it was undone; the score is conditioned on them."""
    coverage: Annotated[float, Field(ge=0, le=1)] = 0.8
    """Least share of the cases and rounds that an editor must deliver to get a rank."""
    headline: str = "ssim"
    level: str = "noticeable"
    levels: dict[str, dict[Name, float]] = Field(default_factory=dict)
    sustained: bool = False
    distance: str = "rmse"
    floor: Annotated[float, Field(ge=0, le=1)] = 0.5 / 255
    max_period: Annotated[int, Field(ge=1, le=6)] = 6
    settling_rounds: Annotated[int, Field(ge=4, le=1000)] = 10
    points: tuple[Position, ...] = (1, 2, 3, 5, 10, 15, 20)
    chain_draws: Annotated[int, Field(ge=50, le=100_000)] = 500
    permutations: Annotated[int, Field(ge=99, le=1_000_000)] = 9999
    exact_sources: Annotated[int, Field(ge=0, le=20)] = 14
    draws: Annotated[int, Field(ge=100, le=100_000)] = 2000
    seed: Seed = 0
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    interval: Literal["corrected-t", "percentile", "bca"] = "corrected-t"
    onset: str = ""
    floors: tuple[str, ...] = ("sim-jpeg", "sim-resize", "taesd", "taesdxl", "taesd3", "taef1", "taef2")
    audit: AuditTable = AuditTable()
    """`[analysis.audit]`: how `cbench audit` judges metrics."""

    @field_validator("semantic")
    @classmethod
    def _none_is_empty(cls, value: str | None) -> str:
        """TOML has no word for nothing; a manifest says it as the file does."""
        return value or ""


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
    """Who answers questions: `judge` about steps, `rater` about single pictures."""
    analysis: AnalysisTable = AnalysisTable()

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
    parameters: type[BaseModel] = load("studies", study).Parameters
    table: Any = (parameters, Field(default_factory=parameters, alias=study))
    return create_model("StudyFile", __base__=StudySpec, **{study.replace("-", "_"): table})


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
    return check_document(content, model, where=where)
