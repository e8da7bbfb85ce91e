"""End to end: the whole pipeline on editors whose behaviour is known, and the analysis finds what was put in."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
import skimage.data

from convergebench.conductor import run_chains
from convergebench.conductor.analyse import report_input
from convergebench.conductor.begin import begin
from convergebench.conductor.prepare import prepare
from convergebench.editors.simulated.truth import TRUTHS
from convergebench.images.encode import encode_png
from convergebench.measuring.measure import measure
from convergebench.report.input import ReportInput
from convergebench.store.run import Run
from convergebench.studies.spec import parse_spec

ROUNDS = 12
EDITORS = ("sim-perfect", "sim-contracting", "sim-cycle", "sim-noise", "sim-tint", "sim-jpeg")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> ReportInput:
    """Six editors, three photographs of middling tones (so that nothing clips), a flip and a ball, twelve rounds."""
    root = tmp_path_factory.mktemp("truths")
    data: Any = skimage.data
    for name, photograph in {"coffee": data.coffee(), "cat": data.chelsea(), "astronaut": data.astronaut()}.items():
        tones = 60 + photograph[40:232, 60:252].astype(float) * (130 / 255)
        path = root / "pictures" / "object" / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode_png(tones.astype(np.uint8)))
    spec = parse_spec(
        {
            "editors": list(EDITORS),
            "roundtrip": {"rounds": ROUNDS},
            "images": {"suite": str(root / "pictures")},
            "edits": {"pairs": ["flip-horizontal", "red-ball"]},
            "measure": {"metrics": ["rmse", "ssim", "gist", "happened", "undone"]},
            "analysis": {"draws": 200},
        }
    )
    prepared = prepare(spec)
    with Run.create(root / "run") as run:
        begin(run, prepared)
        run_chains(run, prepared.editors, prepared.chains)
        measure(run, prepared.metrics, align_mode="auto", workers=1)
    return report_input(root / "run")


def chains_of(found: ReportInput, editor: str) -> pl.DataFrame:
    return found.analysis.contraction.filter(pl.col("editor") == editor)


def drift(found: ReportInput, editor: str) -> list[float]:
    curve = found.analysis.curves.filter(editor=editor, metric="rmse", group="all").sort("round")
    return curve["mean"].to_list()


@pytest.mark.parametrize("editor", EDITORS)
def test_the_verdict_is_the_true_one_for_every_chain(found: ReportInput, editor: str) -> None:
    if editor == "sim-jpeg":  # it settles on geometry; inpainting under the ball goes on moving a little
        flips = chains_of(found, editor).filter(pair="flip-horizontal")
        assert set(flips["verdict"]) <= {"settles"}
        return
    assert set(chains_of(found, editor)["verdict"]) == {TRUTHS[editor].verdict}


def test_the_contraction_factor_is_recovered_within_two_hundredths(found: ReportInput) -> None:
    true = TRUTHS["sim-contracting"].q
    assert true is not None
    rows = chains_of(found, "sim-contracting")
    assert all(abs(q - true) < 0.02 for q in rows["q"])
    limit = rows["prior_bound"].to_numpy()
    seen = rows["drift"].to_numpy()
    assert (limit >= seen).all(), "the limit lies beyond what was reached"
    assert limit == pytest.approx(seen / (1 - true**ROUNDS), rel=0.1), (
        "and the estimate is close for an exact contraction"
    )


def test_the_period_of_a_cycle_is_found(found: ReportInput) -> None:
    assert set(chains_of(found, "sim-cycle")["period"]) == {TRUTHS["sim-cycle"].period}


def test_noise_drifts_as_the_square_root_and_tint_as_a_straight_line(found: ReportInput) -> None:
    sigma = 2 / 255
    for number, seen in enumerate(drift(found, "sim-noise")):
        assert seen == pytest.approx(sigma * math.sqrt(2 * number), rel=0.03, abs=1e-9)
    tint = drift(found, "sim-tint")
    assert [value / tint[1] for value in tint] == pytest.approx(range(ROUNDS + 1), rel=0.02, abs=1e-9)
    best = dict(found.analysis.shapes.filter(best=True, group="all").select("editor", "verdict").rows())
    assert best["sim-noise"] == "root"
    assert best["sim-tint"] == "linear"
    assert best["sim-contracting"] == "saturating"
    efficiency = chains_of(found, "sim-tint")["efficiency"]
    assert all(value == pytest.approx(1, abs=0.01) for value in efficiency)


def test_a_perfect_editor_scores_one_hundred_and_never_reaches_its_half_life(found: ReportInput) -> None:
    row = found.analysis.ranking.filter(editor="sim-perfect").to_dicts()[0]
    assert (row["rank"], row["score"], row["half_life"]) == (1, 100.0, f"> {ROUNDS}")


def test_the_plateau_of_a_contraction_is_the_distance_to_its_fixed_point(found: ReportInput) -> None:
    shape = found.analysis.shapes.filter(editor="sim-contracting", shape="saturating", group="all").to_dicts()[0]
    plateau = drift(found, "sim-contracting")[-1] / (1 - 0.8**ROUNDS)
    fitted = float(shape["parameters"].split("A = ")[1].split(",")[0])
    assert fitted == pytest.approx(plateau, rel=0.02)


def test_edits_are_seen_to_happen_and_to_be_undone(found: ReportInput) -> None:
    rows = found.analysis.adherence.filter(editor="sim-perfect", group="all")
    means = dict(rows.select("metric", "mean").rows())
    assert means["happened"] > 0.8
    assert means["undone"] == pytest.approx(1)
