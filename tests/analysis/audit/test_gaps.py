"""Gaps, cells and failures, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest

from convergebench.analysis.bootstrap import Bootstrap, Interval
from convergebench.studies.analysis_settings import AuditSettings
from tests.analysis.audit.worlds import QUICK, Chain, audit, row

FALLS, RISES = [90, 80, 70, 60], [60, 70, 80, 90]


def test_a_gap_is_the_mean_over_runs_of_score_minus_baseline() -> None:
    found = audit(
        Chain("cat", {"brisque": [30, 30, 45, 60]}), Chain("cat", {"brisque": [30, 33, 27, 63]}, replicate=1)
    ).gaps
    early, late = row(found, at=2), row(found, at=3)
    # +15 and −6 raw, lower is better, 150 wide: −10 and +4 of 100
    assert early["gap"] == pytest.approx((-10 + 4) / 2)
    assert early["worst_gap"] == pytest.approx(4)
    assert (early["failed"], early["failed_any"]) == (False, True)
    assert late["gap"] == pytest.approx(-20)
    assert (late["failed"], late["failed_any"], late["n_runs"], late["n_missing"]) == (False, False, 2, 0)
    assert early["base_score"] == pytest.approx(100 - (30 + 33) / 2 / 1.5)
    assert early["score"] == pytest.approx(100 - (45 + 27) / 2 / 1.5)


def test_the_baseline_is_the_first_step_and_not_the_untouched_picture() -> None:
    """The first step may crop: a metric that rises there and falls ever after has noticed."""
    assert row(audit(Chain("cat", {"musiq": [10, 90, 50, 40]})).metrics, metric="musiq")["n_failed"] == 0
    by_source = audit(Chain("cat", {"musiq": [10, 90, 50, 40]}), settings=AuditSettings(gaps=(2, 3), baseline=0))
    assert row(by_source.metrics, metric="musiq")["n_failed"] == 1


def test_a_gap_of_exactly_nothing_fails_and_is_marked() -> None:
    found = audit(Chain("cat", {"brisque": [30, 0.1 + 0.2, 0.1 + 0.2, 90.5]}))
    early = row(found.gaps, at=2)
    assert (early["gap"], early["failed"], early["zero"]) == (0, True, True)
    assert row(found.gaps, at=3)["zero"] is False
    assert row(found.metrics, metric="brisque")["n_zero"] == 1
    assert any("1 gap of 2 is exactly 0" in note for note in found.notes)


def test_a_cell_fails_if_any_gap_fails() -> None:
    found = audit(Chain("cat", {"musiq": [90, 80, 85, 60]}), Chain("dog", {"musiq": FALLS}))
    assert found.cells.sort("source")["failures"].to_list() == [1, 0]
    assert row(found.failures, editor="all")["share"] == 0.5


def test_missing_is_never_a_success() -> None:
    found = audit(
        Chain("cat", {"musiq": [90, 80, 70, None]}),  # one gap is fine, the other unknown
        Chain("dog", {"musiq": [90, 80, 85, None]}),  # already failed
        Chain("owl", {"musiq": FALLS}),
        Chain("yak", {"musiq": [90, None, 70, 60]}),  # no baseline
    )
    total = row(found.failures, editor="all")
    assert (total["n_cells"], total["n_failed"], total["n_missing"], total["n_sources"]) == (4, 1, 2, 2)
    assert total["share"] == 0.5
    assert total["white"] is False
    assert row(found.cells, source="cat") | {"known": 1, "asked": 2, "failures": 0} == row(found.cells, source="cat")
    assert row(found.gaps, source="yak", at=2)["failed"] is None
    assert any("4 gaps of 8 have no value" in note for note in found.notes)


def share(hits: Sequence[int], counts: Sequence[int]) -> Interval:
    """The project's interval of a share, from hits and counts per image."""
    made = [np.array(own, float)[:, None] for own in (hits, counts)]
    return Bootstrap(QUICK.draws, QUICK.seed, QUICK.confidence).share(*made)


def test_the_interval_of_a_share_spans_what_the_missing_cells_may_be() -> None:
    """Short chains are only decided if they fail: of eight, two fail, two are noticed, four are unknown."""
    found = audit(
        *(Chain(name, {"musiq": FALLS}) for name in "ab"),
        *(Chain(name, {"musiq": [90, 80, 85]}, editor="short") for name in "ab"),
        *(Chain(name, {"musiq": [90, 80, 70]}, editor="short") for name in "cdef"),
    )
    total = row(found.failures, editor="all")
    assert (total["n_failed"], total["n_missing"], total["share"], total["n_sources"]) == (2, 4, 0.5, 2)
    cells = [2, 2, 1, 1, 1, 1]
    assert total["low"] == pytest.approx(share([1, 1, 0, 0, 0, 0], cells).low[0])
    assert total["high"] == pytest.approx(share([1, 1, 1, 1, 1, 1], cells).high[0])
    assert any("shares lean towards failure" in note and "musiq (2 to 6 of 8)." in note for note in found.notes)
    assert any("6 of 8 chains end before round 3 (short): what they show is unknown unless" in n for n in found.notes)
    reason = str(row(found.metrics, metric="musiq")["reason"])
    assert reason.startswith("Fails on 2 of 4 pictures, 50%")
    assert "(4 more cannot be told): short (2 of 6, 4 unknown); with " in reason


def test_chains_without_any_gap_say_nothing_and_widen_nothing() -> None:
    long = [Chain(name, {"musiq": RISES if name == "a" else FALLS}) for name in "abcde"]
    tiny = [Chain(name, {"musiq": [90, 80]}, editor="tiny") for name in "fghijklmnopq"]
    found = audit(*long, *tiny)
    total = row(found.failures, editor="all")
    assert (total["n_missing"], total["share"]) == (12, 0.2)
    band = share([1, 0, 0, 0, 0], [1] * 5)
    assert (total["low"], total["high"]) == pytest.approx((band.low[0], band.high[0]))
    assert row(found.metrics, metric="musiq")["verdict"] == "cannot be told"
    assert not any("lean towards failure" in note for note in found.notes)
    ends = [note for note in found.notes if "chains end before" in note]
    assert ends == [
        "12 of 17 chains end before round 2 (tiny): what they show is unknown, and no mean at 2 and 3 has them."
    ]


def test_missing_scores_widen_a_verdict_and_never_decide_it() -> None:
    """Seven of the eight that can be told fail; with 22 of which nobody knows, that is not often for sure."""
    decided = [Chain(f"i{n}", {"musiq": [90, 80, 85 if n else 70, 60]}) for n in range(8)]
    assert row(audit(*decided).metrics, metric="musiq")["verdict"] == "often fooled"
    short = [Chain(f"j{n:02}", {"musiq": [90, 80, 70]}) for n in range(22)]
    found = audit(*decided, *short)
    assert row(found.metrics, metric="musiq")["verdict"] == "cannot be told"
    assert row(found.recommendations, metric="musiq", purpose="follow a chain")["answer"] == "unknown"
    none = audit(Chain("a", {"musiq": FALLS}), Chain("a", {"musiq": [90, 80, 70]}, editor="two"))
    assert row(none.metrics, metric="musiq")["n_editors"] == 1, "the other one is unknown"


def test_a_note_says_what_a_cell_is() -> None:
    def definition(*chains: Chain) -> str:
        return audit(*chains).notes[0]

    cat = Chain("cat", {"musiq": FALLS})
    assert definition(cat).startswith("A picture (cell) is one image under one editor. It counts as noticed only if")
    assert "is one image under one editor and one edit. " in definition(
        cat, Chain("cat", {"musiq": FALLS}, pair="chair")
    )
    assert "is one image under one editor of one run. " in definition(cat, Chain("cat", {"musiq": FALLS}, run="again"))


def test_a_run_without_a_score_is_counted_and_the_others_decide() -> None:
    found = audit(Chain("cat", {"musiq": FALLS}), Chain("cat", {"musiq": [90, 80, None, 60]}, replicate=1))
    early = row(found.gaps, at=2)
    assert (early["n_runs"], early["n_missing"], early["gap"]) == (1, 1, pytest.approx(-10))
    metric = row(found.metrics, metric="musiq")
    # on the mean all is known; run by run, the missing one might be the one that fails
    assert (metric["white"], metric["white_any"]) == (True, False)


def test_infinite_and_not_a_number_are_missing_and_counted() -> None:
    found = audit(Chain("cat", {"musiq": [90, 80, float("inf"), float("nan")]}))
    assert found.gaps["gap"].null_count() == 2
    assert any("2 scores are infinite or not a number" in note for note in found.notes)
    assert row(found.metrics, metric="musiq")["verdict"] == "too few to tell"


def test_shares_have_intervals_with_images_as_units() -> None:
    chains = [
        Chain(name, {"musiq": RISES if name < "c" else FALLS}, editor=editor)
        for name in "abcdef"
        for editor in ("one", "two")
    ]
    found = audit(*chains).failures
    total = row(found, editor="all")
    assert (total["n_cells"], total["n_failed"], total["n_sources"]) == (12, 4, 6)
    band = share([2, 2, 0, 0, 0, 0], [2] * 6)
    assert (total["low"], total["high"]) == pytest.approx((band.low[0], band.high[0]))
    assert found["editor"].to_list() == ["all", "one", "two"]


@pytest.mark.parametrize("images", [1, 4])
def test_fewer_than_five_images_have_no_interval_under_however_many_editors(images: int) -> None:
    chains = [Chain(f"i{n}", {"musiq": RISES}, editor=editor) for n in range(images) for editor in "abcdefgh"]
    total = row(audit(*chains).failures, editor="all")
    assert (total["share"], total["low"], total["high"]) == (1, None, None)


def test_the_same_image_under_two_editors_and_in_two_runs_is_four_cells() -> None:
    chains = [Chain("cat", {"musiq": FALLS}, editor=editor, run=run) for editor in "ab" for run in ("x", "y")]
    found = audit(*chains)
    assert found.cells.height == 4
    assert row(found.metrics, metric="musiq")["n_sources"] == 1
    assert row(found.metrics, metric="musiq")["n_editors"] == 2


def test_a_metric_that_was_never_asked_of_a_run_is_not_missing_there() -> None:
    found = audit(Chain("cat", {"musiq": FALLS, "brisque": FALLS}, run="x"), Chain("cat", {"musiq": FALLS}, run="y"))
    assert row(found.metrics, metric="brisque")["n_cells"] == 1
    assert row(found.metrics, metric="musiq")["n_cells"] == 2
    assert "brisque has no score in y; it is judged on the other runs alone." in found.notes


def test_only_copies_are_held_against_the_baseline() -> None:
    found = audit(
        Chain("cat", {"musiq": FALLS}),
        Chain("dog", {"musiq": RISES}, role="additions", pair="add"),
        Chain("owl", {"musiq": RISES}, role="additions-apart", pair="apart"),
        Chain("yak", {"musiq": RISES}, role="other", pair="draw"),
    )
    assert found.gaps["source"].unique().to_list() == ["cat"]
    assert sorted(found.traces["source"].unique()) == ["cat", "dog", "owl"]


def test_traces_hold_mean_smallest_and_largest_of_the_runs() -> None:
    found = audit(Chain("cat", {"brisque": [30, 60]}), Chain("cat", {"brisque": [30, 90]}, replicate=1))
    late = row(found.traces, at=1)
    assert (late["mean"], late["smallest"], late["largest"]) == pytest.approx((50, 40, 60))
    assert (late["raw"], late["n_runs"]) == (75, 2)


@pytest.mark.parametrize(
    ("length", "asked", "used"),
    [
        (20, (), (5, 10, 20)),
        (12, (), (5, 10)),
        (6, (), (3, 6)),
        (3, (), (2, 3)),
        (2, (), (2,)),
        (6, (20, 40), (3, 6)),
        (1, (), ()),
    ],
)
def test_where_no_gap_is_reached_others_are_chosen_and_a_note_says_so(
    length: int, asked: tuple[int, ...], used: tuple[int, ...]
) -> None:
    found = audit(Chain("cat", {"musiq": [90 - at for at in range(length + 1)]}), settings=AuditSettings(gaps=asked))
    assert found.settings.gaps == used
    assert sorted(found.gaps["at"].unique()) == list(used)
    assert any("were chosen here" in note for note in found.notes) is bool(used)


def test_gaps_that_only_some_chains_reach_are_kept_and_the_short_ones_named() -> None:
    long, short = [90 - at for at in range(11)], [90 - at for at in range(7)]
    found = audit(
        Chain("cat", {"musiq": long}),
        Chain("dog", {"musiq": short}, editor="two"),
        settings=AuditSettings(gaps=(5, 10)),
    )
    assert found.settings.gaps == (5, 10)
    assert row(found.failures, editor="two")["n_missing"] == 1
    assert any("1 of 2 chains ends before round 10 (two)" in note for note in found.notes)


def test_a_chain_that_never_got_past_the_baseline_is_missing_not_forgotten() -> None:
    found = audit(Chain("cat", {"musiq": FALLS}), Chain("dog", {"musiq": [90]}))
    assert row(found.metrics, metric="musiq")["n_missing"] == 1


def test_settings_come_back_as_they_were_used() -> None:
    found = audit(Chain("cat", {"musiq": FALLS}, damage={"ssim": [1, 0.9, 0.8, 0.7]}), settings=QUICK)
    assert (found.settings.gaps, found.settings.damage) == ((2, 3), "ssim")
    assert found.gaps.schema["failed"] == pl.Boolean
