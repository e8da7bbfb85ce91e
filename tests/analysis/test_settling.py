"""Verdicts of whole studies: their shares and intervals, ties, lost pictures, and what a page says of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from benchmarks.settling import outcomes
from benchmarks.settling_chains import KINDS, Kind
from convergebench.analysis import AnalysisInput, AnalysisSettings, analyse
from convergebench.analysis.bootstrap import Bootstrap
from convergebench.analysis.contraction import EXCEEDED, VERDICTS
from convergebench.analysis.headline import settling_sentence
from convergebench.analysis.settling import LEAST_FLATTERING, commonest, verdict_table
from convergebench.conductor import run_chains
from convergebench.conductor.analyse import report_input
from convergebench.conductor.begin import begin
from convergebench.conductor.prepare import prepare
from convergebench.measuring.measure import measure
from convergebench.report import wording
from convergebench.report.html import write_report
from convergebench.store.run import Run
from convergebench.studies.spec import parse_spec

FAST = AnalysisSettings(draws=100)
MakeChain = Callable[..., dict[str, Any]]
MakeInput = Callable[..., AnalysisInput]


def contraction_frame(verdicts: list[str], sources: int = 6) -> pl.DataFrame:
    """A contraction frame with these verdicts, distributed over the sources."""
    return pl.DataFrame(
        {
            "editor": ["model"] * len(verdicts),
            "source": [f"s{place % sources}" for place in range(len(verdicts))],
            "verdict": verdicts,
            "q": [0.5] * len(verdicts),
        }
    )


@pytest.mark.parametrize(
    ("verdicts", "word"),
    [
        (["settles", "drifts"], "drifts"),
        (["drifts", "diverges"], "diverges"),
        (["returns", "settles"], "settles"),
        (["cycles", "settles"], "cycles"),
        (["too early", "settles"], "too early"),
        (["too early", "drifts"], "drifts"),
        (["too early", "unknown"], "unknown"),
        (["settles", "settles", "diverges"], "settles"),
        ([], None),
    ],
)
def test_of_equals_the_less_flattering_word_is_taken(verdicts: list[str], word: str | None) -> None:
    assert commonest(verdicts) == word
    assert commonest(verdicts[::-1]) == word


def test_every_verdict_has_its_place_everywhere() -> None:
    assert set(LEAST_FLATTERING) == set(VERDICTS) == set(wording.VERDICTS)


def test_shares_have_intervals_over_sources() -> None:
    frame = verdict_table(contraction_frame(["settles"] * 9 + ["drifts"] * 3), ("model",), Bootstrap())
    rows = {row["verdict"]: row for row in frame.to_dicts()}
    assert rows["settles"]["share"] == 0.75
    assert rows["settles"]["n_sources"] == 6
    assert 0.2 < rows["settles"]["low"] < 0.75 < rows["settles"]["high"] < 1
    assert rows["drifts"]["low"] == pytest.approx(1 - rows["settles"]["high"])


def test_chains_of_one_source_count_as_one_witness() -> None:
    agreeing = ["settles"] * 3 + ["drifts"] * 3
    alone = verdict_table(contraction_frame(agreeing), ("model",), Bootstrap())
    repeated = verdict_table(contraction_frame(agreeing * 10), ("model",), Bootstrap())
    apart = verdict_table(contraction_frame(agreeing * 10, sources=60), ("model",), Bootstrap())
    widths = [(frame["high"] - frame["low"]).max() for frame in (alone, repeated, apart)]
    assert widths[1] == pytest.approx(widths[0], abs=0.05)
    assert widths[2] < 0.5 * widths[1]  # type: ignore[operator]


def test_fewer_than_five_sources_have_no_interval() -> None:
    frame = verdict_table(contraction_frame(["settles"] * 8, sources=4), ("model",), Bootstrap())
    assert frame.select("share", "low", "high", "n_sources").rows() == [(1.0, None, None, 4)]


def test_a_sentence_says_that_it_is_too_early() -> None:
    early = verdict_table(contraction_frame(["too early"] * 4 + ["settles"] * 2), ("model",), Bootstrap())
    assert settling_sentence(early, ["model"]) == "model is too early to judge in 67% of its chains."
    tied = verdict_table(contraction_frame(["settles"] * 3 + ["drifts"] * 3), ("model",), Bootstrap())
    assert settling_sentence(tied, ["model"]) == "model drifts in 50% of its chains."


def test_noise_around_the_source_never_returns_whatever_its_replicates_say(
    chain: MakeChain, given: MakeInput, path_values: Callable[..., dict[str, list[float]]]
) -> None:
    generator = np.random.default_rng(4)
    source = generator.uniform(0.3, 0.7, 1500)
    chains = []
    for place in range(20):
        for replicate in range(3):
            values = path_values([source, *(source + generator.normal(0, 0.02, (12, 1500)))])
            if replicate:
                values["rmse-replicate"] = [np.sqrt(2) * 0.02] * 12
            chains.append(chain("noisy", f"s{place}", values, replicate=replicate))
    found = analyse(given(chains), FAST)
    assert found.contraction["floor_from"].unique().to_list() == ["replicates"]
    assert found.contraction.filter(pl.col("drift") < pl.col("floor")).height == 60
    assert found.verdicts.select("verdict", "chains").rows() == [("settles", 60)]


def test_a_chain_that_ends_in_pictures_nobody_can_measure_is_unknown(chain: MakeChain, given: MakeInput) -> None:
    chains = [chain("wrecker", f"s{place}", {"rmse": [0.0, 0.0, 0.0, "size"]}) for place in range(3)]
    assert analyse(given(chains), FAST).verdicts.select("verdict", "chains").rows() == [("unknown", 3)]


def test_the_rounds_a_verdict_needs_are_a_setting(
    chain: MakeChain, given: MakeInput, path_values: Callable[..., dict[str, list[float]]]
) -> None:
    tint = path_values([np.full(50, 0.3) + 0.01 * n for n in range(9)])
    asked = {
        rounds: analyse(given([chain(values=tint)]), AnalysisSettings(settling_rounds=rounds)) for rounds in (8, 9)
    }
    assert {rounds: found.verdicts["verdict"].to_list() for rounds, found in asked.items()} == {
        8: ["drifts"],
        9: ["too early"],
    }


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.truth != "settles"])
def test_nothing_is_said_to_settle_that_does_not(name: str) -> None:
    seen = Counter(one.reading.verdict for one in outcomes(25, {name: KINDS[name]}))
    assert seen["settles"] + seen["returns"] <= 2
    assert seen[KINDS[name].truth] >= 0.4 * seen.total()


def failures(chains: int, kinds: dict[str, Kind], lengths: tuple[int, ...]) -> Any:
    """Share of chains with estimates whose limit lies beyond the first and beyond the second."""
    made = [one for one in outcomes(chains, kinds, lengths) if not np.isnan(one.reading.prior_bound)]
    return np.mean([one.exceeded for one in made], axis=0)


def test_the_estimates_fail_as_rarely_as_the_page_says() -> None:
    kinds = {name: kind for name, kind in KINDS.items() if name.startswith("contracts") and "noise" not in name}
    first, second = failures(20, kinds, (10, 20, 40))
    assert first == pytest.approx(EXCEEDED[0][0], abs=0.02)
    assert second == pytest.approx(EXCEEDED[1][0], abs=0.02)


@pytest.mark.parametrize(
    ("estimate", "name", "rounds"), [(0, "contracts, q 0.8, uneven pull", 40), (1, "contracts, q 0.3 to 0.97", 20)]
)
def test_the_kinds_of_chain_that_suit_the_estimates_least_are_told(estimate: int, name: str, rounds: int) -> None:
    failed = failures(80, {name: KINDS[name]}, (rounds,))[estimate]
    assert failed == pytest.approx(EXCEEDED[estimate][1], abs=0.1)
    assert failed > EXCEEDED[estimate][0]


@pytest.fixture(scope="module")
def short_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three simulated editors, five rounds, as in a first trial of the tool."""
    spec = parse_spec(
        {
            "editors": ["sim-perfect", "sim-contracting", "sim-tint"],
            "roundtrip": {"rounds": 5},
            "images": {"suite": "quick", "limit": 2},
            "edits": {"pairs": ["flip-horizontal"]},
            "measure": {"metrics": ["rmse", "ssim"], "align": "strict"},
        }
    )
    prepared = prepare(spec)
    root = tmp_path_factory.mktemp("short") / "run"
    with Run.create(root) as run:
        begin(run, prepared)
        run_chains(run, prepared.editors, prepared.chains)
        measure(run, prepared.metrics, align_mode="strict", workers=1)
    return root


def test_after_five_rounds_a_page_says_that_it_is_too_early_to_tell(short_run: Path) -> None:
    found = report_input(short_run)
    verdicts = dict(found.analysis.verdicts.select("editor", "verdict").rows())
    assert verdicts == {"sim-perfect": "returns", "sim-contracting": "too early", "sim-tint": "too early"}
    page = write_report(found, short_run / "report").read_text(encoding="utf-8")
    (section,) = re.findall(r'<section id="settling">.*?</section>', page, re.DOTALL)
    assert "too early to tell 100 %" in section
    assert "A chain needs 10 " in section
    assert 'class="v-too-early"' in section
    assert "Estimated limit" not in section
