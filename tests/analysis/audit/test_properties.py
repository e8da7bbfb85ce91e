"""What must hold whatever the scores are."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from convergebench.analysis.audit.audit_data import AuditData, arrange
from convergebench.analysis.audit.gaps import cell_gaps, run_gaps, tallies
from convergebench.analysis.audit.ranks import rank_table
from convergebench.analysis.audit.result import AuditInput
from convergebench.analysis.bootstrap import Bootstrap
from convergebench.studies.analysis_settings import AuditSettings
from tests.analysis.audit.worlds import FACTS, QUICK, Chain, audit, world

SCORE = st.floats(-200, 200, allow_subnormal=False) | st.integers(0, 3).map(float)
MAYBE = st.none() | SCORE
WORLD = st.lists(st.lists(MAYBE, min_size=4, max_size=4), min_size=1, max_size=4)
FEW = settings(max_examples=10, deadline=None)


def chains(scores: list[list[float | None]]) -> list[Chain]:
    """Two runs per image."""
    return [Chain(f"i{n // 2}", {"musiq": own}, replicate=n % 2) for n, own in enumerate(scores)]


def gaps_of(given: AuditInput, asked: AuditSettings = QUICK) -> tuple[AuditData, pl.DataFrame]:
    data = arrange(given, asked)
    return data, cell_gaps(run_gaps(data, asked.gaps), data)


@FEW
@drawn(WORLD)
def test_turning_a_metric_round_and_negating_its_scores_changes_nothing(scores: list[list[float | None]]) -> None:
    plain = world(chains(scores))
    turned = replace(
        plain,
        scores=plain.scores.with_columns(-pl.col("value")),
        facts={**FACTS, "musiq": replace(FACTS["musiq"], better="lower", typical=(-100, 0))},
    )
    assert_frame_equal(gaps_of(plain)[1], gaps_of(turned)[1], check_exact=True)


@FEW
@drawn(WORLD, st.floats(-1e3, 1e3), st.floats(1e-3, 1e4))
def test_no_range_changes_which_cells_fail(scores: list[list[float | None]], low: float, width: float) -> None:
    ours = replace(QUICK, ranges={"musiq": (low, low + width)})
    columns = ["source", "at", "failed", "zero", "failed_any", "n_missing"]
    plain, scaled = (gaps_of(world(chains(scores)), asked)[1].select(columns) for asked in (QUICK, ours))
    assert_frame_equal(plain, scaled)


@FEW
@drawn(WORLD)
def test_counts_are_those_of_plain_loops(scores: list[list[float | None]]) -> None:
    failed, failed_any, missing = 0, 0, 0
    for image in range((len(scores) + 1) // 2):
        means, worst = [], []
        for at in (2, 3):
            both = [(run[1], run[at]) for run in scores[2 * image : 2 * image + 2]]
            own = [late - base for base, late in both if base is not None and late is not None]
            means.append(sum(own) / len(own) if own else None)
            worst += own
        fails = any(mean is not None and mean >= 0 for mean in means)
        failed, failed_any = failed + fails, failed_any + any(one >= 0 for one in worst)
        missing += None in means and not fails
    rows = tallies(gaps_of(world(chains(scores)))[1], Bootstrap(draws=50))
    if any(value is not None for run in scores for value in run):
        total = next(row for row in rows if row["editor"] == "all")
        assert (total["n_failed"], total["n_failed_any"], total["n_missing"]) == (failed, failed_any, missing)
        assert total["white"] is (failed == 0 and missing == 0)
    else:
        assert rows == []


@FEW
@drawn(WORLD)
def test_missing_is_never_a_success(scores: list[list[float | None]]) -> None:
    """Taking a score away turns no failure of a cell with one run into a success, and no column white."""
    alone = [Chain(f"i{n}", {"musiq": own}) for n, own in enumerate(scores)]
    less = [replace(one, scores={"musiq": [*one.scores["musiq"][:3], None]}) for one in alone]
    (before,), (after,) = (
        [row for row in tallies(gaps_of(world(own))[1], Bootstrap(draws=50)) if row["editor"] == "all"] or [{}]
        for own in (alone, less)
    )
    if after:
        assert after["n_failed"] + after["n_missing"] == len(scores)
        assert after["white"] is False
        assert before["n_failed"] + before["n_missing"] + (before["decided"] - before["n_failed"]) == len(scores)


@FEW
@drawn(st.lists(st.lists(st.integers(0, 50), min_size=3, max_size=6, unique=True), min_size=1, max_size=3))
def test_a_strictly_falling_metric_is_white_with_rank_correlation_minus_one(falls: list[list[int]]) -> None:
    given = world([Chain(f"i{n}", {"musiq": [0, *sorted(own, reverse=True)]}) for n, own in enumerate(falls)])
    data, gaps = gaps_of(given)
    assert all(row["white"] and row["white_any"] and row["n_failed"] == 0 for row in tallies(gaps, Bootstrap(draws=50)))
    ranks = rank_table(data).filter(against="step")
    assert all(abs(rho + 1) < 1e-9 for rho in ranks["rho"])


@FEW
@drawn(SCORE, st.integers(1, 3))
def test_a_constant_metric_fails_everywhere_and_is_marked(score: float, images: int) -> None:
    _, gaps = gaps_of(world([Chain(f"i{n}", {"brisque": [score] * 4}) for n in range(images)]))
    assert gaps.select(pl.col("failed", "zero", "failed_any").all()).row(0) == (True, True, True)
    assert gaps["gap"].to_list() == [0] * (2 * images)


def test_the_same_input_gives_the_same_numbers() -> None:
    own = chains([[9 + n % 7, 8, 7 + n % 3, 9 - n % 4] for n in range(18)])
    one, two = audit(*own), audit(*reversed(own))
    assert one.headline == two.headline
    for name in ("metrics", "gaps", "pairs", "confound", "ranks", "filter_risk", "contradictions"):
        assert_frame_equal(getattr(one, name), getattr(two, name))
