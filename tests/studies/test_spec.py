"""A study file means what it says, or says what is wrong with it."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from convergebench.analysis import AnalysisSettings
from convergebench.errors import StudyError
from convergebench.report.assemble import analysis_settings
from convergebench.studies.spec import AnalysisTable, parse_spec, read_spec

STUDIES = Path(__file__).parents[2] / "studies"


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_published_study_is_valid(path: Path) -> None:
    assert read_spec(path).study in ("roundtrip", "session", "replicate")


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
    assert {field.name for field in fields(AnalysisSettings)} == set(AnalysisTable.model_fields)
