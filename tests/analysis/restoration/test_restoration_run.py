"""The analysis part on finished runs of the study, with restorers whose effects are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from convergebench.analysis.restoration.result import SCHEMAS, RestorationAnalysis
from convergebench.conductor.analyse import analyse_run
from convergebench.errors import Refused
from convergebench.store.frames import RunFrames
from convergebench.types import Edited, EditRequest
from tests.analysis.restoration.results_world import only
from tests.restoration_run import InstantRestorer, restoration_run


def analysis_of(root: Path) -> RestorationAnalysis:
    """As the conductor makes it: from the tables of the run, by the name in the study."""
    found = analyse_run(root).context.results["restoration"]
    assert isinstance(found, RestorationAnalysis)
    return found


@pytest.fixture(scope="module")
def designed(tmp_path_factory: pytest.TempPathFactory) -> RestorationAnalysis:
    root = tmp_path_factory.mktemp("designed") / "run"
    restoration_run(root, count=14, prompts=["all"], metrics=("psnr", "piqe", "sharpness"), per_degradation=1)
    return analysis_of(root)


def test_what_the_restorer_does_by_words_is_found(designed: RestorationAnalysis) -> None:
    """It sharpens more by short words, and less where fidelity is asked for; sharpening these pictures costs PSNR."""
    effects = designed.factor_effects.filter(metric="psnr", editor="instant")
    assert only(effects, effect="length")["estimate"] > 0
    assert only(effects, effect="fidelity")["estimate"] > 0
    assert effects["n_sources"].to_list() == [14, 14, 14]
    assert all(p < 0.05 for p in effects["p"]), effects["p"].to_list()
    assert designed.factor_effects["editor"].unique().to_list() == ["instant"], "gentle reads no words"


def test_a_finished_chain_has_done_its_rounds(tmp_path: Path) -> None:
    restoration_run(tmp_path / "run", count=1, metrics=("psnr",), rounds=2)
    chains = RunFrames(tmp_path / "run").chains()
    assert set(zip(chains["status"], chains["rounds"], chains["planned"], strict=True)) == {("finished", 2, 2)}


def test_tables_have_their_columns_and_diagnostics_stay_out(designed: RestorationAnalysis) -> None:
    for name, frame in designed.tables().items():
        assert dict(frame.schema) == SCHEMAS[name], name
    assert designed.metrics == ("psnr", "piqe")
    assert "sharpness" in set(designed.restored["metric"])
    assert designed.unified == "LF3"


def test_pictures_of_a_degradation_have_no_reference_and_belong_to_their_photograph(
    designed: RestorationAnalysis,
) -> None:
    own = designed.category_results.filter(category="motion-blur")
    assert set(own.filter(metric="psnr")["note"]) == {"no reference"}
    assert own.filter(metric="piqe")["mean"].null_count() == 0
    row = only(designed.method_results, metric="piqe", editor="instant")
    assert (row["n_cases"], row["n_sources"]) == (16, 14)


def test_table_5_is_the_mean_of_the_measurements(designed: RestorationAnalysis) -> None:
    own = designed.restored.filter(editor="gentle", metric="psnr")
    row = only(designed.method_results, metric="psnr", editor="gentle")
    assert row["mean"] == pytest.approx(np.mean(own["value"].to_numpy()))
    assert row["gain"] == pytest.approx(np.mean((own["value"] - own["before"]).to_numpy()))


class Picky(InstantRestorer):
    """Refuses every second picture."""

    async def edit(self, request: EditRequest) -> Edited:
        if int(request.case.split(".")[0].removeprefix("picture-")) % 2:
            raise Refused("not this one")
        return await super().edit(request)


def test_a_run_with_refusals_one_prompt_and_repeats_is_analysed(tmp_path: Path) -> None:
    editors = (InstantRestorer("steady", noise=0.0), InstantRestorer("noisy", noise=20.0), Picky("picky"))
    restoration_run(tmp_path / "run", count=6, editors=editors, repeats=3, metrics=("psnr",), degradations=[])
    found = analysis_of(tmp_path / "run")
    assert found.factor_effects.height == found.prompt_results.height == 0
    assert only(found.method_results, metric="psnr", editor="picky")["coverage"] == 0.5
    assert only(found.method_results, metric="psnr", editor="noisy")["n_cases"] == 6
    assert only(found.stability, editor="steady")["note"] == "all repeats are equal"
    noisy = only(found.stability, editor="noisy")
    assert noisy["spread"] > 0
    assert only(found.stability, editor="picky")["n_missing"] == 3
    assert any("picky delivered 50% of its results" in one for one in found.headline)


def test_rounds_of_refinement_are_analysed(tmp_path: Path) -> None:
    restoration_run(
        tmp_path / "run", count=5, editors=(InstantRestorer(),), rounds=3, metrics=("psnr",), degradations=[]
    )
    table = analysis_of(tmp_path / "run").refinement
    assert table["round"].to_list() == [0, 1, 2, 3]
    assert set(table["n_cases"]) == {5}
