"""A study file means what it says, or says what is wrong with it."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

from convergebench.analysis import AnalysisSettings
from convergebench.analysis.audit.settings import AuditSettings
from convergebench.errors import StudyError
from convergebench.report.assemble import analysis_settings
from convergebench.report.audit.assemble import audit_settings
from convergebench.studies.spec import AnalysisTable, AuditTable, parse_spec, read_spec

STUDIES = Path(__file__).parents[2] / "studies"


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_published_study_is_valid(path: Path) -> None:
    assert read_spec(path).study in ("roundtrip", "session", "replicate", "audit")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"roundtrip": {"round": 5}}, "unknown key 'round' in [roundtrip]; did you mean 'rounds'?"),
        ({"image": {}}, "unknown key 'image'; did you mean 'images'?"),
        ({"measure": {"metric": ["psnr"]}}, "did you mean 'metrics'?"),
        ({"roundtrip": {"rounds": 0}}, "roundtrip.rounds"),
        ({"roundtrip": {"rounds": "many"}}, "roundtrip.rounds"),
        ({"measure": {"align": "stretch"}}, "'strict', 'fit' or 'crop-aware'"),
        ({"editors": ["sim-jpeg", "sim-jpeg"]}, "two editors are called 'sim-jpeg'"),
        ({"study": "roundtrips"}, "unknown study 'roundtrips'; did you mean 'roundtrip'?"),
        ({"study": "session", "roundtrip": {}}, "unknown key 'roundtrip'"),
        ({"study": "session", "session": {"sesions": []}}, "did you mean 'sessions'?"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_change(content: dict[str, object], said: str) -> None:
    with pytest.raises(StudyError) as caught:
        parse_spec(content, where="my.toml")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("my.toml: ")


def test_an_editor_may_carry_options_under_a_name_of_its_own() -> None:
    spec = parse_spec({"editors": ["sim-perfect", {"name": "harsh", "use": "sim-jpeg", "quality": 20}]})
    assert [(editor.name, editor.use, editor.options) for editor in spec.editors] == [
        ("sim-perfect", "sim-perfect", {}),
        ("harsh", "sim-jpeg", {"quality": 20}),
    ]


def test_no_file_and_no_toml_are_said_plainly(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="no study file at"):
        read_spec(tmp_path / "absent.toml")
    (tmp_path / "bad.toml").write_text("rounds = = 3")
    with pytest.raises(StudyError, match="not valid TOML"):
        read_spec(tmp_path / "bad.toml")


def test_the_constants_of_a_study_file_are_those_of_the_analysis() -> None:
    settings = analysis_settings({"analysis": parse_spec({}).analysis.model_dump(mode="json")})
    assert settings == AnalysisSettings()
    assert {field.name for field in fields(AnalysisSettings)} == set(AnalysisTable.model_fields) - {"audit"}


def test_the_constants_of_the_audit_are_those_of_its_analysis_but_gaps_are_left_open() -> None:
    spec = {"analysis": parse_spec({}).analysis.model_dump(mode="json")}
    assert audit_settings(spec) == replace(AuditSettings(), gaps=())
    assert {field.name for field in fields(AuditSettings)} == set(AuditTable.model_fields)


def test_what_was_typed_counts_over_the_file_and_a_range_beside_that_of_pi() -> None:
    content = {"analysis": {"audit": {"gaps": [2, 3], "baseline": 0, "ranges": {"niqe": [0, 20]}}}}
    spec = parse_spec(content).model_dump(mode="json")
    settings = audit_settings(spec, baseline=1, by=None)
    assert (settings.gaps, settings.baseline, settings.by) == ((2, 3), 1, "round")
    assert settings.ranges == {"pi": (0.0, 55.0), "niqe": (0.0, 20.0)}


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"gaps": [1, 5]}, "gap 1 does not lie after the baseline (1)"),
        ({"gaps": [5, 5]}, "a gap is named twice"),
        ({"by": "leg"}, "analysis.audit.by"),
        ({"percentiles": [100]}, "analysis.audit.percentiles"),
        ({"percentiles": []}, "analysis.audit.percentiles"),
        ({"ranges": {"pi": [5, 5]}}, "the range of pi goes from 5 to 5"),
        ({"gap": [5]}, "unknown key 'gap' in [analysis.audit]; did you mean 'gaps'?"),
    ],
)
def test_an_audit_that_makes_no_sense_is_refused_in_one_line(table: dict[str, object], said: str) -> None:
    with pytest.raises(StudyError) as caught:
        parse_spec({"analysis": {"audit": table}})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
