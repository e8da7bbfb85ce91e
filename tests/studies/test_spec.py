"""A study file means what it says, or says what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from convergebench.errors import StudyError
from convergebench.studies.analysis_settings import AnalysisSettings, analysis_settings, audit_settings
from convergebench.studies.spec import parse_spec, read_spec

STUDIES = Path(__file__).parents[2] / "studies"


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_published_study_is_valid(path: Path) -> None:
    assert read_spec(path).study in ("roundtrip", "session", "replicate", "audit", "factory", "restoration")


@pytest.mark.parametrize(
    ("content", "message"),
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
def test_a_mistake_is_one_line_that_says_what_to_change(content: dict[str, object], message: str) -> None:
    with pytest.raises(StudyError) as caught:
        parse_spec(content, where="my.toml")
    assert message in str(caught.value)
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


def test_a_manifest_gives_back_the_constants_of_its_study_file() -> None:
    content = {"analysis": {"quality": ["ssim"], "levels": {"ssim": {"mine": 0.7}}, "audit": {"gaps": [2, 3]}}}
    asked = parse_spec(content)
    assert (asked.analysis.quality, asked.analysis.audit.gaps) == (("ssim",), (2, 3))
    assert analysis_settings(asked.model_dump(mode="json")) == asked.analysis
    assert analysis_settings({}) == AnalysisSettings()


def test_what_is_given_counts_over_the_file() -> None:
    content = {"analysis": {"audit": {"gaps": [2, 3], "baseline": 0, "ranges": {"niqe": [0, 20]}}}}
    settings = audit_settings(parse_spec(content).model_dump(mode="json"), baseline=1, by=None)
    assert (settings.gaps, settings.baseline, settings.by) == ((2, 3), 1, "round")
    assert settings.ranges == {"niqe": (0.0, 20.0)}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"gaps": [1, 5]}, "gap 1 is not after the baseline (1)"),
        ({"gaps": [5, 5]}, "a gap is listed twice"),
        ({"by": "leg"}, "analysis.audit.by"),
        ({"percentiles": [100]}, "analysis.audit.percentiles"),
        ({"percentiles": []}, "analysis.audit.percentiles"),
        ({"ranges": {"pi": [5, 5]}}, "the range of pi is [5, 5]"),
        ({"gap": [5]}, "unknown key 'gap' in [analysis.audit]; did you mean 'gaps'?"),
    ],
)
def test_an_audit_that_makes_no_sense_is_refused_in_one_line(table: dict[str, object], message: str) -> None:
    with pytest.raises(StudyError) as caught:
        parse_spec({"analysis": {"audit": table}})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
