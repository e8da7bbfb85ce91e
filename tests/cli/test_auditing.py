"""`cbench audit`: from runs to verdicts, with one command; what cannot be is said in one line."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

from convergebench.cli.main import main
from convergebench.store.manifest import read_manifest
from tests.engine.audited_run import audit_spec, make_round_trips, make_run, make_suite

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "flux-kontext-dev-roundtrips"
QUICK = ("--repeat", "0", "-m", "brisque")


class Said(NamedTuple):
    code: int
    out: str
    err: str


Typed = Callable[..., Said]


@pytest.fixture
def cbench(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(os, "cpu_count", lambda: 1)  # one process: starting helpers would take longer than the work
    monkeypatch.setattr("convergebench.report.audit.plots.KINDS", ("svg",))  # all three: tests/report/audit

    def typed(*words: str | Path) -> Said:
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["cbench", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return Said(int(ended.value.code or 0), *capsys.readouterr())

    return typed


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    make_run(folder)
    make_round_trips(folder)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """The runs `run` and `trips`, edited and not measured; a test may do with them what it likes."""
    for name in ("run", "trips"):
        shutil.copytree(made / name, tmp_path / name)
    return tmp_path


def test_what_is_missing_is_measured_then_judged_and_written(folder: Path, cbench: Typed) -> None:
    said = cbench("audit", folder / "run", "--gaps", "2,4", "--repeat", "0")
    assert said.code == 0, said.err
    assert "brisque" in said.out
    assert f"audit   {folder / 'run/audit/index.html'}" in said.out
    for name in ("index.html", "audit.json", "tables/gaps.csv", "tables/metrics.parquet"):
        assert (folder / "run/audit" / name).is_file(), name
    gaps = pl.read_parquet(folder / "run/audit/tables/gaps.parquet")
    assert set(gaps["at"]) == {2, 4}
    assert set(gaps["editor"]) == {"sim-blur"}
    assert set(read_manifest(folder / "run/manifest.json").metrics) >= {"brisque", "ssim"}


def test_two_runs_of_one_name_with_peoples_ratings_and_repeated_scores_as_json(folder: Path, cbench: Typed) -> None:
    (folder / "other").mkdir()
    (folder / "trips").rename(folder / "other" / "run")
    make_suite(folder, 4)
    rows = "\n".join(f"scene/scene-{index}.png,{index}" for index in range(4))
    (folder / "mos.csv").write_text(f"image,mos\n{rows}\n")
    beside = ("--opinions", folder / "mos.csv", "--repeat", "1", "--out", folder / "out", "--title", "Both")
    said = cbench("audit", folder / "run", folder / "other/run", "-m", "brisque", "--json", *beside)
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert found["runs"] == [f"{folder.name}-run", "other-run"]
    assert found["page"] == str(folder / "out/index.html")
    assert found["made"]["title"] == "Both"
    assert "Both" in (folder / "out/index.html").read_text()
    assert [row["status"] for row in found["metrics"] if row["metric"] == "brisque"] == ["audited"]
    assert [row["n"] for row in found["opinions"]] == [4]
    assert [row["largest"] for row in found["repeats"] if row["check"] == "png"] == [0.0]


def test_what_cannot_run_is_listed_and_named_on_the_terminal(folder: Path, cbench: Typed) -> None:
    said = cbench("audit", folder / "trips", *QUICK, "-m", "rali", "-m", "visualquality-r1", "--by", "step")
    assert said.code == 0
    assert "note: rali is not run: comes as a plug-in: docs/iqa.md" in said.err
    assert "note: visualquality-r1 is not run: no [roles.rater]: docs/judges.md" in said.err
    metrics = pl.read_parquet(folder / "trips/audit/tables/metrics.parquet")
    assert metrics.filter(metric="rali").select("status", "why").row(0) == (
        "not run",
        "comes as a plug-in: docs/iqa.md",
    )
    scores = pl.read_parquet(folder / "trips/audit/tables/scores.parquet")
    assert set(scores["at"]) == {0, 1, 2, 3, 4}
    none = cbench("audit", folder / "trips", "-m", "rali", "--repeat", "0")
    assert none.code == 2
    assert none.err.splitlines()[-1].startswith("error: no metric can run here: rali (comes as a plug-in")


def test_only_what_is_measured_already_changes_nothing(folder: Path, cbench: Typed) -> None:
    said = cbench("audit", folder / "run", "--no-measure")
    assert said.code == 2
    assert "there is no score to audit" in said.err
    cbench("measure", folder / "run", "--metric", "brisque")
    before = (folder / "run/manifest.json").read_bytes()
    said = cbench("audit", folder / "run", "--no-measure")
    assert said.code == 0, said.err
    assert (folder / "run/manifest.json").read_bytes() == before
    assert "scores repeat" not in said.out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("absent",), "absent is not a run"),
        (("pictures",), "pictures is not a run"),
        (("run", "--gaps", "five"), "--gaps five: give whole numbers"),
        (("run", "--gaps", "1,5"), "gap 1 is not after the baseline (1)"),
        (("run", "--gaps", "5", "--baseline", "5"), "gap 5 is not after the baseline (5)"),
        (("run", "--gaps", ","), "--gaps ,: give whole numbers"),
        (("run", "--gaps=-5,10"), "--gaps -5,10: give whole numbers"),
        (("run", "--by", "leg"), "--by leg: use round or step"),
        (("run", "--percentile", "100"), "--percentile 100: give a number between 0 and 100"),
        (("run", "--percentile", "nan"), "--percentile nan: give a number between 0 and 100"),
        (("run", "--out", "mos.csv"), "--out mos.csv is a file; name a folder"),
        (("run", "--out", "trips"), "--out trips is a run; name another folder"),
        (("run", "run"), "run is named twice"),
        (("run", "-m", "psnr"), "psnr: only metrics that rate an image without a reference"),
        (("run", "--opinions", "absent.csv"), "cannot read absent.csv"),
        (("run", "--opinions", "mos.csv"), "mos.csv: line 2: there is no image absent.png"),
        (("run", "--device", "tpu"), "unknown device 'tpu'"),
        (("begun",), "begun has no edited image yet"),
    ],
)
def test_a_mistake_is_one_line(
    words: tuple[str, ...], line: str, made: Path, cbench: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made)
    (made / "mos.csv").write_text("image,mos\nabsent.png,3\n")
    if words == ("begun",):
        from convergebench.conductor.begin import begin
        from convergebench.conductor.prepare import prepare
        from convergebench.store.run import Run
        from convergebench.studies.spec import parse_spec

        with Run.create(made / "begun") as run:
            begin(run, prepare(parse_spec(audit_spec(made / "pictures"))))
    said = cbench("audit", *words)
    assert said.code == 2
    assert line in said.err
    assert len(said.err.strip().splitlines()) <= 2, "a note on what cannot run may come before it"
    assert "Traceback" not in said.err


def test_what_will_be_audited_is_told_and_checked_before_anything_is_run(tmp_path: Path, cbench: Typed) -> None:
    make_suite(tmp_path / "pictures", 1)
    study = tmp_path / "study.toml"
    text = 'study = "audit"\neditors = ["sim-blur"]\n[images]\nsuite = "{}"\n[audit]\nmetrics = {}\n'
    study.write_text(text.format(tmp_path / "pictures", '["brisque", "rali"]'))
    said = cbench("run", study, "--run", tmp_path / "own", "--dry-run")
    assert said.out.endswith("then audited: brisque; not run here: rali (cbench list metrics)\n")
    study.write_text(text.format(tmp_path / "pictures", '["brisk"]'))
    said = cbench("run", study, "--run", tmp_path / "own")
    assert said.code == 2
    assert said.err.startswith("error: unknown metric 'brisk'; did you mean 'brisque'?")
    damage = '[analysis.audit]\ndamage = "brisque"\n'
    study.write_text(text.format(tmp_path / "pictures", '["brisque"]') + damage)
    said = cbench("run", study, "--run", tmp_path / "own")
    assert said.err.startswith("error: damage = 'brisque' does not compare with the source")
    assert not (tmp_path / "own").exists()


STUDY = """
study = "audit"
editors = ["sim-blur"]
[images]
suite = "pictures"
[audit]
steps = 3
runs = 1
metrics = ["brisque", "piqe"]
grid = [{ variants = ["replicate"] }]
[measure]
metrics = ["ssim"]
[analysis]
draws = 100
semantic = "ssim"
[analysis.audit]
gaps = [2, 3]
draws = 100
"""


def audited(folder: Path, cbench: Typed, images: int) -> tuple[dict[str, Any], str]:
    """The findings and the page of a study of so many pictures, from `cbench run` on."""
    make_suite(folder / "pictures", images)
    (folder / "study.toml").write_text(STUDY)
    assert cbench("run", "study.toml", "--run", "own", "--no-report").code == 0
    said = cbench("audit", "own", "--repeat", "0", "--json")
    assert said.code == 0, said.err
    return json.loads(said.out), (folder / "own/audit/index.html").read_text(encoding="utf-8")


def test_with_three_pictures_every_verdict_is_too_few_to_tell(
    tmp_path: Path, cbench: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found, page = audited(tmp_path, cbench, 3)
    judged = [row for row in found["metrics"] if row["status"] == "audited"]
    assert [(row["verdict"], row["low"], row["high"]) for row in judged] == [("too few to tell", None, None)] * 2
    assert all("3 source images are too few to tell more, it takes 5." in row["reason"] for row in judged)
    assert found["finding"][0].startswith("3 images are too few to judge a metric: it takes 5.")
    assert found["rules"] == {"often": 0.25, "fewest_sources": 5, "images_beyond_percentile": 2}
    risks = found["filter_risk"]
    assert {row["percentile"]: row["needed"] for row in risks} == {5.0: 40, 25.0: 8, 50.0: 5}
    assert {(row["threshold"], row["share"], row["n_clean"]) for row in risks} == {(None, None, 3)}
    assert {row["low"] for row in found["confound"]} == {None}
    answers = {row["answer"] for row in found["recommendations"] if row["metric"] in ("brisque", "piqe")}
    assert answers == {"unknown"}
    assert "3 images are too few to judge a metric" in page
    assert "too few to tell</span>" in page
    assert "Too few to tell: 3 untouched images, percentile 5 takes 40." in page


def test_with_eight_pictures_verdicts_follow_from_their_intervals(
    tmp_path: Path, cbench: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found, page = audited(tmp_path, cbench, 8)
    for row in (row for row in found["metrics"] if row["status"] == "audited"):
        if row["verdict"] == "often fooled":
            assert row["low"] >= 0.25
        elif row["verdict"] == "rewards damage":
            assert row["n_failed"]
        else:
            assert row["verdict"] == ("cannot be told" if row["n_failed"] else "unproven"), "eight prove nothing"
            assert row["low"] < 0.25 <= row["high"]
    passed = {row["percentile"]: row["low"] is not None for row in found["filter_risk"]}
    assert passed == {5.0: False, 25.0: True, 50.0: True}
    assert all(row["low"] is not None for row in found["confound"] if row["ratio"] is not None)
    assert "Too few to tell: 8 untouched images, percentile 5 takes 40." in page


@pytest.mark.slow
def test_a_study_of_this_kind_ends_with_its_audit(
    tmp_path: Path, cbench: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_suite(tmp_path / "pictures", 1)
    (tmp_path / "study.toml").write_text(
        'study = "audit"\neditors = ["sim-blur"]\n[images]\nsuite = "pictures"\n'
        '[audit]\nsteps = 3\nruns = 1\nmetrics = ["brisque"]\ngrid = [{ variants = ["replicate"] }]\n'
        '[measure]\nmetrics = ["ssim"]\n[analysis]\ndraws = 100\nsemantic = "ssim"\n'
        "[analysis.audit]\ngaps = [2, 3]\ndraws = 100\n"
    )
    said = cbench("run", "study.toml", "--run", "own")
    assert said.code == 0, said.err
    assert (tmp_path / "own/report/index.html").is_file()
    assert (tmp_path / "own/audit/index.html").is_file()
    assert set(pl.read_parquet(tmp_path / "own/audit/tables/gaps.parquet")["at"]) == {2, 3}


@pytest.mark.slow
@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published chains are not beside this checkout")
def test_real_chains_fool_brisque_and_piqe(tmp_path: Path, cbench: Typed) -> None:
    cbench("import", PUBLISHED, "--run", tmp_path / "flux", "--editor", "flux-kontext-dev")
    said = cbench("audit", tmp_path / "flux", "-m", "brisque", "-m", "piqe", "--repeat", "0", "--json")
    found = {row["metric"]: row for row in json.loads(said.out)["metrics"] if row["status"] == "audited"}
    assert {name: (row["n_cells"], row["n_failed"]) for name, row in found.items()} == {
        "brisque": (9, 3),
        "piqe": (9, 7),
    }
    scores = pl.read_parquet(tmp_path / "flux/audit/tables/scores.parquet")
    assert sorted(scores["at"].drop_nulls().unique()) == [0, 1, 2, 3], "gaps and rounds as long as the chains are"


def test_pictures_that_are_gone_cannot_be_scored_again_and_the_page_is_made_all_the_same(
    folder: Path, cbench: Typed
) -> None:
    assert cbench("audit", folder / "run", *QUICK).code == 0
    shutil.rmtree(folder / "run" / "images")
    said = cbench("audit", folder / "run", "-m", "brisque", "--out", folder / "again")
    assert said.code == 0, said.err
    assert "note: 2 of 2 pictures to be scored again are not on disk" in said.err
    assert "not on this disk" in (folder / "again" / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["mine", "run/report", "run/images/deep", "run/tables"])
def test_nothing_of_others_is_written_over(folder: Path, cbench: Typed, name: str) -> None:
    (folder / "mine").mkdir()
    (folder / "mine" / "index.html").write_text("mine")
    said = cbench("audit", folder / "run", *QUICK, "--out", folder / name)
    assert said.code == 2
    assert said.err.startswith("error: --out ")
    assert said.err.count("\n") == 1
    assert (folder / "mine" / "index.html").read_text() == "mine"
    assert not (folder / name / "audit.json").exists()


def test_nobody_is_asked_about_rated_pictures_once_asking_stopped(folder: Path, cbench: Typed) -> None:
    (folder / "roles.toml").write_text(
        '[roles.rater]\nkind = "served"\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "x"\n'
    )
    (folder / "mos.csv").write_text("image,mos\npictures/scene/scene-0.png,1\npictures/scene/scene-1.png,2\n")
    make_suite(folder / "pictures")
    asked = ("-m", "visualquality-r1", "--roles", folder / "roles.toml", "--opinions", folder / "mos.csv")
    said = cbench("audit", folder / "run", *QUICK, *asked)
    assert said.code == 3
    assert "note: the rated images are not sent to visualquality-r1, because measuring stopped" in said.err
    opinions = pl.read_parquet(folder / "run/audit/tables/opinions.parquet")
    assert set(opinions.filter(pl.col("n") > 0)["metric"]) == {"brisque"}
    kept = cbench("audit", folder / "run", *QUICK, *asked, "--no-measure", "--out", folder / "again")
    assert kept.code == 0, kept.err
    assert "not sent to visualquality-r1, because --no-measure sends no questions" in kept.err
