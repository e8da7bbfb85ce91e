"""Whatever stands in a study file is refused in one line before the first call, or the analysis can work with it."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convergebench.cli.flags import dollars
from convergebench.conductor import run_chains
from convergebench.conductor.analyse import report_input
from convergebench.conductor.analyse_audit import audit_report_input
from convergebench.conductor.begin import begin
from convergebench.conductor.prepare import prepare
from convergebench.conductor.running import plan
from convergebench.engine.prepared import Prepared
from convergebench.errors import Prerequisite, StudyError
from convergebench.images.encode import encode_png
from convergebench.measuring.measure import measure
from convergebench.store.run import Run
from convergebench.studies.analysis_settings import audit_settings
from convergebench.studies.spec import parse_spec, read_spec
from convergebench.texts import one_line

STUDIES = sorted((Path(__file__).parents[2] / "studies").glob("*.toml"))
HOSTILE: tuple[Any, ...] = (
    -1, 0, 1, 2**62, 2**63, -0.5, 1e308, float("nan"), float("inf"), "", "x", "psnr", "brisque", "changed-share",
    "a\nb", "\0", "\ud800", "y" * 20_000, [], {}, ["x"], ["psnr"], ["ssim", "ssim"], {"x": 1}, {"ssim": {"half": 2}},
    True, None,
)  # fmt: skip


def leaves(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every value in a study, lists and tables included."""
    inner = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, held in inner:
        yield (*place, key)
        yield from leaves(held, (*place, key))


def put(content: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """The study with another value at this place."""
    changed = copy.deepcopy(content)
    holder: Any = changed
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    return changed


def spelt_out(path: Path) -> dict[str, Any]:
    """A shipped study with every key, those that it leaves to their defaults too."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    content.setdefault("editors", ["sim-jpeg"])
    return parse_spec(content).model_dump(mode="json", by_alias=True)


def checked(content: dict[str, Any]) -> Prepared | None:
    """The study after every check that `--dry-run` makes; None if it was refused, which takes one line."""
    try:
        prepared = plan(parse_spec(content, where="study.toml"), Path("run")).prepared
    except (StudyError, Prerequisite) as error:
        message = one_line(str(error))
    else:
        return prepared
    assert "\n" not in message
    assert message.encode("utf-8")
    return None


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """A study of two small pictures with every key spelt out, and its finished, measured run."""
    root = tmp_path_factory.mktemp("small")
    (root / "suite").mkdir()
    for number in range(2):
        picture = np.random.default_rng(number).integers(0, 256, (40, 40, 3), np.uint8)
        (root / "suite" / f"scene-{number}.png").write_bytes(encode_png(picture))
    content = {
        "study": "replicate",
        "editors": ["sim-jpeg"],
        "images": {"suite": str(root / "suite")},
        "replicate": {"steps": 2, "runs": 1},
        "measure": {"metrics": ["ssim", "rmse", "piqe", "psnr"]},
        "analysis": {
            "draws": 100,
            "permutations": 99,
            "audit": {"draws": 100},
            "levels": {"ssim": {"noticeable": 0.9, "half": 0.5}},
        },
    }
    spec = parse_spec(content)
    prepared = prepare(spec)
    with Run.create(root / "run") as run:
        begin(run, prepared)
        run_chains(run, prepared.editors, prepared.chains)
        measure(run, prepared.metrics, align_mode="auto", workers=1)
    return spec.model_dump(mode="json", by_alias=True), root / "run"


def test_every_constant_of_the_analysis_is_refused_early_or_works(small: tuple[dict[str, Any], Path]) -> None:
    content, run = small
    places = [place for place in leaves(content) if place[0] == "analysis"]
    kept = json.loads((run / "manifest.json").read_text())
    tried = []
    try:
        for place in places:
            for value in HOSTILE:
                prepared = checked(put(content, place, value))
                if prepared is None or (found := repr(prepared.spec["analysis"])) in tried:
                    continue
                tried.append(found)
                (run / "manifest.json").write_text(json.dumps({**kept, "spec": prepared.spec}))
                if place[:2] == ("analysis", "audit"):
                    audit_report_input([run], audit_settings(prepared.spec), wanted=["piqe"], not_run={})
                else:
                    report_input(run)
    finally:
        (run / "manifest.json").write_text(json.dumps(kept))
    assert 10 < len(tried) < 80, "some of it is harmless, most is not"


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_value_of_a_shipped_study_is_anything_but_fine_or_refused(data: st.DataObject) -> None:
    content = spelt_out(data.draw(st.sampled_from([path for path in STUDIES if path.stem in QUICK])))
    place = data.draw(st.sampled_from(list(leaves(content))))
    checked(put(content, place, data.draw(st.sampled_from(HOSTILE))))


QUICK = ("audit-quick", "replicate-quick", "cures", "demo", "session", "roundtrip")
"""Studies of a small suite, or of one that is loaded in no time."""


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ({"seed": -1}, "analysis.seed"),
        ({"seed": 2**63}, "analysis.seed"),
        ({"quality": ["psnr"]}, "quality = 'psnr': it has no area"),
        ({"quality": ["simm"]}, "did you mean 'ssim'"),
        ({"semantic": "happened"}, "semantic = 'happened'"),
        ({"level": "x"}, "level = 'x': ssim has noticeable, half"),
        ({"headline": "rmse"}, "rmse has no level; add levels.rmse.noticeable"),
        ({"headline": "noise"}, "noise has no level"),
        ({"levels": {"ssim": {"half": float("nan")}}}, "should be a finite number"),
        ({"levels": {"ssim": {"half": 1.5}}}, "an untouched image is past it"),
        ({"levels": {"ssim": {"half": 0.95}}}, "noticeable (0.9) lies beyond half (0.95)"),
        ({"levels": {"simm": {"half": 0.5}}}, "did you mean 'ssim'"),
        ({"levels": {"noise": {"half": 0.5}}}, "no better direction"),
        ({"distance": "ssim"}, "no distance"),
        ({"distance": "lpips"}, "no distance that is measured between rounds"),
        ({"onset": "x"}, "unknown metric"),
        ({"onset": "noise"}, "no better direction"),
        ({"adherence": ["ssim", "undone"]}, "does not say whether an edit was done"),
        ({"points": [0]}, "analysis.points"),
        ({"points": [2**70]}, "too large"),
        ({"floors": ["sim-jpg"]}, "did you mean 'sim-jpeg'"),
        ({"audit": {"seed": -5}}, "analysis.audit.seed"),
        ({"audit": {"damage": "simm"}}, "did you mean 'ssim'"),
        ({"audit": {"damage": "changed-share"}}, "does not say which images are worse"),
        ({"audit": {"ranges": {"nique": [0, 1]}}}, "did you mean 'niqe'"),
        ({"audit": {"ranges": {"niqe": [0, float("inf")]}}}, "should be a finite number"),
    ],
)
def test_a_constant_that_the_report_would_stumble_over_is_told_first(table: dict[str, Any], fault: str) -> None:
    content = {**spelt_out(STUDIES[[path.stem for path in STUDIES].index("audit-quick")]), "analysis": table}
    with pytest.raises(StudyError) as caught:
        plan(parse_spec(content, where="study.toml"), Path("run"))
    assert fault in str(caught.value)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ({"settings": {"seed": -1}}, "settings.seed"),
        ({"settings": {"seed": 2**63}}, "settings.seed"),
        ({"settings": {"temperature": float("nan")}}, "settings.temperature: should be a finite number"),
        ({"settings": {"resolution": ""}}, "settings.resolution"),
        ({"title": "a\u0007b"}, "one line of printable characters"),
        ({"title": "\ud800"}, "not valid Unicode"),
        ({"editors": [{"name": "all", "use": "sim-jpeg"}]}, "every editor together"),
        ({"editors": [{"name": "n" * 201, "use": "sim-jpeg"}]}, "at most 200"),
        ({"editors": [{"name": "n", "use": "sim-jpeg", "quality": float("inf")}]}, "finite number"),
        ({"editors": [{"name": "n", "use": "sim-jpeg", "own": {"deep": [2**64]}}]}, "too large"),
        ({"roundtrip": {"rounds": 10**9}}, "roundtrip.rounds"),
        ({"roles": {"judge": {"kind": "served", "extra": {"top_p": float("nan")}}}}, "finite number"),
    ],
)
def test_a_value_that_nothing_could_hold_is_told_with_its_place(content: dict[str, Any], fault: str) -> None:
    with pytest.raises(StudyError, match=r"^study\.toml: ") as caught:
        parse_spec(content, where="study.toml")
    assert fault in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 5000 + "]" * 5000,
        "x = " + "{a=" * 5000 + "1" + "}" * 5000,
        "x = " + "9" * 5000,
        "[" + ".".join("a" * 3000) + "]",
        'title = "\\ud800"',
        "x = 1979-05-27",
        "seed = nan",
    ],
)
def test_a_file_that_only_a_program_would_write_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    with pytest.raises(StudyError) as caught:
        read_spec(tmp_path / "study.toml")
    assert "\n" not in one_line(str(caught.value))
    assert len(str(caught.value)) < 1000


def test_the_suite_of_a_study_may_be_mistyped_in_any_way() -> None:
    for suite in ("y" * 5000, "a/b/c", "~nobody/x"):
        with pytest.raises(StudyError):
            prepare(parse_spec({"editors": ["sim-jpeg"], "images": {"suite": suite}}))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_limit_that_nothing_exceeds_is_no_limit(value: float) -> None:
    with pytest.raises(StudyError, match="--max-cost"):
        dollars(value)
    assert dollars(2.5) == 2.5
