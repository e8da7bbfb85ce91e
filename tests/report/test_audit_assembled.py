"""From runs to the frames of an audit: where a picture stands, what a chain is good for, what is missing and why."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from convergebench.analysis.audit.positions import standing_still
from convergebench.analysis.audit.result import INPUTS
from convergebench.analysis.decay import with_step_1
from convergebench.conductor.analyse_audit import UNMEASURED, audit_report_input, run_names
from convergebench.errors import StudyError
from convergebench.measuring.every_picture import rate_every_picture
from convergebench.measuring.measure import measure
from convergebench.metrics import load_metric
from convergebench.report.audit.input import AuditReportInput
from convergebench.store.manifest import read_manifest, write_manifest
from convergebench.store.run import Run
from convergebench.studies.analysis_settings import AuditSettings
from tests.engine.audited_run import STEPS, make_round_trips, make_run

SETTINGS = AuditSettings(gaps=(2, 4), draws=100)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs `run` and `trips`, rated and measured."""
    folder = tmp_path_factory.mktemp("audited")
    for root in (make_run(folder), make_round_trips(folder)):
        with Run.existing(root) as run:
            rate_every_picture(run)
            measure(run, ["ssim", "brisque"], align_mode="strict", workers=1)
    return folder


def gathered(*runs: Path, by: str = "round", **more: object) -> AuditReportInput:
    settings = AuditSettings(gaps=(2,), by=by, draws=100)  # type: ignore[arg-type]
    return audit_report_input(runs, settings, wanted=["brisque", "niqe"], not_run={}, **more)  # type: ignore[arg-type]


def at(given: AuditReportInput, pair: str, editor: str) -> list[tuple[int, int]]:
    rows = given.given.scores.filter(pair=pair, editor=editor, source="scene-0", metric="brisque")
    return rows.drop_nulls("at").select("at", "step").sort("at").rows()


def test_frames_have_the_columns_of_the_contract(folder: Path) -> None:
    given = gathered(folder / "run").given
    for name in INPUTS:
        assert dict(getattr(given, name).schema) == INPUTS[name], name


def test_by_round_only_pictures_that_close_one_count_and_cycles_are_counted_as_such(folder: Path) -> None:
    assert at(gathered(folder / "run"), "replicate", "sim-blur") == [(step, step) for step in range(STEPS + 1)]
    assert at(gathered(folder / "run"), "monochrome-colour", "sim-blur") == [(0, 0), (1, 2), (2, 4)]
    assert at(gathered(folder / "trips"), "flip-horizontal", "sim-jpeg") == [(0, 0), (1, 2), (2, 4)]


def test_by_step_every_picture_counts(folder: Path) -> None:
    everywhere = [(step, step) for step in range(STEPS + 1)]
    assert at(gathered(folder / "run", by="step"), "monochrome-colour", "sim-blur") == everywhere
    assert at(gathered(folder / "trips", by="step"), "flip-horizontal", "sim-jpeg") == everywhere


def test_pictures_inside_a_round_keep_their_score_without_a_place(folder: Path) -> None:
    scores = gathered(folder / "trips").given.scores.filter(source="scene-0")
    rows = scores.select("step", "at").sort("step").rows()
    assert rows == [(0, 0), (1, None), (2, 1), (3, None), (4, 2)]


def test_by_step_a_note_says_which_chains_do_not_show_their_source_at_every_step(folder: Path) -> None:
    def notes(run: str, by: str) -> list[str]:
        return [note for note in gathered(folder / run, by=by).audit.notes if "different content" in note]

    assert notes("run", "round") == notes("trips", "round") == []
    assert notes("trips", "step")[0].startswith("2 chains in trips should show the source only at the end of a round:")
    assert len(notes("run", "step")) == 1, "its cycles"


def test_from_the_untouched_picture_on_what_the_first_step_does_is_damage() -> None:
    files = ["source", "copy", "copy", "copy"]
    chain = {"editor": "one", "case": "cat"}
    steps = pl.DataFrame([{**chain, "index": index, "image": image} for index, image in enumerate(files)])
    values = [{**chain, "step": at, "role": "first", "metric": "ssim-first", "value": 1.0} for at in (1, 2, 3)]
    values += [{**chain, "step": at, "role": "return", "metric": "ssim", "value": 0.8} for at in (1, 2, 3)]
    facts = with_step_1({"ssim": load_metric("ssim").facts}, {"ssim", "ssim-first"})
    assert standing_still(steps, pl.DataFrame(values), facts, 1).height == 1
    assert standing_still(steps, pl.DataFrame(values), facts, 0).height == 0


def test_each_chain_has_its_part_and_copies_that_stand_still_have_none(folder: Path) -> None:
    given = gathered(folder / "run", folder / "trips")
    roles = given.given.chains.select("run", "editor", "pair", "role", "last").unique().sort("run", "editor", "pair")
    assert roles.filter(pl.col("editor") != "sim-perfect").rows() == [
        ("run", "sim-blur", "add-apples", "additions", 4),
        ("run", "sim-blur", "add-apples-independent", "additions-apart", 4),
        ("run", "sim-blur", "monochrome-colour", "copies", 2),
        ("run", "sim-blur", "replicate", "copies", 4),
        ("trips", "sim-jpeg", "flip-horizontal", "copies", 2),
    ]
    still = roles.filter(editor="sim-perfect", pair="replicate")
    assert still["role"].to_list() == ["other"]
    assert given.made["left_out"] == [
        "3 chains of sim-perfect in run are not audited: their copies do not differ, so nothing degrades"
    ]
    assert f"{given.made['left_out'][0]}." in given.audit.notes
    assert given.simulated == {"sim-blur", "sim-perfect", "sim-jpeg"}


def test_damage_is_what_compares_with_the_source_or_with_step_1(folder: Path) -> None:
    given = gathered(folder / "run").given
    assert set(given.damage["metric"]) == {"ssim", "ssim-first"}
    assert set(given.facts) == {"brisque", "niqe", "ssim", "ssim-first"}
    row = given.damage.filter(editor="sim-blur", pair="replicate", source="scene-0", at=1, metric="ssim-first")
    assert row["value"].to_list() == [pytest.approx(1.0)]
    assert given.damage.group_by("run", "editor", "case", "at", "metric").len()["len"].max() == 1


def test_every_scored_picture_can_be_shown(folder: Path) -> None:
    given = gathered(folder / "run", folder / "trips")
    for row in given.given.scores.drop_nulls("at").iter_rows(named=True):
        assert given.picture(row["run"], row["editor"], row["case"], row["at"]) is not None


def test_a_metric_without_a_score_is_named_with_the_reason(folder: Path) -> None:
    wanted = ["brisque", "niqe", "rali"]
    given = audit_report_input(
        [folder / "run"], SETTINGS, wanted=wanted, not_run={"rali": "a plug-in", "brisque": "old"}
    )
    assert given.given.not_run == {"niqe": UNMEASURED, "rali": "a plug-in"}
    with pytest.raises(StudyError, match=r"there is no score to audit in .*run; leave --no-measure out"):
        audit_report_input([folder / "run"], SETTINGS, wanted=["niqe"], not_run={})


def test_a_metric_that_differs_between_runs_is_told_and_one_that_is_gone_does_no_harm(
    folder: Path, tmp_path: Path
) -> None:
    for identity in ("m1", "m2"):
        shutil.copytree(folder / "trips", tmp_path / identity)
        path = tmp_path / identity / "manifest.json"
        manifest = read_manifest(path)
        metrics = {**manifest.metrics, "brisque": identity, "from-a-plug-in-elsewhere": "p1"}
        write_manifest(path, replace(manifest, metrics=metrics))
    notes = gathered(tmp_path / "m1", tmp_path / "m2").audit.notes
    assert (
        "brisque is not the same metric in these runs; its version, weights, precision or rater differ: m1; m2."
    ) in notes
    assert not any("not the same metric" in note for note in gathered(folder / "trips", tmp_path / "m1").audit.notes)


def test_runs_of_one_name_are_told_apart_by_the_folders_above(tmp_path: Path) -> None:
    one, two, other = tmp_path / "a" / "run", tmp_path / "b" / "run", tmp_path / "run-2"
    assert list(run_names([one, two, other])) == ["a-run", "b-run", "run-2"]
    assert run_names([other]) == {"run-2": other}
    with pytest.raises(StudyError, match="is named twice"):
        run_names([one, tmp_path / "a" / ".." / "a" / "run"])


def test_where_every_step_is_a_round_it_is_called_a_step(folder: Path, tmp_path: Path) -> None:
    assert gathered(folder / "run").audit.settings.by == "round"  # it has cycles
    assert gathered(folder / "trips").audit.settings.by == "round"
    plain = shutil.copytree(folder / "run", tmp_path / "plain")
    manifest = read_manifest(plain / "manifest.json")
    pairs = {
        pair: {**facts, "compared": "whole" if facts["compared"] == "cycle" else facts["compared"]}
        for pair, facts in manifest.pairs.items()
    }
    write_manifest(plain / "manifest.json", replace(manifest, pairs=pairs))
    assert gathered(plain).audit.settings.by == "step"
