"""What a study declares beside its steps: its unit, its stages, analyses, sections and exports, each found by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from convergebench import registry
from convergebench.conductor.stages.base import Stage
from convergebench.datasets.loaded_parts import load_parts
from convergebench.datasets.parts import ExportPart
from convergebench.errors import Prerequisite, StudyError
from convergebench.registry import load, names
from convergebench.studies.base import BaseStudy, load_study, missing_study, study_of
from convergebench.studies.units import ROUND, ROUND_TRIP, STEP, Unit

SHIPPED = ("roundtrip", "replicate", "audit", "session", "recorded")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A plug-in with a study that inherits nothing, and a module with parts."""
    info = tmp_path / "odd-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[convergebench.studies]\nodd = odd_parts:Odd\n[convergebench.exports]\nodd = odd_parts:again\n"
    )
    (tmp_path / "odd_parts.py").write_text(
        "from convergebench.datasets.parts import measurements as again\nclass Odd:\n    name = 'odd'\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    registry._plugins.cache_clear()
    yield
    registry._plugins.cache_clear()


@pytest.mark.parametrize("name", SHIPPED)
def test_every_part_of_a_shipped_study_is_on_its_shelf(name: str) -> None:
    study = study_of(name)
    assert study.__name__ != "BaseStudy"
    assert all(issubclass(load("stages", one), Stage) for one in study.stages)
    assert all(callable(load("analyses", one)) for one in study.analyses)
    assert all(load("sections", one).name for one in study.sections)
    assert all(isinstance(load("exports", one), ExportPart) for one in study.exports)


@pytest.mark.parametrize(
    ("name", "unit", "parts"),
    [
        ("roundtrip", ROUND_TRIP, (("measure", "examine"), ("comparison",))),
        ("replicate", STEP, (("measure", "examine"), ("comparison", "decay"))),
        ("audit", STEP, (("measure", "examine", "audit"), ("comparison", "decay"))),
        ("session", STEP._replace(way="session"), (("measure", "examine"), ("comparison", "decay"))),
        ("recorded", STEP, (("measure", "examine"), ("comparison", "decay"))),
    ],
)
def test_what_a_shipped_study_counts_and_what_follows_from_it(
    name: str, unit: Unit, parts: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    study = study_of(name)
    assert (study.unit, (study.stages, study.analyses)) == (unit, parts)
    assert study.metrics == ("default" if name == "roundtrip" else "replicate")
    assert study.changes_stay == (name == "session")


def test_a_study_that_is_not_here_has_the_parts_of_all_and_says_so() -> None:
    assert study_of("somebody-elses") is BaseStudy
    assert BaseStudy.unit == ROUND
    assert missing_study("somebody-elses").startswith("unknown study 'somebody-elses'")
    assert [missing_study(name) for name in SHIPPED] == [""] * len(SHIPPED)


def test_a_study_file_cannot_ask_for_recorded_chains() -> None:
    assert "recorded" not in names("studies")
    with pytest.raises(StudyError, match="unknown study 'recorded'"):
        load_study("recorded")


@pytest.mark.usefixtures("installed")
def test_a_study_that_inherits_nothing_is_refused_in_one_line() -> None:
    with pytest.raises(Prerequisite, match=r"study 'odd' cannot be used: it should inherit .*BaseStudy$"):
        load_study("odd")
    assert study_of("odd") is BaseStudy


@pytest.mark.usefixtures("installed")
def test_a_part_comes_from_the_table_a_plug_in_or_a_module() -> None:
    assert load("exports", "odd") is load("exports", "odd_parts:again") is load("exports", "measurements")


def test_an_unknown_part_is_told_with_those_that_are_known() -> None:
    with pytest.raises(StudyError) as caught:
        load("analyses", "comparision")
    assert (
        str(caught.value) == "unknown analysis 'comparision'; did you mean 'comparison'? "
        "(comparison, decay, factory, restoration, ratings)"
    )
    with pytest.raises(StudyError, match=r"there is no module 'nowhere' here .* for section 'nowhere:x'"):
        load("sections", "nowhere:x")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["measurements", "measurements"], "export 'measurements' gives a second table 'measurements'"),
        (["json:dumps"], "export 'json:dumps' should be a convergebench.datasets.parts.ExportPart"),
    ],
)
def test_exports_that_cannot_be_written_are_refused_before_anything_is(asked: list[str], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        load_parts(asked)
